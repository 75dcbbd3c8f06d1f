"""A memory service on a folder of its own, with a clock that stands still."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

from openclaw_cli.clock import Clock
from openclaw_cli.config import Config
from openclaw_cli.environment import Environment
from openclaw_cli.ids import IdSource
from openclaw_cli.memory.requests import AddRequest, IndexRequest, ListRequest, SearchRequest
from openclaw_cli.memory.service import MemoryService
from openclaw_cli.paths import StatePaths
from openclaw_cli.transfer.importer import ImportRequest, import_memories

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Memory:
    """One agent's memory with short names for what tests do all the time."""

    def __init__(self, state: Path, agent: str = "main", moment: datetime = START) -> None:
        self.state = state
        self.agent = agent
        self.moment = moment

    @property
    def service(self) -> MemoryService:
        """A service as a new process would open it."""
        clock = Clock(self.moment)
        paths = StatePaths(self.state)
        config = Config.load(paths.config, {})
        env = Environment(paths, config, clock, IdSource(clock), 5.0, "openclaw test")
        return MemoryService(env, self.agent)

    @property
    def paths(self):
        """The paths of the memory."""
        return StatePaths(self.state).memory(self.agent)

    def later(self, **span: float) -> None:
        """Let time pass."""
        self.moment += timedelta(**span)

    def add(self, text: str, *, embed: bool = False, **options) -> dict:
        """Add a statement and return the data of the result."""
        return self.service.add(AddRequest(text, embed=embed, **options)).data

    def index(self, *, embed: bool = False, **options) -> dict:
        """Run the indexer and return the data of the result."""
        return self.service.index(IndexRequest(embed=embed, **options)).data

    def search(self, query: str, mode: str = "lexical", **options):
        """Return the result of a search."""
        return self.service.search(SearchRequest(query, mode=mode, **options))

    def found(self, query: str, mode: str = "lexical", **options) -> list[str]:
        """Return L0 of the hits of a search, best first."""
        return [hit["l0"] for hit in self.search(query, mode, **options).data["results"]]

    def listed(self, **options) -> list[str]:
        """Return L0 of a listing."""
        return [item["l0"] for item in self.service.list(ListRequest(**options)).data["items"]]

    def imported(self, lines, **options):
        """Import JSON Lines (values or raw texts) and return the result."""
        raw = [
            line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode()
            for line in lines
        ]
        request = ImportRequest(**{"embed": False, **options})
        return import_memories(self.service, request, BytesIO(b"\n".join(raw) + b"\n"))

    def path(self, record_id: str, scope: str = "user") -> Path:
        """Return the file of a record."""
        return self.paths.record(scope, record_id)

    def document(self, record_id: str, scope: str = "user") -> dict:
        """Return the document in the file of a record."""
        return json.loads(self.path(record_id, scope).read_bytes())

    def edit(self, record_id: str, text: str, scope: str = "user") -> None:
        """Change the text of a record as an editor would."""
        document = self.document(record_id, scope)
        document["content"] = {**document["content"], "l0": text, "l2": text}
        self.path(record_id, scope).write_text(json.dumps(document, ensure_ascii=False))


def forms(text: str) -> set[bytes]:
    """Return the bytes by which programs commonly write a text into a file."""
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    escaped = json.dumps(text)[1:-1]
    upper = re.sub(r"u[0-9a-f]{4}", lambda found: "u" + found[0][1:].upper(), escaped)
    return {form.encode() for form in (text, plain, escaped, upper)}
