"""The one error boundary: runs a command line and turns how it ends into output and a status."""

from __future__ import annotations

from openclaw_cli.cli.context import Invocation
from openclaw_cli.cli.render import OutputClosed, OutputError, Raw, Stream, prepare_streams
from openclaw_cli.cli.signals import Ended, end_in_order
from openclaw_cli.errors import EXIT_DONE, EXIT_INTERRUPTED, OpenclawError, StorageError


class Interrupted(OpenclawError):
    """The operator pressed Ctrl-C, or the system told the program to end."""

    code = "interrupted"
    exit_status = EXIT_INTERRUPTED


class UnexpectedError(OpenclawError):
    """A fault of the program; the traceback is in the log file that ``path`` names."""

    code = "internal"


def run(argv: list[str]) -> int:
    """Run the command line ``argv`` (without the program's name) and return the exit status."""
    prepare_streams()
    end_in_order()
    invocation = Invocation(argv)
    try:
        return _bounded(invocation, argv)
    except OutputClosed:
        return EXIT_DONE
    except OutputError as error:
        # Standard output is gone, so even with --json the failure goes to standard error.
        return _fail(error, Invocation([]))


def _interrupted(ending: KeyboardInterrupt, invocation: Invocation) -> int:
    if isinstance(ending, Ended):
        _fail(Interrupted(f"interrupted by {ending}"), invocation)
        return 128 + ending.number
    return _fail(Interrupted("interrupted"), invocation)


def _bounded(invocation: Invocation, argv: list[str]) -> int:
    try:
        return _execute(invocation, argv)
    except (OutputClosed, OutputError):
        raise
    except OpenclawError as error:
        return _fail(error, invocation)
    except KeyboardInterrupt as ending:
        return _interrupted(ending, invocation)
    except OSError as error:
        return _fail(_storage_error(error), invocation)
    except Exception as error:
        return _crash(error, invocation)


def _execute(invocation: Invocation, argv: list[str]) -> int:
    import click

    from openclaw_cli.cli.commandline import root, usage_error

    try:
        with root().make_context("openclaw", list(argv), obj=invocation) as ctx:
            outcome = ctx.command.invoke(ctx)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.UsageError as error:
        raise usage_error(error) from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    if isinstance(outcome, Stream):
        return invocation.output.stream(outcome)
    if isinstance(outcome, Raw):
        return _raw(outcome, invocation)
    return invocation.output.result(outcome, invocation.lines)


def _raw(outcome: Raw, invocation: Invocation) -> int:
    """Print a document; a failure on the way must not stand in it, not even with ``--json``."""
    try:
        return invocation.output.raw(outcome)
    except OpenclawError as error:
        return _fail(error, Invocation([]))
    except KeyboardInterrupt as ending:
        return _interrupted(ending, Invocation([]))


def _fail(error: OpenclawError, invocation: Invocation) -> int:
    invocation.output.error(error, invocation.schema)
    return error.exit_status


def _storage_error(error: OSError) -> StorageError:
    name = error.filename if isinstance(error.filename, str) else None
    reason = error.strerror or str(error)
    return StorageError(
        f"{name}: {reason}" if name else reason,
        path=name,
        hint="check that the file exists, its permissions, and the free space",
    )


def _crash(error: Exception, invocation: Invocation) -> int:
    from openclaw_cli.cli.crash import keep_traceback

    text, path = keep_traceback(error, invocation)
    if invocation.output.verbose:
        invocation.output.traceback(text)
    where = f"; the traceback is in {path}" if path else ""
    return _fail(
        UnexpectedError(
            f"unexpected failure: {type(error).__name__}{where}",
            path=path,
            hint="this is a fault of the program: please report it, with that file",
        ),
        invocation,
    )
