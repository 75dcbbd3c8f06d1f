"""Entry point of ``openclaw``, ``openclaw-cli`` and ``python -m openclaw_cli``.

It answers ``--version``, and the shells' questions at the tab key, before anything is imported.
"""

import sys

from openclaw_cli import __version__


def main() -> int:
    """Run the command line and return the exit status."""
    if sys.argv[1:] in (["--version"], ["-V"]) and sys.stdout is not None:
        try:
            sys.stdout.write(f"openclaw {__version__}\n")
            sys.stdout.flush()
            return 0
        except OSError as error:
            failure = error
        from openclaw_cli.cli.render import output_failed

        return output_failed(failure)
    if sys.argv[1:2] == ["__complete"] and len(sys.argv) > 3:
        return _complete(*sys.argv[2:])
    if sys.warnoptions:
        _spare_what_others_deprecate()
    try:
        from openclaw_cli.cli import signals
    except KeyboardInterrupt:
        return 130
    signals.hold()  # until the command begins
    from openclaw_cli.cli.app import run

    return run(sys.argv[1:])


def _spare_what_others_deprecate() -> None:
    """Leave out what nobody who asks Python for warnings, or for errors instead, can mend here.

    typer imports these two from click for its own users only.
    """
    import warnings

    message = "'click.utils.get_(binary|text)_stream' is deprecated"
    warnings.filterwarnings("ignore", message, DeprecationWarning)


def _complete(kind: str, prefix: str, *words: str) -> int:
    """Print a line for each candidate: its value, a tab, what it is. Silent where that fails."""
    import os

    from openclaw_cli.cli.complete import candidates

    found = candidates(kind, prefix, list(words), dict(os.environ))
    try:
        text = "".join(f"{value}\t{about}\n" for value, about in found)
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.flush()
    except (OSError, AttributeError):
        return 1
    return 0


def program() -> None:
    """Run the command line and end the process with its exit status, at once.

    Taking apart one by one what the kernel drops as a whole costs a seventh of a short command;
    all output has been flushed by then, and files and locks are closed, or the kernel closes them.
    The collector stays off: no work on records leaves cyclic garbage behind, however many there
    are, and looking for it costs up to a fifth.
    """
    import gc
    import os

    gc.disable()
    os._exit(main())


if __name__ == "__main__":
    program()
