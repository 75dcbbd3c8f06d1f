"""Out and in again: nothing changes, a dry run tells what will happen, a stop costs nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_cli.memory.filters import Filters
from openclaw_cli.memory.requests import ListRequest
from openclaw_cli.store import fsio
from openclaw_cli.transfer import importer
from openclaw_cli.transfer.exporter import ExportRequest, export_memories
from openclaw_cli.transfer.importer import ImportRequest, import_memories
from tests.support import Memory

RULES = ("skip", "overwrite", "newer", "duplicate")
COUNTS = ("read", "added", "skipped", "overwritten", "merged", "failed")


@contextmanager
def fresh(count: int = 1) -> Iterator[list[Memory]]:
    """Memories in folders of their own; nothing needs to be synced really."""
    kept, fsio.disk = fsio.disk, Unsynced()
    try:
        with tempfile.TemporaryDirectory() as name:
            yield [Memory(Path(name) / str(number)) for number in range(count)]
    finally:
        fsio.disk = kept


class Unsynced(fsio.Disk):
    def fsync(self, fd):
        pass

    def sync_all(self, _folder):
        return True


def exported(memory: Memory, name: str = "export.json") -> Path:
    path = memory.state.parent / f"{memory.state.name}.{name}"
    export_memories(memory.service, ExportRequest(path, filters=Filters(), force=True))
    return path


def imported(memory: Memory, path: Path, **options):
    with path.open("rb") as stream:
        request = ImportRequest(source=path, embed=options.pop("embed", False), **options)
        return import_memories(memory.service, request, stream)


def documents(memory: Memory) -> dict[str, dict]:
    files = memory.paths.root.glob("records/*/[!.]*.json")
    return {path.stem: json.loads(path.read_bytes()) for path in files}


def said(memory: Memory) -> dict[str, dict]:
    """Return every field but the one that tells of the vectors of this store."""
    return {name: {**d, "embeddingPending": None} for name, d in documents(memory).items()}


letters = st.characters(exclude_categories=["Cs", "Cc"])
texts = st.text(letters, min_size=1, max_size=30).filter(str.strip) | st.sampled_from(
    ["用户喜欢绿茶", "喜欢 🙂\nund Tee", "Likes green tea", "Lives in Berlin, 12 Main St."]
)
labels = st.sampled_from(["u1", "用户", "a b", "k"])
unknown = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(letters, max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(letters), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
times = st.sampled_from(
    ["2025-01-02T03:04:05Z", "2026-02-01T00:00:00.123Z", "2024-06-07T00:00:00Z"]
)
adds = st.fixed_dictionaries(
    {"text": texts, "category": st.sampled_from(["event", "preference", "lesson", "case"])},
    optional={"l1": texts, "l2": texts, "key": labels, "user": labels,
              "tags": st.lists(labels, max_size=2).map(tuple)},
)  # fmt: skip
extras = st.dictionaries(
    st.sampled_from(["mood", "Ünknown", "a-b", "zzz"]), unknown, min_size=1, max_size=2
)


@settings(max_examples=40)
@given(st.lists(adds, max_size=8), extras, st.sampled_from(["x.json", "x.jsonl", "x.jsonl.gz"]))
def test_what_is_exported_and_imported_is_the_same_to_the_last_field(statements, more, name):
    with fresh(3) as (memory, other, third):
        for number, statement in enumerate(statements):
            memory.later(hours=1)
            memory.add(**statement, id=f"r{number}" if "key" not in statement else None)
        if not statements:
            memory.add("one")
        for path in list(memory.paths.root.glob("records/*/*.json"))[:2]:
            fsrs = {"stability": 3.25, "difficulty": 0.5, "lastReview": "2026-01-01T00:00:00.5Z"}
            document = {**json.loads(path.read_bytes()), **more}
            document["fsrs"] = {**document["fsrs"], **fsrs, "reps": 7, "lapses": 2, "own": [1]}
            path.write_text(json.dumps(document))
        memory.index()
        path = exported(memory, name)
        other.moment = memory.moment
        other.later(days=100)
        result = imported(other, path)
        assert said(other) == said(memory)
        assert result.data["added"] == result.data["total"] == len(documents(memory))
        imported(third, exported(other, name))
        assert exported(third, name).read_bytes() == exported(other, name).read_bytes()
        again = imported(other, path, on_conflict="overwrite").data
        assert again["skipped"] == again["read"], "the same is never overwritten"
        for query in ("tea", "茶", "Berlin Main", "喜欢"):
            found = [(hit["id"], hit["score"]) for hit in memory.search(query).data["results"]]
            other.moment = memory.moment
            hits = other.search(query).data["results"]
            assert [(hit["id"], pytest.approx(hit["score"])) for hit in hits] == found


def test_meaning_finds_the_same_after_a_round_trip(tmp_path):
    memory, other = Memory(tmp_path / "a"), Memory(tmp_path / "b")
    for text in ("用户的猫叫豆豆", "The dog is called Rex", "He works at a bakery", "她在银行上班"):
        memory.add(text, embed=True)
    memory.index(embed=True)
    imported(other, exported(memory), embed=True)
    for query in ("pets", "工作在哪里"):
        hits = [memory_.search(query, "hybrid").data["results"] for memory_ in (memory, other)]
        assert [hit["id"] for hit in hits[0]] == [hit["id"] for hit in hits[1]]
        assert [hit["score"] for hit in hits[0]] == pytest.approx([h["score"] for h in hits[1]])


def test_what_was_deleted_comes_back_as_it_was(memory, tmp_path):
    memory.add("用户喜欢绿茶", id="tea", category="preference", key="drink")
    memory.add("Likes coffee now", category="preference", key="drink")
    memory.add("Met Ada", id="ada")
    memory.index()
    before, path = documents(memory), exported(memory)
    for record in memory.paths.root.glob("records/*/*.json"):
        record.unlink()
    memory.index()
    assert memory.listed() == []
    imported(memory, path)
    assert documents(memory) == before


lines = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"text": texts},
            optional={"id": st.sampled_from(["a", "b", "c", "../x"]), "createdAt": times,
                      "category": st.sampled_from(["event", "preference", "case", "wish"]),
                      "key": labels, "tags": st.just(["t"])},
        ),
        st.fixed_dictionaries(
            {"id": st.sampled_from(["a", "b", "d"]),
             "content": st.fixed_dictionaries({"l0": texts, "l2": texts})},
            optional={"updatedAt": times, "category": st.sampled_from(["event", "lesson"]),
                      "history": st.just([{"content": {"l0": "was"}, "reason": "x"}])},
        ),
        st.sampled_from([b"{", b"[1]", b'{"text":NaN}', b'{"text":"\\ud800"}', b'{"id":"a"}']),
    ),
    max_size=14,
)  # fmt: skip


def raw(rows) -> bytes:
    # The first line makes it JSON Lines, whatever follows.
    return b'{"version":"2.0"}\n' + b"\n".join(
        row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows
    )


@settings(max_examples=80)
@given(lines, lines, st.sampled_from(RULES), st.booleans(), st.sampled_from([1, 3, 256]))
def test_a_dry_run_tells_exactly_what_the_run_then_does(before, rows, rule, dedup, batch):
    kept, importer.BATCH = importer.BATCH, batch
    try:
        with fresh() as (memory,):
            memory.imported(before)
            memory.later(hours=1)
            options = {"on_conflict": rule, "dedup": dedup, "embed": False}
            there = documents(memory)
            answers = []
            for dry_run in (True, False):
                request = ImportRequest(dry_run=dry_run, **options)
                data = import_memories(memory.service, request, BytesIO(raw(rows))).data
                assert data["read"] == len(rows)
                counted = data["added"] + data["skipped"] + data["overwritten"]
                assert data["read"] == counted + len(data["failed"])
                answers.append([data[name] for name in COUNTS])
                if dry_run:
                    assert documents(memory) == there
            assert answers[0] == answers[1]
            assert len(documents(memory)) == len(there) + data["added"]
    finally:
        importer.BATCH = kept


@settings(max_examples=60)
@given(lines, st.integers(1, 8), st.sampled_from(["skip", "newer"]), st.booleans())
def test_an_import_that_was_interrupted_ends_as_one_that_was_not(rows, stop, rule, dedup):
    kept, importer.BATCH = importer.BATCH, 2
    append, calls = fsio.append, []

    def dying(path, data):
        calls.append(path)
        if len(calls) == stop:
            raise KeyboardInterrupt
        append(path, data)

    try:
        with fresh(2) as (whole, stopped):
            request = ImportRequest(on_conflict=rule, dedup=dedup, embed=False)
            import_memories(whole.service, request, BytesIO(raw(rows)))
            fsio.append = dying
            try:
                import_memories(stopped.service, request, BytesIO(raw(rows)))
            except KeyboardInterrupt:
                pass
            finally:
                fsio.append = append
            again = import_memories(stopped.service, request, BytesIO(raw(rows))).data
            assert documents(stopped) == documents(whole)
            third = import_memories(stopped.service, request, BytesIO(raw(rows))).data
            assert third["added"] == third["overwritten"] == 0
            assert third["failed"] == again["failed"]
    finally:
        importer.BATCH = kept


def test_lines_without_id_and_time_are_events_of_their_own_and_known_again(memory):
    rows = [{"text": "Backup done"}, {"text": "Backup done"}, {"text": "Disk full"}]
    assert memory.imported(rows).data["added"] == 3
    memory.later(days=1)
    assert memory.imported(rows).data["skipped"] == 3
    grown = [*rows, {"text": "Backup done"}]
    assert memory.imported(grown).data["added"] == 1, "a file that has grown adds what is new"
    other = [{"text": "Good morning"}, *rows]
    assert memory.imported(other).data["added"] == 4, "in another file it is another event"


def test_the_copies_of_duplicate_are_made_once(memory):
    memory.add("here already", id="a")
    rows = [{"id": "a", "text": "another"}, {"id": "a", "text": "another"}]
    assert memory.imported(rows, on_conflict="duplicate").data["added"] == 2
    assert memory.imported(rows, on_conflict="duplicate").data["skipped"] == 2
    assert len(memory.listed()) == 3


def test_a_process_that_is_killed_again_and_again_loses_and_doubles_nothing(tmp_path):
    rows = [{"text": f"event {number % 700} happened"} for number in range(3000)]
    source = tmp_path / "events.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    before = source.read_bytes(), source.stat().st_mtime_ns
    command = [
        *(sys.executable, "-m", "openclaw_cli", "memory", "import", str(source), "--no-embed"),
        *("--state-dir", str(tmp_path / "state"), "--json"),
    ]
    kills = 0
    for delay in (0.25, 0.4, 0.6, 0.8, None):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if delay is None:
            out, _ = process.communicate(timeout=120)
        else:
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
    assert kills
    data = json.loads(out)["data"]
    assert (data["read"], data["total"]) == (3000, 3000)
    assert data["added"] + data["skipped"] == 3000
    memory = Memory(tmp_path / "state")
    total = memory.service.list(ListRequest(filters=Filters(), limit=1)).data["total"]
    assert total == 3000
    assert (source.read_bytes(), source.stat().st_mtime_ns) == before
    assert not [name for name in os.listdir(memory.paths.root) if ".tmp-" in name]
