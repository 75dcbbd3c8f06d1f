"""Which commands there are: the one table from which help, completion and manual pages come.

A new command is one line here and one module in ``commands``, named after its words.
"""

from __future__ import annotations

from openclaw_cli import errors

SUMMARY = "Remember and find again, offline: memories and sessions on disk."

GROUPS: dict[str, str] = {
    "memory": "Store, find and look after memories.",
    "session": "Conversations: their metadata, their messages, their life.",
    "session trash": "What session delete has put away.",
    "model": "The embedding models on this machine.",
    "config": "The configuration in force, and where it comes from.",
}

#: The groups, the root among them, with a command that works on all agents.
FOR_ALL_AGENTS = frozenset({"", "memory", "session"})

#: Other words for a group at the root.
ALIASES: dict[str, str] = {"sessions": "session"}

COMMANDS: dict[str, str] = {
    "memory add": "Store one memory.",
    "memory get": "Show memories by id.",
    "memory list": "List memories, newest first.",
    "memory search": "Find memories by words and by meaning.",
    "memory edit": "Change what a memory says; what it said is kept.",
    "memory history": "Show what a memory said before, oldest first.",
    "memory undo": "Let an earlier state of a memory stand again.",
    "memory delete": "Delete memories by id or by filter.",
    "memory purge": "Forget everything of one user, and prove it.",
    "memory index": "Bring the search index up to date with the records.",
    "memory status": "Tell what is stored, what is indexed and what is pending.",
    "memory import": "Read memories from a file or standard input.",
    "memory export": "Write memories to a file or standard output.",
    "memory migrate": "Bring a file or the store from an older format to this one.",
    "session new": "Make a session, always a new one.",
    "session ensure": "Return the session of a channel and chat, made if there is none.",
    "session list": "List sessions, those active last first.",
    "session show": "Show a session's metadata, where it lies and how large it is.",
    "session tail": "Show the last messages of a session, the newest at the end.",
    "session append": "Append one message, or those of JSON Lines on standard input.",
    "session context": "Build a context: messages that fit a budget of tokens.",
    "session checkpoint": "Store a checkpoint, given as JSON on standard input.",
    "session resume": "Print the messages with which a session goes on.",
    "session branch": "Name a place in a history, to begin from.",
    "session branches": "List the named places in a history.",
    "session rename": "Give a session a title.",
    "session tag": "Add tags to a session, or remove them.",
    "session sweep": "Make idle sessions dormant and archive old ones.",
    "session archive": "Archive sessions: compress their histories.",
    "session delete": "Move sessions to the trash.",
    "session restore": "Bring sessions back from the trash, as they were.",
    "session trash list": "List the sessions in the trash, the last deleted first.",
    "session trash empty": "Remove the sessions in the trash for good.",
    "session search": "Find messages by their words, in all sessions or in one.",
    "session usage": "Sum up the tokens that turns have used, or record one turn.",
    "session export": "Write sessions to a file or standard output.",
    "session import": "Read sessions from a file of session export.",
    "session verify": "Check sessions line by line, and repair them on demand.",
    "model list": "List the embedding models and the languages they read.",
    "model verify": "Check the files of the models against their recorded digests.",
    "config get": "Show configuration values.",
    "config show": "Show every setting, its meaning and its origin.",
    "config validate": "Check the configuration file and the environment.",
    "config schema": "List what the configuration may hold.",
    "doctor": "Check everything, and repair what is safe.",
    "schema": "Print the JSON Schema of what a command prints with --json.",
    "completion": "Print the completion of a shell, or install it for you.",
}

#: Commands for those who work on the program; help, completions and manual pages leave them out.
HIDDEN: dict[str, str] = {
    "generate": "Write completions and manual pages from the command tree.",
}

#: What ``openclaw`` alone shows: the way in, by task. Not every command is here.
TASKS: dict[str, tuple[str, ...]] = {
    "Remember": ("memory add", "memory import"),
    "Find": ("memory search", "memory list", "memory get"),
    "Look after": (
        "memory status",
        "memory edit",
        "memory undo",
        "memory delete",
        "memory index",
        "doctor",
    ),
    "Move": ("memory export", "memory migrate", "session export"),
    "Sessions": ("session ensure", "session append", "session tail", "session list"),
}

EXIT_MEANINGS: dict[int, str] = {
    errors.EXIT_DONE: "done",
    errors.EXIT_FAILED: "failed",
    errors.EXIT_USAGE: "the command line or the configuration is wrong",
    errors.EXIT_PARTIAL: "finished, with some items failed (they are listed)",
    errors.EXIT_NOT_FOUND: "no such agent, record or session",
    errors.EXIT_LOCKED: "locked by another process, try again",
    errors.EXIT_TOO_OLD: "a format too old: run migrate",
    errors.EXIT_TOO_NEW: "a format newer than this program",
    errors.EXIT_DAMAGED: "damaged data: run doctor",
    errors.EXIT_UNAVAILABLE: "a needed model, extra or service is missing",
    errors.EXIT_INTERRUPTED: "interrupted",
}


def module_name(path: str) -> str:
    """Return the module of the command that the words ``path`` name."""
    return "openclaw_cli.cli.commands." + path.replace(" ", "_").replace("-", "_")


def children(group: str) -> dict[str, str]:
    """Return name and summary of what can follow the words ``group`` ("" at the root)."""
    start = f"{group} " if group else ""
    return {
        path.removeprefix(start): summary
        for path, summary in {**GROUPS, **COMMANDS}.items()
        if path.startswith(start) and " " not in path.removeprefix(start)
    }
