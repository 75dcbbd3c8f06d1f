"""What goes between the client and the transport: an endpoint, a reply, a failure."""

from __future__ import annotations

from typing import NamedTuple


class Endpoint(NamedTuple):
    """A chat endpoint: its base URL up to ``/v1``, the model, seconds until an answer is due."""

    base_url: str
    model: str
    api_key: str | None = None
    timeout: float = 30.0

    def __repr__(self) -> str:
        return f"Endpoint({self.shown!r}, {self.model!r})"

    @property
    def shown(self) -> str:
        """The base URL as it may be told to people: without credentials and query."""
        scheme, separator, rest = self.base_url.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


class Reply(NamedTuple):
    """What a server has answered: status, reason, ``Retry-After`` and body."""

    status: int
    reason: str
    retry_after: str | None
    body: bytes
    location: str | None = None


class Failure(NamedTuple):
    """Why an attempt came to nothing, in words and as a code, and whether another may do better.

    ``wait`` are the seconds that the server asks for, ``hint`` is the next step for people.
    """

    reason: str
    message: str
    hint: str
    again: bool = False
    status: int | None = None
    wait: float = 0.0
