"""One OpenAI-compatible chat client: asks, asks again where that may help, checks the answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson

from openclaw_cli.clock import Clock
from openclaw_cli.errors import UnavailableError
from openclaw_cli.llm.protocol import Endpoint, Failure, Reply

#: Seconds to wait before each further attempt.
BACK_OFF = (1.0, 2.0, 4.0)
#: Seconds that a server may ask us to wait; one that wants more is given up.
LONGEST_WAIT = 60.0
_SHOWN = 300


class ChatClient:
    """Asks one endpoint; raises `UnavailableError` when it gives no usable answer."""

    def __init__(self, endpoint: Endpoint, clock: Clock) -> None:
        self.endpoint = endpoint
        self.clock = clock

    def complete(
        self, messages: Sequence[dict[str, Any]], *, max_tokens: int, temperature: float
    ) -> str:
        """Return the text that the model answers, without white space around it.

        After 429, 5xx, a timeout or a cut connection it is asked again, after 1, 2 and 4 seconds
        or what ``Retry-After`` says.
        """
        body = orjson.dumps(
            {
                "model": self.endpoint.model,
                "messages": list(messages),
                "max_tokens": max_tokens,
                "temperature": temperature,
                "stream": False,
            }
        )
        for attempt, pause in enumerate((*BACK_OFF, None), 1):
            outcome = self._ask(body)
            if isinstance(outcome, str):
                return outcome
            if pause is None or not outcome.again or outcome.wait > LONGEST_WAIT:
                raise self._error(outcome, attempt)
            self.clock.sleep(max(pause, outcome.wait))
        raise AssertionError("the last attempt returns or raises")

    def _ask(self, body: bytes) -> str | Failure:
        from openclaw_cli.llm.transport import post

        reply = post(self.endpoint, body, self.clock)
        if isinstance(reply, Failure):
            return reply
        if not 200 <= reply.status < 300:
            return _refused(reply, self.clock.now())
        return _answer(reply.body)

    def _error(self, failure: Failure, attempts: int) -> UnavailableError:
        endpoint = self.endpoint
        tried = "" if attempts == 1 else f" (tried {attempts} times)"
        message = f"{endpoint.shown} (model {endpoint.model}): {failure.message}{tried}"
        details: dict[str, object] = {
            "reason": failure.reason,
            "endpoint": endpoint.shown,
            "model": endpoint.model,
            "attempts": attempts,
        }
        if failure.status is not None:
            details["status"] = failure.status
        return UnavailableError(self._safe(message), hint=failure.hint, details=details)

    def _safe(self, text: str) -> str:
        """Return a text in which a server's words do not repeat the key."""
        key = self.endpoint.api_key
        return text.replace(key, "***") if key else text


def _refused(reply: Reply, now: datetime) -> Failure:
    """Return what a status other than 2xx means."""
    said = _complaint(reply.body)
    message = f"HTTP {reply.status} {reply.reason}".rstrip() + (f": {said}" if said else "")
    if 300 <= reply.status < 400:
        target = f" to {reply.location[:_SHOWN]}" if reply.location else ""
        return Failure(
            "redirected",
            f"HTTP {reply.status}: it redirects{target}, which is not followed",
            "set baseUrl to where the API itself answers",
            status=reply.status,
        )
    if reply.status in (401, 403):
        hint = "check that the variable which apiKeyEnv names holds a valid key"
        return Failure("refused", message, hint, status=reply.status)
    if reply.status == 404:
        hint = "check baseUrl (it often ends in /v1) and the name of the model"
        return Failure("not-found", message, hint, status=reply.status)
    if reply.status == 429 or reply.status >= 500:
        wait = _seconds(reply.retry_after, now)
        reason = "rate-limited" if reply.status == 429 else "server-error"
        if wait > LONGEST_WAIT:
            message += f"; it asks to wait {wait:.0f} seconds"
        return Failure(reason, message, "try again later", True, reply.status, wait)
    return Failure(
        "refused", message, "check baseUrl and the name of the model", False, reply.status
    )


def _complaint(body: bytes) -> str:
    """Return what a server says about an error, on one line; "" for anything but JSON."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    error = document.get("error", document) if isinstance(document, dict) else document
    said = error.get("message") if isinstance(error, dict) else error
    return " ".join(said.split())[:_SHOWN] if isinstance(said, str) else ""


def _seconds(text: str | None, now: datetime) -> float:
    """Return the seconds that ``Retry-After`` asks for: a number, or a date."""
    if not text:
        return 0.0
    if text.strip().isdecimal():
        return float(text.strip()[:9])
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text)
        return max(0.0, (moment - now).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return 0.0  # a date that is none, or has no zone


def _answer(body: bytes) -> str | Failure:
    """Return the text of a chat completion."""
    hint = "check that baseUrl is that of an OpenAI-compatible chat API (it often ends in /v1)"
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        kind = "a web page" if body.lstrip()[:1] == b"<" else "something else"
        said = f"it answers with {kind} where JSON is due"
        return Failure("not-json", said if body.strip() else "it answers with nothing", hint)
    text = _content(document)
    if text is None:
        complaint = _complaint(body) if isinstance(document, dict) else ""
        said = f": {complaint}" if complaint else ""
        return Failure("wrong-shape", f"its JSON is no chat completion{said}", hint)
    if not text.strip():
        return Failure("empty", "the model answers with nothing", "try again, or another model")
    return text.strip()


def _content(document: object) -> str | None:
    """Return the content of the first choice, whose parts may be listed; None for another shape."""
    choices = document.get("choices") if isinstance(document, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict) or "content" not in message:
        return None
    content = message["content"]
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join(part for part in parts if isinstance(part, str))
