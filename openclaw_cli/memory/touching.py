"""A memory that was found is remembered better: FSRS states after a search (``--touch``)."""

from __future__ import annotations

from collections.abc import Sequence

from openclaw_cli.index.protocol import Vector
from openclaw_cli.memory.analysis import analyse_record
from openclaw_cli.memory.documents import payload_of
from openclaw_cli.memory.drafts import initial_stability
from openclaw_cli.memory.fsrs import initial_state, recalled
from openclaw_cli.memory.indexing.checkpoint import checkpoint, writing
from openclaw_cli.memory.store import Store
from openclaw_cli.result import Warning
from openclaw_cli.store.repository import Change


def record_recalls(store: Store, hits: Sequence[tuple[str, str, Vector | None]]) -> list[Warning]:
    """Record a recall of each hit, given in order of rank as (scope, id, vector), in one commit.

    A record that has changed since it was found is read anew; one that is gone, or of which the
    file is damaged and is left to the next index run, is passed over.
    """
    moment = store.env.clock.now()
    with writing(store) as writer:
        view = store.repository.view()
        changes = []
        for rank, (scope, record_id, vector) in enumerate(hits, 1):
            try:
                record = view.record(scope, record_id)
            except (OSError, ValueError):
                continue
            if record is None:
                continue
            stability = record.stability or initial_stability(store.env.config, record.category)
            state = record.document.get("fsrs") or initial_state(stability, moment)
            fsrs = recalled(state, stability, rank, len(hits), moment)
            analysis = analyse_record(record, store.catalog)
            unchanged = analysis.content_hash == record.content_hash
            payload = payload_of(analysis, vector if unchanged else None)
            changes.append(Change(scope, record_id, {**record.document, "fsrs": fsrs}, payload))
        writer.commit(changes)
    return [*writer.warnings, *checkpoint(store, writer.log)]
