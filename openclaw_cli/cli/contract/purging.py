"""The document of ``memory purge``."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from openclaw_cli.cli.contract.common import Count, Name
from openclaw_cli.cli.contract.memory import Damage


class Forgotten(TypedDict):
    """What one agent has forgotten, or would forget; a dry run lists the ids.

    Of sessions of others ``cleanedSessions`` are those that lose the user's messages, and
    ``groupSessions`` those that keep them.
    """

    agent: Name
    records: Count
    insights: Count
    trimmed: Count
    sessions: Count
    ledgerLines: Count
    groupMessages: Count
    cleanedSessions: list[Name]
    groupMessagesLeft: Count
    groupSessions: list[Name]
    backups: Count
    bytes: Count
    ids: NotRequired[list[Name]]


class Traces(TypedDict):
    """A file that still holds ids or texts."""

    path: str
    matches: Count
    userId: NotRequired[str]


class Verified(TypedDict):
    """The proof that nothing is left."""

    filesScanned: Count
    bytesScanned: Count
    idsSought: Count
    textsSought: Count
    textsTooShort: Count
    matches: Count
    where: list[Traces]
    unread: list[Damage]


class Purged(TypedDict):
    """What was forgotten of a user, where there is more, and the proof."""

    user: Name
    agents: list[Forgotten]
    elsewhere: list[Name]
    dryRun: bool
    verified: NotRequired[Verified]
