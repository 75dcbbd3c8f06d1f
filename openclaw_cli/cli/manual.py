"""What help and manual pages tell of each command besides its options: files, and JSON data.

A new command has a line here too. Paths are those below the state directory; the notation of
``data`` is that of openclaw-json(7).
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """What a command reads, what it writes, and the members of its JSON ``data``.

    In ``data`` a ``?`` marks a member that may be missing, ``[…]`` a list, ``{…}`` an object,
    ``|`` alternatives.
    """

    reads: str
    writes: str
    data: str


_NOTHING = "nothing"
_DRAWN = "nothing; with --plot FILE that file"
_MEMORY = "records, write-ahead log"
_INDEXED = "records, write-ahead log, index"
_CHANGED = "write-ahead log, records"
_MODELS = "models"
_META = (
    "sessionId, agentId, channel, chatId, userId, createdAt, lastActiveAt, messageCount,"
    " totalInputTokens, totalOutputTokens, totalCacheReadTokens, totalCacheWriteTokens,"
    " totalCost, status, runState, model, summaryCheckpoint, title, tags, overrides, goal,"
    " backgroundRun, parentSessionId, childSessionIds"
)
_RUN = (
    "records, added, updated, removed, embedded, reused, pending, damaged:[{path, reason}],"
    " failed:[{path, reason}], generation, seconds"
)
_PICTURE = "with a FILE: plot:{path, bytes, sha256}"
_STATE = (
    "agent, records, byScope:{scope: n}, byCategory:{category: n}, byLanguage:{language: n},"
    " walEntries, generation, indexedSeq, stale:[reason],"
    " models:[{name, dimensions, vectors, pending}], bytes:{records, index, wal, vectors};"
    " with --plot: charts:{category:[{key, records}], month:[{key, records}],"
    f" retrievability:[{{key, records}}]}}, {_PICTURE}"
)
_MODEL = "name, dimensions, languages, origin, path, bytes, sha256, licence, authors, source"
_AGENTS = "with --all-agents: agents:[the same, and agent], skipped:[agent], failed"

_CONTEXT = (
    "sessionId, tokens, estimated, estimatedTokens, messageCount, dropped, format,"
    " messages:[{idx, role, content, ts}], system?, text?"
)
_SUMS = (
    "turns, estimatedTurns, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cost,"
    " unpricedTurns"
)
MANUAL: dict[str, Entry] = {
    "memory add": Entry(
        f"the text, {_INDEXED}, {_MODELS}",
        f"{_CHANGED}; the index when a checkpoint is due",
        "id, action: added|merged|skipped, duplicateOf?, record, l0Cut",
    ),
    "memory get": Entry(_MEMORY, _NOTHING, "items:[record], failed?:[{id, reason}]"),
    "memory list": Entry(
        _INDEXED,
        _NOTHING,
        "items:[{id, category, scope, userId, l0, language, createdAt, updatedAt, tags,"
        " retrievability}], total, limit",
    ),
    "memory search": Entry(
        f"{_INDEXED}, {_MODELS}",
        f"nothing; with --touch {_CHANGED}",
        "query, mode, languages, spaces:[{model, used, reason}], results:[{rank, id, score, l0,"
        " l1?, l2?, category, scope, userId, language, createdAt, updatedAt,"
        " explain?:{lexical:{rank, score}|null, dense:{model, rank, cosine}|null, fused,"
        " retrievability, final}}], elapsedMs",
    ),
    "memory edit": Entry(f"{_MEMORY}, {_MODELS}", _CHANGED, "id, record"),
    "memory history": Entry(
        _MEMORY,
        _NOTHING,
        "id, record, entries:[{n, content, updatedAt, replacedAt, reason, by, tags, fields}]",
    ),
    "memory undo": Entry(f"{_MEMORY}, {_MODELS}", _CHANGED, "id, record"),
    "memory delete": Entry(
        _INDEXED,
        _CHANGED,
        "deleted:[id], missing:[id], dryRun, items:[{id, category, scope, userId, l0}],"
        " failed:[{id, reason}]",
    ),
    "memory purge": Entry(
        "everything below the agent's memory folder; with --verify the whole state directory",
        f"{_CHANGED}, tombstones, index, backups and files set aside",
        "user, agents:[{agent, records, insights, trimmed, sessions, ledgerLines,"
        " groupMessages, cleanedSessions:[id], groupMessagesLeft, groupSessions:[id], backups,"
        " bytes, ids?}],"
        " elsewhere:[agent], dryRun, verified?:{filesScanned, bytesScanned, idsSought,"
        " textsSought, textsTooShort, matches, where:[{path, matches, userId?}],"
        " unread:[{path, reason}]}",
    ),
    "memory index": Entry(
        f"{_INDEXED}, {_MODELS}",
        "a new generation of the index; cuts the write-ahead log, adds tombstones",
        f"{_RUN}; {_AGENTS}",
    ),
    "memory status": Entry(_INDEXED, _DRAWN, f"{_STATE}; {_AGENTS}"),
    "memory import": Entry(
        f"FILE or standard input, {_INDEXED}, {_MODELS}",
        f"{_CHANGED}; the index when a checkpoint is due",
        "read, added, skipped, overwritten, merged, failed:[{line, id?, reason}], total, dryRun",
    ),
    "memory export": Entry(
        _MEMORY,
        "the file of --output, else standard output",
        "with --output: path, bytes, sha256, records, format, scope, failed:[{path, reason}];"
        " without it the document itself is printed",
    ),
    "memory migrate": Entry(
        "FILE, or records and index of older formats",
        "FILE and FILE.bak, or records, and what they were in records.bak, user.bak, agent.bak,"
        " index.bak",
        "changed, unchanged, failed:[{id?, path?, reason}], backup, dryRun,"
        " changes?:[{id?, path?, change}]",
    ),
    "session new": Entry("metadata of sessions", "meta.json, catalogue", _META),
    "session ensure": Entry(
        "catalogue, metadata of sessions", "meta.json, catalogue", f"{_META}, created: true|false"
    ),
    "session list": Entry(
        "catalogue, metadata of sessions",
        "the catalogue, where it was not up to date",
        f"items:[{{{_META}}}], total, limit, foreign:{{count, names:[name]}}",
    ),
    "session show": Entry("meta.json, the end of the history", _NOTHING, f"{_META}, path, bytes"),
    "session tail": Entry(
        "the end of the history",
        _NOTHING,
        "sessionId, items:[{idx, role, content, ts, tokens?, toolCalls?, toolCallId?, sender?}]",
    ),
    "session append": Entry(
        "standard input, the end of the history",
        "messages.jsonl, meta.json, catalogue",
        "sessionId, appended, firstIdx, lastIdx, messageCount",
    ),
    "session context": Entry(
        "meta.json, the history, context.json",
        "nothing; with summaries context.json",
        f"{_CONTEXT}, strategy, requested, budget, explain?:{{weights, messages, leftOut}}",
    ),
    "session checkpoint": Entry(
        "standard input, checkpoint.json",
        "checkpoint.json, meta.json, catalogue",
        "sessionId, checkpoint:{checkpointId, kind, state, sequence, iteration, historyCount,"
        " correlationId, createdAtUtc, persistedAtUtc, lastResumeAttemptAtUtc, completedAtUtc,"
        " completionReason, toolCalls}",
    ),
    "session resume": Entry(
        "checkpoint.json, the history",
        "messages.jsonl, meta.json, catalogue",
        f"{_CONTEXT}, resumed: checkpoint|continuation, reason, explanation, runState, appended",
    ),
    "session branch": Entry(
        "the history",
        "a point in branches, or a session that begins there; catalogue",
        "version, sessionId, name, idx, bytes, sha256, createdAt",
    ),
    "session branches": Entry(
        "branches, the history",
        _NOTHING,
        "sessionId, items:[{version, sessionId, name, idx, bytes, sha256, createdAt, matches}],"
        " total",
    ),
    "session rename": Entry(
        "meta.json", "meta.json, catalogue", "sessionId, title, changed:[{sessionId, from, to}]"
    ),
    "session tag": Entry(
        "meta.json", "meta.json, catalogue", "sessionId, tags, changed:[{sessionId, from, to}]"
    ),
    "session sweep": Entry(
        "catalogue, metadata of sessions",
        "meta.json, catalogue; packs messages.jsonl into messages.jsonl.gz",
        f"changed:[{{sessionId, from, to}}], dryRun, failed?:[{{id, reason}}]; {_AGENTS}",
    ),
    "session archive": Entry(
        "meta.json, messages.jsonl",
        "messages.jsonl.gz in its place, meta.json, catalogue",
        "changed:[{sessionId, from, to}], failed?:[{id, reason}]",
    ),
    "session delete": Entry(
        "metadata of sessions",
        "moves the session's folder into the trash; catalogue",
        "deleted:[id], missing:[id], dryRun, failed?:[{id, reason}]",
    ),
    "session restore": Entry(
        "the trash",
        "moves the session's folder back; catalogue",
        "restored:[id], failed?:[{id, reason}]",
    ),
    "session trash list": Entry(
        "the trash",
        _NOTHING,
        "items:[{sessionId, deletedAt, channel, chatId, title, messageCount, path}], total",
    ),
    "session trash empty": Entry(
        "the trash", "removes folders from the trash", "removed:[name], dryRun"
    ),
    "session search": Entry(
        "histories, metadata",
        _NOTHING,
        "query, results:[{sessionId, idx, ts, role, snippet, phrase}], sessions",
    ),
    "session usage": Entry(
        "the ledger; with --record standard input",
        "nothing; with --record the ledger, with --plot FILE that file",
        f"by, items:[{{key, {_SUMS}}}], total, sum:{{{_SUMS}}}; with --record: recorded:{{turn}};"
        " with --plot: charts:{tokens:[{key, inputTokens, outputTokens, cacheReadTokens,"
        f" cacheWriteTokens}}], cost:[{{key, cost}}]}}, {_PICTURE}",
    ),
    "session export": Entry(
        "metadata, histories",
        "the file of --output, else standard output",
        "with --output: path, bytes, sha256, sessions, messages, format, failed:[{path, reason}];"
        " without it the document itself is printed",
    ),
    "session import": Entry(
        "FILE or standard input, metadata, histories",
        "meta.json, messages.jsonl, catalogue",
        "read, added, skipped, overwritten, renamed, refused, messages, renamedIds, skippedIds,"
        " failed:[{line, id?, reason}], dryRun",
    ),
    "session verify": Entry(
        "every line of histories, metadata, checkpoints, branch points, summaries",
        "nothing; with --repair meta.json, messages.jsonl, and damage set aside beside it",
        "checked, messages, problems:[{sessionId, code, message, path, line?, repairable}],"
        f" repaired, kept:[path], foreign?:{{count, names:[name]}},"
        f" failed?:[{{id, reason}}]; {_AGENTS}",
    ),
    "model list": Entry(_MODELS, _NOTHING, f"models:[{{{_MODEL}}}], total"),
    "model verify": Entry(
        "every byte of the models",
        _NOTHING,
        f"models:[{{{_MODEL}, ok, problem}}], total, failed:[{{id, reason}}]",
    ),
    "config get": Entry(
        "openclaw.json, environment", _NOTHING, "key?, value?, values:{key: value}"
    ),
    "config show": Entry(
        "openclaw.json, environment",
        _NOTHING,
        "path, items:[{key, value, doc, origin?}], total",
    ),
    "config validate": Entry(
        "openclaw.json, environment", _NOTHING, "path, exists, problems:[{key, message, line}]"
    ),
    "config schema": Entry(
        _NOTHING,
        _NOTHING,
        "items:[{key, type, default, expected, environment, doc}], total",
    ),
    "doctor": Entry(
        "everything below the state directory",
        "nothing; with --fix modes, unfinished writes, the index; damage is set aside",
        "checks:[{name, agent, ok, state, detail, fixed, hint, faults}],"
        " counts:{ok, fixable, damaged, fixed}; each of faults is {path, reason}",
    ),
    "schema": Entry(
        "the schemas in the package",
        _NOTHING,
        "items:[{command, schema, path}], total; with a command the JSON Schema itself",
    ),
    "completion": Entry(
        _NOTHING,
        "nothing; with --install files in the shell's folder for your completions",
        "with --install: shell, installed:[path], note; without it the script is printed",
    ),
}
