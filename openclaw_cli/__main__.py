"""Entry point of ``openclaw``, ``openclaw-cli`` and ``python -m openclaw_cli``.

It answers ``--version`` before anything is imported.
"""

import sys

from openclaw_cli import __version__

# A command lives for a tenth of a second and makes hardly any cyclic garbage: looking for it after
# every 700 new objects, Python's default, costs a search 4 % and indexing as much.
_NEW_OBJECTS = 100_000


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
    import atexit
    import gc

    gc.set_threshold(_NEW_OBJECTS)
    # All memory goes back at once when the process ends: nothing need be looked for in it then.
    atexit.register(gc.freeze)
    try:
        from openclaw_cli.cli.app import run
    except KeyboardInterrupt:
        return 130
    return run(sys.argv[1:])


def program() -> None:
    """Run the command line and end the process with its exit status, at once.

    Taking apart one by one what the kernel drops as a whole costs a seventh of a short command.
    All output has been flushed by then; files and locks are closed, or the kernel closes them.
    """
    import os

    os._exit(main())


if __name__ == "__main__":
    program()
