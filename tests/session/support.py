"""The sessions of an agent on a folder of its own, with a clock that stands still."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path

from openclaw_cli.clock import Clock
from openclaw_cli.config import Config
from openclaw_cli.environment import Environment
from openclaw_cli.ids import IdSource
from openclaw_cli.paths import StatePaths
from openclaw_cli.session.requests import NewRequest, SessionFilter, SessionListRequest
from openclaw_cli.session.service import SessionService
from tests.support import START


def jsonl(*messages: dict | bytes) -> bytes:
    """Return JSON Lines of messages, and raw lines as they are."""
    return b"".join(
        line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() + b"\n"
        for line in messages
    )


def put(path: Path, data: bytes) -> None:
    """Write a file as the program would, with a mode that no verification minds."""
    path.write_bytes(data)
    path.chmod(0o600)


def said(content: str, role: str = "user", **more) -> dict:
    return {"role": role, "content": content, **more}


class Sessions:
    """One agent's sessions with short names for what tests do all the time."""

    def __init__(self, state: Path, agent: str = "main", moment: datetime = START) -> None:
        self.state = state
        self.agent = agent
        self.moment = moment
        self.lock_timeout = 5.0

    @property
    def service(self) -> SessionService:
        """A service as a new process would open it."""
        clock = Clock(self.moment)
        paths = StatePaths(self.state)
        config = Config.load(paths.config, {})
        env = Environment(paths, config, clock, IdSource(clock), self.lock_timeout, "openclaw test")
        return SessionService(env, self.agent)

    @property
    def paths(self):
        """The paths of the sessions."""
        return StatePaths(self.state).sessions(self.agent)

    def files(self, session_id: str):
        """The paths of one session."""
        return self.paths.session(session_id)

    def later(self, **span: float) -> None:
        """Let time pass."""
        self.moment += timedelta(**span)

    def new(self, session_id: str | None = None, **fields) -> str:
        """Make a session and return its id."""
        return self.service.new(NewRequest(id=session_id, **fields)).data["sessionId"]

    def ensure(self, channel: str, chat: str, **fields) -> dict:
        """Return the data of an ensure."""
        return self.service.ensure(NewRequest(channel=channel, chat=chat, **fields)).data

    def append(self, session_id: str, *messages: dict | bytes | str):
        """Append messages (texts are said by the user) and return the result."""
        lines = [said(line) if isinstance(line, str) else line for line in messages]
        return self.service.append(session_id, BytesIO(jsonl(*lines)))

    def listed(self, status: tuple[str, ...] | None = None, **options) -> list[dict]:
        """Return the items of a listing of all sessions, or of some statuses."""
        filters = SessionFilter(status=status, **options.pop("filters", {}))
        request = SessionListRequest(filters, **{"limit": None, **options})
        return self.service.list(request).data["items"]

    def show(self, session_id: str) -> dict:
        """Return the metadata that are shown."""
        data = self.service.show(session_id).data
        return {name: value for name, value in data.items() if name not in ("path", "bytes")}

    def messages(self, session_id: str, count: int = 1 << 30) -> list[dict]:
        """Return the last messages of a session."""
        return self.tail(session_id, count)[0]

    def tail(self, session_id: str, count: int = 1 << 30):
        """Return the last messages of a session, and the warnings."""
        warnings: list = []
        _files, messages = self.service.tail(session_id, count, warnings)
        return list(messages), warnings

    def contents(self, session_id: str, count: int = 1 << 30) -> list[str]:
        """Return what was said last."""
        return [message["content"] for message in self.messages(session_id, count)]

    def meta(self, session_id: str) -> dict:
        """Return what is in meta.json."""
        return json.loads(self.files(session_id).meta.read_bytes())

    def verify(self, *ids: str, repair: bool = False):
        """Return the result of a verification."""
        return self.service.verify(ids, repair=repair)

    def sound(self, *known: str) -> None:
        """Fail unless sessions are sound but for the codes known, and the catalogue is right."""
        failed = self.verify().data.get("failed", [])
        assert [failure["code"] for failure in failed] == list(known), failed
        assert {row["sessionId"]: row for row in self.listed()} == {
            row["sessionId"]: self.show(row["sessionId"]) for row in self.listed()
        }
