"""A purge in words: what goes or has gone of a user, what stays, and the proof."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from openclaw_cli.cli.view import View, counted, size

COPIES = "exports made before still hold it, and an import of one brings it back: remove them, too"


def counts_of(part: dict[str, Any]) -> list[str]:
    """Return what an agent forgets, in words; empty when there is nothing."""
    cleaned = len(part["cleanedSessions"])
    said = (
        (part["records"], "memory", "memories"),
        (part["insights"], "insight", "insights"),
        (part["trimmed"], "other memory cleaned", "other memories cleaned"),
        (part["sessions"], "session", "sessions"),
        (part["ledgerLines"], "ledger line", "ledger lines"),
        (part["backups"], "backup or leftover", "backups and leftovers"),
    )
    counts = [counted(number, one, many) for number, one, many in said if number]
    return counts + ([in_groups(part["groupMessages"], cleaned)] if cleaned else [])


def told(data: dict[str, Any], view: View) -> Iterator[str]:
    """Yield the lines about a purge, or about what one would do."""
    verb = "would forget" if data["dryRun"] else "forgot"
    for part in data["agents"]:
        counts = counts_of(part)
        line = f"{part['agent']}: {verb} {', '.join(counts)} ({size(part['bytes'])})"
        if not counts:
            line = f"{part['agent']}: nothing to forget of user {data['user']}"
        if part["groupSessions"]:
            line += f"; {in_groups(part['groupMessagesLeft'], len(part['groupSessions']))} stay"
        yield view.cut(line)
        if view.verbose:
            yield from (f"  {name}" for name in part.get("ids", ()))
            yield from (f"  messages in {name}" for name in part["cleanedSessions"])
            yield from (f"  left: messages in {name}" for name in part["groupSessions"])
    verified = data.get("verified")
    if verified:
        files, ids = counted(verified["filesScanned"], "file"), counted(verified["idsSought"], "id")
        texts = counted(verified["textsSought"], "text")
        read = size(verified["bytesScanned"])
        yield f"verified: {files}, {read} read for {ids} and {texts}, no trace found"
        if verified["textsTooShort"]:
            few = counted(verified["textsTooShort"], "shorter text")
            yield f"not looked for: {few} (under 8 characters, 4 of Han, kana or Hangul)"
    if not data["dryRun"] and any(map(counts_of, data["agents"])):
        yield from view.block(COPIES)


def in_groups(messages: int, sessions: int) -> str:
    """Say how many messages stand in how many sessions of others."""
    return f"{counted(messages, 'message')} in {counted(sessions, 'session')} of others"
