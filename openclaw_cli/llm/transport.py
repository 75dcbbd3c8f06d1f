"""One POST over HTTP within a deadline, whatever the server does; imported when a call is made."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import urllib.error
import urllib.request
from typing import Any

from openclaw_cli import __version__
from openclaw_cli.clock import Clock
from openclaw_cli.llm.protocol import Endpoint, Failure, Reply

#: Bytes of an answer that are taken in; a summary has a thousandth of that.
BODY_LIMIT = 4 << 20
_PIECE = 1 << 16


class _Deadline(io.RawIOBase):
    """A socket's bytes, each read of which has only the time that is left for all of them.

    A server that sends a byte now and then would outlive a time limit of single reads.
    """

    def __init__(self, sock: socket.socket, clock: Clock, end: float) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._clock = clock
        self._end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - self._clock.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Source:
    """What a response reads from in place of its socket."""

    def __init__(self, raw: _Deadline) -> None:
        self._raw = raw

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self._raw)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Following a redirect would hand the key to another server."""

    def redirect_request(self, *_args: Any) -> None:
        return None


def _handlers(clock: Clock, end: float) -> list[urllib.request.BaseHandler]:
    class Response(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *args: Any, **more: Any) -> None:
            source: Any = _Source(_Deadline(sock, clock, end))
            super().__init__(source, *args, **more)

    class Plain(http.client.HTTPConnection):
        response_class = Response

    class Secure(http.client.HTTPSConnection):
        response_class = Response

    class PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, request)

    class SecureHandler(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Secure, request, context=ssl.create_default_context())

    return [PlainHandler(), SecureHandler(), _NoRedirect()]


def post(endpoint: Endpoint, body: bytes, clock: Clock) -> Reply | Failure:
    """Send ``body`` to the chat path of an endpoint and return the reply, or why there is none."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": f"openclaw-cli/{__version__}",
    }
    if endpoint.api_key:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    end = clock.monotonic() + endpoint.timeout
    opener = urllib.request.build_opener(*_handlers(clock, end))
    try:
        request = urllib.request.Request(
            endpoint.base_url.rstrip("/") + "/chat/completions", body, headers, method="POST"
        )
        with opener.open(request, timeout=endpoint.timeout) as response:
            return _reply(response.status, response.reason, response)
    except urllib.error.HTTPError as error:
        with error:
            try:
                return _reply(error.code, str(error.reason), error)
            except (OSError, http.client.HTTPException):
                return Reply(error.code, str(error.reason), error.headers.get("Retry-After"), b"")
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _failure(error, endpoint)


def _reply(status: int, reason: str, response: Any) -> Reply | Failure:
    parts, length = [], 0
    while piece := response.read1(_PIECE):
        parts.append(piece)
        length += len(piece)
        if length > BODY_LIMIT:
            return Failure(
                "too-large",
                f"it answers with more than {BODY_LIMIT >> 20} MiB",
                "check baseUrl: no chat API answers like that",
            )
    due = response.headers.get("Content-Length", "")
    if due.isdecimal() and length < int(due):
        raise http.client.IncompleteRead(b"".join(parts), int(due) - length)
    headers = response.headers
    return Reply(
        status, reason, headers.get("Retry-After"), b"".join(parts), headers.get("Location")
    )


def _failure(error: Exception, endpoint: Endpoint) -> Failure:
    """Return what a failure below HTTP means."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        said = f"no answer within {endpoint.timeout:g} seconds"
        return Failure("timeout", said, "raise the timeout, or see why the server is slow", True)
    if isinstance(cause, ConnectionRefusedError):
        return Failure("unreachable", "nothing answers there", "start the server, or check baseUrl")
    if isinstance(cause, socket.gaierror):
        return Failure("unreachable", "the name of the host is not known", "check baseUrl")
    if isinstance(cause, ssl.SSLError):
        said = f"no secure connection: {cause.reason or cause}"
        return Failure("insecure", said, "check baseUrl and the certificate of the server")
    if isinstance(cause, ConnectionError | http.client.HTTPException):
        said = "the connection was cut before the answer was whole"
        return Failure("cut-off", said, "try again; see why the server closes connections", True)
    if isinstance(cause, ValueError):
        return Failure("bad-address", "the address or the key cannot be sent", "check baseUrl")
    words = getattr(cause, "strerror", None) or type(cause).__name__
    return Failure("unreachable", f"cannot be reached: {words}", "check baseUrl and the network")
