"""The one module that prints: results, warnings and errors, for people or as JSON documents."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NamedTuple

from openclaw_cli.cli.view import View, clean, clean_line, spelt
from openclaw_cli.errors import EXIT_FAILED, OpenclawError
from openclaw_cli.result import Result, Warning, told_once

#: Turns the data of a result into lines for people.
Lines = Callable[[dict[str, Any], View], Iterable[str]]

_SHOWN_FAILURES = 20
#: The descriptor of standard error, after those of standard input and output.
_LAST_STREAM = 2
_ALREADY_DONE = "what the command did is done; give its output another place"
#: What is held of a stream before it is printed, whatever the number of its items.
_BLOCK_BYTES = 1 << 20


class OutputClosed(Exception):
    """The reader of standard output has gone away, which is no failure (``| head``)."""


class OutputError(OpenclawError):
    """Standard output cannot take what the command wants to say."""

    code = "output"


class Stream(NamedTuple):
    """A result that is printed while it is made: one JSON object a line (``--jsonl``).

    ``warnings`` fills while the items are made and is told after the last one. With ``lines``
    each item is shown to people instead; a ``live`` one is printed at once, not in blocks.
    """

    items: Iterator[dict[str, Any]]
    warnings: list[Warning]
    lines: Lines | None = None
    live: bool = False


class Raw(NamedTuple):
    """A document that is printed as it is while it is made; with ``--json`` too it is the output.

    ``result`` is asked after the last piece for warnings and for what has failed.
    """

    pieces: Iterator[bytes]
    result: Callable[[], Result]


def prepare_streams() -> None:
    """Make the standard streams speak UTF-8 in any locale, and fill the place of closed ones.

    Else the next file that is opened, be it the log of a store, would be standard output or error
    to libraries and child processes.
    """
    while (fd := os.open(os.devnull, os.O_RDWR)) <= _LAST_STREAM:
        os.set_inheritable(fd, True)
    os.close(fd)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def output_failed(error: OSError) -> int:
    """Report that standard output failed and return the exit status."""
    if isinstance(error, BrokenPipeError):
        _abandon_stdout()
        return 0
    Output().error(_output_error(error), "openclaw.error/1")
    _abandon_stdout()
    return EXIT_FAILED


def _output_error(error: OSError) -> OutputError:
    return OutputError(
        f"cannot write to standard output: {error.strerror or error}",
        hint=_ALREADY_DONE,
    )


def _abandon_stdout() -> None:
    """Send what the interpreter still flushes at exit nowhere."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _to_stdout(data: bytes) -> None:
    if sys.stdout is None:
        raise OutputError("standard output is closed", hint=_ALREADY_DONE)
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        _abandon_stdout()
        raise OutputClosed from error
    except OSError as error:
        _abandon_stdout()
        raise _output_error(error) from error


def _to_stderr(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        # There is no other place to complain; the exit status still tells.
        return


def dump(document: object, *, indent: bool = False) -> bytes:
    """Return JSON bytes, whatever characters came in from the command line."""
    import orjson

    option = orjson.OPT_INDENT_2 if indent else 0
    try:
        return orjson.dumps(document, option=option)
    except TypeError:
        # The other writer is slow, and knows whole numbers of any length.
        import json

        return json.dumps(
            _encodable(document),
            ensure_ascii=False,
            indent=2 if indent else None,
            separators=(",", ": " if indent else ":"),
        ).encode()


def _encoded(item: dict[str, Any], lines: Lines | None, view: View) -> bytes:
    if lines is None:
        return dump(item)
    return "\n".join(lines(item, view)).encode("utf-8", "backslashreplace")


def _unicode(text: str) -> str:
    """Return a text that UTF-8 can hold; a byte of a name that is none stands as ``\\xff``."""
    try:
        return os.fsencode(text).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a surrogate that stands for no byte, or another locale
        return "".join(spelt(c) if "\ud800" <= c <= "\udfff" else c for c in text)


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return _unicode(value)
    if isinstance(value, dict):
        return {str(_encodable(key)): _encodable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _color_wanted(no_color: bool) -> bool:
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(sys.stdout)


def is_terminal(stream: Any) -> bool:
    """Tell whether a standard stream, which may be closed, is a terminal."""
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:
        return False


def _terminal_size() -> os.terminal_size | None:
    """Return the size of the terminal that standard output is, None when it is none."""
    if not is_terminal(sys.stdout):
        return None
    columns, lines = 0, 0
    with suppress(OSError):
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
    columns, lines = _wished("COLUMNS") or columns, _wished("LINES") or lines
    return os.terminal_size((columns or 80, lines or 24))


def _wished(name: str) -> int:
    """Return the size that the operator wants instead of the terminal's own, 0 for none."""
    wish = os.environ.get(name, "")
    return int(wish) if wish.isascii() and wish.isdigit() and len(wish) < 6 else 0


class Output(NamedTuple):
    """Where and how a command speaks: as JSON or to people, much or little."""

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    now: Callable[[], datetime] | None = None
    pager: str = ""

    @property
    def view(self) -> View:
        """What the human output may know of the terminal."""
        color = _color_wanted(self.no_color)
        size = _terminal_size()
        width = None if size is None else size.columns
        return View(width, color, self.quiet, self.verbose, self.now)

    def result(self, result: Result, lines: Lines) -> int:
        """Print a result and its warnings; return the exit status."""
        if self.json:
            self._document(result.document())
            return result.exit_status
        text = "\n".join(lines(result.data, self.view))
        if text:
            with self._place() as place:
                place(text.encode("utf-8", "backslashreplace") + b"\n")
        self.warnings(result.warnings)
        self._failures(result.data.get("failed") or [])
        return result.exit_status

    def stream(self, stream: Stream) -> int:
        """Print items as they come, in blocks so that a long list is fast."""
        block: list[bytes] = []
        view, held = self.view, 0
        with self._place(paged=not stream.live and stream.lines is not None) as place:
            for item in stream.items:
                block.append(_encoded(item, stream.lines, view))
                held += len(block[-1])
                if stream.live or len(block) == 256 or held > _BLOCK_BYTES:
                    place(b"\n".join(block) + b"\n")
                    block.clear()
                    held = 0
            if block:
                place(b"\n".join(block) + b"\n")
        self.warnings(stream.warnings)
        return 0

    @contextmanager
    def _place(self, *, paged: bool = True) -> Iterator[Callable[[bytes], None]]:
        """Yield what takes the output: the pager on a terminal, where the command has one."""
        size = _terminal_size() if paged and self.pager and not self.quiet else None
        if size is None or os.environ.get("TERM") == "dumb":
            yield _to_stdout
            return
        from openclaw_cli.cli.pager import Pager

        try:
            with Pager(self.pager, size.lines, _to_stdout) as pager:
                yield pager.write
        except BrokenPipeError as error:
            raise OutputClosed from error

    def raw(self, raw: Raw) -> int:
        """Print a document piece by piece; once it has begun, errors go to standard error."""
        block: list[bytes] = []
        size = 0
        for piece in raw.pieces:
            block.append(piece)
            size += len(piece)
            if size >= _BLOCK_BYTES:
                _to_stdout(b"".join(block))
                block.clear()
                size = 0
        _to_stdout(b"".join(block))
        result = raw.result()
        self.warnings(result.warnings)
        self._failures(result.data.get("failed") or [])
        return result.exit_status

    def text(self, text: str) -> None:
        """Print finished lines for people on standard output."""
        _to_stdout(text.encode("utf-8", "backslashreplace") + b"\n")

    def note(self, text: str) -> None:
        """Print one line of progress or advice on standard error, unless quiet."""
        if not self.quiet:
            _to_stderr(f"openclaw: {clean_line(text)}")

    @property
    def can_ask(self) -> bool:
        """Tell whether there is somebody to ask: all streams are a terminal, no JSON is wanted."""
        streams = (sys.stdin, sys.stdout, sys.stderr)
        return not self.json and all(is_terminal(stream) for stream in streams)

    def ask(self, question: str, lines: Iterable[str] = ()) -> str:
        """Ask the operator on the terminal, after ``lines`` that tell what it is about."""
        for line in lines:
            _to_stderr(line)
        sys.stderr.write(clean_line(question) + " ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer.endswith("\n"):  # ^D leaves the cursor behind the question
            _to_stderr("")
        return answer

    def warnings(self, warnings: Iterable[Warning]) -> None:
        """Print warnings on standard error, unless quiet; each once, whoever else has met it."""
        for warning in told_once(warnings):
            place = warning.path
            where = f" ({place})" if place and place not in warning.message else ""
            self.note(f"warning: {warning.message}{where}")

    def error(self, error: OpenclawError, schema: str) -> None:
        """Print a failure: one document with ``--json``, else lines on standard error."""
        if self.json:
            self._document(_failure(error, schema))
            return
        _to_stderr(f"openclaw: error: {clean_line(error.message)}")
        for line in _further(error):
            _to_stderr(f"  {clean_line(line)}")
        usage = error.details.get("usage")
        if usage:
            _to_stderr(f"usage: {usage}")
        if error.hint:
            _to_stderr(f"hint: {clean_line(error.hint)}")

    def traceback(self, text: str) -> None:
        """Print a traceback on standard error (``--verbose``)."""
        _to_stderr(clean(text))

    def _document(self, document: dict[str, Any]) -> None:
        _to_stdout(dump(document, indent=is_terminal(sys.stdout)) + b"\n")

    def _failures(self, failed: list[dict[str, Any]]) -> None:
        limit = len(failed) if self.verbose else _SHOWN_FAILURES
        for item in failed[:limit]:
            line = item.get("line")
            name = f"line {line}" if line else str(item.get("id") or item.get("path") or "item")
            _to_stderr(f"openclaw: failed: {clean_line(name)}: {clean_line(str(item['reason']))}")
        if len(failed) > limit:
            _to_stderr(f"openclaw: failed: {len(failed) - limit} more (--verbose lists them)")


def _further(error: OpenclawError) -> list[str]:
    """Return the other problems of an error that found several (the message names the first)."""
    problems = error.details.get("problems")
    if not isinstance(problems, list):
        return []
    return [
        (f"line {found['line']}: " if found["line"] else "") + f"{found['key']} {found['message']}"
        for found in problems[1:]
    ]


def _failure(error: OpenclawError, schema: str) -> dict[str, Any]:
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.hint:
        body["hint"] = error.hint
    if error.path:
        body["path"] = error.path
    return {"schema": schema, "ok": False, "error": {**body, **error.details}}
