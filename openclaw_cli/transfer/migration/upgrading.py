"""One older record becomes one of this format, and what a migration has to tell about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from openclaw_cli.errors import FormatTooNewError, UsageError
from openclaw_cli.memory.analysis import Analysis, analyse_record
from openclaw_cli.memory.documents import finished
from openclaw_cli.memory.levels import indexed_text, summary_of
from openclaw_cli.result import Result, Warning
from openclaw_cli.store.migrations import s0001_records
from openclaw_cli.store.records import VERSION, record_of

if TYPE_CHECKING:
    from openclaw_cli.embed.catalog import Catalog

#: What using a memory changes, as against what it says.
_RECALLS = ("fsrs", "embeddingPending", "reflectedAt")


def check_versions(source: str | None, target: str | None) -> None:
    """Raise unless ``--from`` names an older format and ``--to`` this one, where they are given."""
    wanted = s0001_records.major_of(target or VERSION)
    if wanted is not None and wanted > s0001_records.MAJOR:
        raise FormatTooNewError(
            f"--to {target}: this program knows {VERSION}", hint="update openclaw-cli"
        )
    if target not in (None, "2", "2.x", VERSION):
        raise UsageError(f"--to {target!r} is unknown", hint=f"migrate goes to {VERSION}")
    if source is not None and s0001_records.major_of(source) != s0001_records.MAJOR - 1:
        raise UsageError(f"--from {source!r} is unknown", hint="older versions are 1.x")


class Upgrader(NamedTuple):
    """Makes complete records of this format; ``agent`` is whose they become."""

    catalog: Catalog
    agent: str

    def upgraded(
        self, document: dict[str, Any], scope: str | None
    ) -> tuple[dict[str, Any], Analysis]:
        """Return a record document in this format and the analysis of its text.

        The text that is indexed, its hash and its language stay what they were. Raises
        ``ValueError`` for what is no record.
        """
        if s0001_records.applies(document):
            document = s0001_records.upgrade(document, scope, self.agent)
            document["content"] = _levelled(document["content"])
        # In a file a record may be without an id: the import gives it one.
        named = document if document.get("id") is not None else {**document, "id": "unnamed"}
        record = record_of(named, scope)
        analysis = analyse_record(record, self.catalog)
        return finished(document, analysis, None), analysis


def _levelled(content: dict[str, Any]) -> dict[str, Any]:
    """Return the levels with a summary in L0 where the whole text stood there."""
    text = content["l0"]
    if not isinstance(text, str) or text != content["l2"]:
        return content
    summary = summary_of(text)
    return {**content, "l0": summary} if indexed_text(summary, text) == text else content


def same_but_recalls(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two documents of a record say the same, however often it was recalled."""
    names = (one.keys() | other.keys()) - set(_RECALLS)
    return all(one.get(name) == other.get(name) for name in names)


@dataclass(slots=True)
class Outcome:
    """Counts of a migration: what changed, what did not have to, what failed and why."""

    changed: int = 0
    unchanged: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, str]] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)

    def fail(self, record_id: str, reason: str, path: Path) -> None:
        """List a record that stays as it is."""
        self.failed.append({"id": record_id, "path": str(path), "reason": reason})

    def note(self, path: Path, change: str) -> None:
        """List a change of a file or a folder."""
        self.changes.append({"path": str(path), "change": change})

    def tell(self, name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
        """List the change of a record."""
        self.changes.append({"id": name, "change": described(before, after)})

    def result(self, backup: str | None, *, dry_run: bool) -> Result:
        """Return what the command answers; only a dry run lists each change."""
        data = {
            "changed": self.changed,
            "unchanged": self.unchanged,
            "failed": self.failed,
            "backup": backup,
            "dryRun": dry_run,
        }
        if dry_run:
            data["changes"] = self.changes
        return Result("memory.migrate", data, tuple(dict.fromkeys(self.warnings)))


def described(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return in words what differs between two documents of a record."""
    words = []
    if before.get("version") != after.get("version"):
        words.append(f"version {before.get('version') or 'none'} becomes {after.get('version')}")
    if isinstance(before.get("content"), str):
        words.append("content becomes levels")
    added = [name for name in after if after[name] is not None and before.get(name) is None]
    rest = [name for name in added if name != "version"]
    if rest:
        words.append("adds " + ", ".join(rest))
    return "; ".join(words) or "moves to records/"
