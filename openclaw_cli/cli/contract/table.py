"""Which command prints which document: one entry a command."""

from __future__ import annotations

from typing import NamedTuple

from openclaw_cli.cli.contract import machine, memory, purging, session


class Contract(NamedTuple):
    """The document of a command.

    ``data`` is the type of its data, ``version`` the number of its contract. With ``each_agent``
    the data may also be those of several agents (``--all-agents``). ``item`` is the type of a line
    of ``--jsonl``; ``printed`` is a document that is printed in place of the envelope.
    """

    data: type
    version: int = 1
    each_agent: bool = False
    item: type | None = None
    printed: type | None = None


CONTRACTS: dict[str, Contract] = {
    "memory add": Contract(memory.Added),
    "memory get": Contract(memory.Records),
    "memory list": Contract(memory.Listed, item=memory.Item),
    "memory search": Contract(memory.Found),
    "memory edit": Contract(memory.Changed),
    "memory history": Contract(memory.History),
    "memory undo": Contract(memory.Changed),
    "memory delete": Contract(memory.Deleted),
    "memory purge": Contract(purging.Purged),
    "memory index": Contract(memory.Indexed, each_agent=True),
    "memory status": Contract(memory.Status, each_agent=True),
    "memory import": Contract(memory.Imported),
    "memory export": Contract(memory.Exported, printed=memory.Export),
    "memory migrate": Contract(memory.Migrated),
    "session new": Contract(session.Session),
    "session ensure": Contract(session.Ensured),
    "session list": Contract(session.Sessions, item=session.Session),
    "session show": Contract(session.Shown),
    "session tail": Contract(session.Tail, item=session.Message),
    "session append": Contract(session.Appended),
    "session rename": Contract(session.Renamed),
    "session tag": Contract(session.Tagged),
    "session sweep": Contract(session.Swept, each_agent=True),
    "session archive": Contract(session.Archived),
    "session delete": Contract(session.Deleted),
    "session restore": Contract(session.Restored),
    "session trash list": Contract(session.Trash),
    "session trash empty": Contract(session.Emptied),
    "session verify": Contract(session.Checked, each_agent=True),
    "session context": Contract(session.Context),
    "session checkpoint": Contract(session.Checkpointed),
    "session resume": Contract(session.Resumed),
    "session branch": Contract(session.NewBranch),
    "session branches": Contract(session.Branches),
    "session search": Contract(session.FoundMessages),
    "session usage": Contract(session.Usage),
    "session export": Contract(session.ExportedSessions),
    "session import": Contract(session.ImportedSessions),
    "model list": Contract(machine.Models),
    "model verify": Contract(machine.CheckedModels),
    "config get": Contract(machine.Values),
    "config show": Contract(machine.Settings),
    "config validate": Contract(machine.Validated),
    "config schema": Contract(machine.Keys),
    "doctor": Contract(machine.Diagnosis),
    "completion": Contract(machine.Completion),
    "schema": Contract(machine.Schemas),
}
