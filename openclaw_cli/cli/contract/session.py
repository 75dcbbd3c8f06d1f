"""The ``data`` of the session commands."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from openclaw_cli.cli.contract.common import Count, Failed, Name, Picture, Place, Sha256

Status = Literal["active", "dormant", "archived"]
RunState = Literal[
    "idle",
    "running",
    "continuing",
    "paused",
    "blocked",
    "budget-limited",
    "completed",
    "failed",
]

#: A changed value as it was and as it is; ``from`` is a word of the language.
StatusChange = TypedDict("StatusChange", {"sessionId": Name, "from": Status, "to": Status})
TitleChange = TypedDict("TitleChange", {"sessionId": Name, "from": str | None, "to": str | None})
TagsChange = TypedDict("TagsChange", {"sessionId": Name, "from": list[str], "to": list[str]})


class Session(TypedDict):
    """The metadata of a session; other programs may have added fields of their own."""

    sessionId: Name
    agentId: str | None
    channel: str | None
    chatId: str | None
    userId: str | None
    createdAt: str
    lastActiveAt: str
    messageCount: Count
    totalInputTokens: Count
    totalOutputTokens: Count
    totalCacheReadTokens: Count
    totalCacheWriteTokens: Count
    totalCost: float
    status: Status
    runState: RunState
    model: str | None
    title: str | None
    tags: list[str]
    parentSessionId: str | None
    childSessionIds: list[str]


class Ensured(Session):
    """The session of a channel and chat, and whether it was made just now."""

    created: bool


class Shown(Session):
    """A session with its folder and how many bytes its files have."""

    path: str
    bytes: Count


class Foreign(TypedDict):
    """What other programs keep among the sessions."""

    count: Count
    names: list[str]


class Sessions(TypedDict):
    """The first sessions of a filter, how many it has, and the limit (null: none)."""

    items: list[Session]
    total: Count
    limit: Count | None
    foreign: Foreign


class Message(TypedDict):
    """One message; what else its line holds is kept."""

    idx: Count
    role: Any
    content: NotRequired[Any]
    ts: NotRequired[Any]


class Tail(TypedDict):
    """The last messages, the newest at the end."""

    sessionId: Name
    items: list[Message]


class Appended(TypedDict):
    """Which messages they are now."""

    sessionId: Name
    appended: Count
    firstIdx: Count
    lastIdx: int
    messageCount: Count


class Swept(TypedDict):
    """Which sessions have changed their status, or would."""

    changed: list[StatusChange]
    dryRun: bool
    failed: NotRequired[list[Failed]]


class Archived(TypedDict):
    """Which sessions have been archived."""

    changed: list[StatusChange]
    failed: NotRequired[list[Failed]]


class Renamed(TypedDict):
    """What a session is called."""

    sessionId: Name
    title: str | None
    changed: list[TitleChange]


class Tagged(TypedDict):
    """Which tags a session has."""

    sessionId: Name
    tags: list[str]
    changed: list[TagsChange]


class Deleted(TypedDict):
    """Which sessions went to the trash, or would."""

    deleted: list[Name]
    missing: list[str]
    dryRun: bool
    failed: NotRequired[list[Failed]]


class Restored(TypedDict):
    """Which sessions are back."""

    restored: list[Name]
    failed: NotRequired[list[Failed]]


class Discarded(TypedDict):
    """One session in the trash."""

    sessionId: Name
    deletedAt: str
    channel: str | None
    chatId: str | None
    title: str | None
    messageCount: Count
    path: str


class Trash(TypedDict):
    """The sessions in the trash, the last deleted first."""

    items: list[Discarded]
    total: Count


class Emptied(TypedDict):
    """Which sessions are gone for good, or would be."""

    removed: list[Name]
    dryRun: bool


class Fault(TypedDict):
    """One thing that is wrong with a session."""

    sessionId: Name
    code: Name
    message: str
    path: str
    repairable: bool
    line: NotRequired[Place]


class Checked(TypedDict):
    """What a check has found, what was put right, and where damage was set aside."""

    checked: Count
    messages: Count
    problems: list[Fault]
    repaired: list[Fault]
    kept: list[str]
    foreign: NotRequired[Foreign]
    failed: NotRequired[list[Failed]]


class Pruned(TypedDict):
    """How much of a history is given on: ``estimatedTokens`` is the part of ``tokens`` that is."""

    sessionId: Name
    tokens: Count
    estimated: bool
    estimatedTokens: Count
    messageCount: Count
    dropped: Count
    format: Literal["json", "text", "openai", "anthropic"]


class Explained(TypedDict):
    """What each message takes, and how a strategy that weighs them has scored it."""

    messages: list[dict[str, Any]]
    weights: NotRequired[dict[str, float]]
    leftOut: NotRequired[list[dict[str, Any]]]


class Context(Pruned):
    """The messages that fit a budget, in the form that was asked for."""

    strategy: str
    requested: str
    budget: Count
    messages: NotRequired[list[Any]]
    system: NotRequired[Any]
    text: NotRequired[str]
    explain: NotRequired[Explained]


class Resumed(Pruned):
    """With what a session goes on, and why not from its checkpoint."""

    resumed: Literal["checkpoint", "continuation"]
    reason: Name
    explanation: str
    runState: RunState
    appended: Any
    messages: NotRequired[list[Any]]
    system: NotRequired[Any]
    text: NotRequired[str]


class Checkpointed(TypedDict):
    """The checkpoint as it is stored now."""

    sessionId: Name
    checkpoint: dict[str, Any]


class Branch(TypedDict):
    """A named place in a history, and the digest of all that lies before it."""

    name: Name
    idx: Count
    bytes: Count
    sha256: Sha256
    createdAt: str


class NewBranch(Branch):
    """A branch point that was made just now."""

    sessionId: Name


class CheckedBranch(Branch):
    """A branch point, and whether the history up to it is what it was."""

    matches: bool


class Branches(TypedDict):
    """The branch points of a session."""

    sessionId: Name
    items: list[CheckedBranch]
    total: Count


class Hit(TypedDict):
    """A message that holds what was asked for; ``phrase``: as it was written."""

    sessionId: Name
    idx: Count | None
    ts: str | None
    role: str
    snippet: str
    phrase: bool


class FoundMessages(TypedDict):
    """The newest messages that hold all that a query asks for."""

    query: str
    results: list[Hit]
    sessions: Count


class Sum(TypedDict):
    """Tokens of many turns; ``cost`` is null where no model has a price."""

    turns: Count
    estimatedTurns: Count
    inputTokens: Count
    outputTokens: Count
    cacheReadTokens: Count
    cacheWriteTokens: Count
    cost: float | None
    unpricedTurns: Count


class KeyedSum(Sum):
    """The sum of one session, model, channel or day."""

    key: str | None


class Tokens(TypedDict):
    """The tokens of one session, model, channel or day."""

    key: str | None
    inputTokens: Count
    outputTokens: Count
    cacheReadTokens: Count
    cacheWriteTokens: Count


class Cost(TypedDict):
    """What one session, model, channel or day has cost."""

    key: str | None
    cost: float


class Charts(TypedDict):
    """What ``--plot`` draws: tokens, and costs where they are known."""

    tokens: list[Tokens]
    cost: list[Cost]


class Usage(TypedDict):
    """The ledger summed up, or the turn that was recorded."""

    by: NotRequired[str]
    items: NotRequired[list[KeyedSum]]
    total: NotRequired[Count]
    sum: NotRequired[Sum]
    recorded: NotRequired[dict[str, Any]]
    charts: NotRequired[Charts]
    plot: NotRequired[Picture]


class ExportedSessions(TypedDict):
    """What was written where."""

    path: NotRequired[str]
    sessions: Count
    messages: Count
    bytes: NotRequired[Count]
    sha256: NotRequired[Sha256]
    format: Literal["jsonl", "markdown", "html"]
    failed: list[Failed]


class ImportedSessions(TypedDict):
    """What became of each session: read = added + skipped + overwritten + renamed + refused."""

    read: Count
    added: Count
    skipped: Count
    overwritten: Count
    renamed: Count
    refused: Count
    messages: Count
    failed: list[Failed]
    dryRun: bool
