"""Every damage is found without a byte being changed; what is safe to repair is repaired."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import numpy as np
import pytest

from openclaw_cli.errors import NotFoundError
from openclaw_cli.index.file import generation as layout
from openclaw_cli.index.file.checksum import full_digest, sample_digest
from openclaw_cli.memory.doctor import checks_state
from openclaw_cli.memory.doctor.checkup import MEMORY, Request, examine
from openclaw_cli.memory.doctor.diagnosis import OK, Check, Fault, Part, judged
from openclaw_cli.memory.requests import DeleteRequest, ListRequest
from openclaw_cli.store import fsio, survey
from tests.faults import damage
from tests.support import Memory

INDEXED, LOGGED = "mem-quincea", "mem-quinceg"
FOREIGN = ("sessions/sessions.json", "sessions/abc.jsonl", "agent/auth.json", "memory/main.sqlite")


@cache
def template() -> tuple[Path, dict[str, str]]:
    """A store with records in index and log, tombstones, vectors, and files of other programs."""
    state = Path(mkdtemp()) / "state"
    words = damage.build(state)
    memory = Memory(state)
    memory.index()
    gone = memory.add("To be forgotten soon", id="mem-soon")["id"]
    memory.service.delete(DeleteRequest((gone,)))
    memory.index()
    memory.later(days=2)
    # The later records stand in the log again.
    for name in ("mem-quincef", LOGGED):
        memory.search(words[name], touch=True, top_k=1)
    assert {e.record_id for e in memory.service.store.repository.view().log.entries} >= {LOGGED}
    for name in FOREIGN:
        path = memory.paths.root.parent / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("of another program")
        path.chmod(0o644)
    (state / "workspace").mkdir()
    for path in (memory.paths.root / "reflections", state / "openclaw.json"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    for path in memory.paths.root.rglob("*"):
        if path.name in ("insights.json", "wal.jsonl.torn-20260101T000000Z"):
            path.chmod(0o600)
    return state, words


@pytest.fixture
def memory(tmp_path):
    """A copy of the template, two days later."""
    shutil.copytree(template()[0], tmp_path / "state", symlinks=True)
    memory = Memory(tmp_path / "state")
    memory.later(days=4)
    return memory


def doctor(memory: Memory, *, fix: bool = False, agent: str | None = None, **more):
    return examine(memory.service.store.env, Request(agent, fix, **more))


def wrong(result) -> dict[str, str]:
    """Return state of every check that is not ok, by name."""
    return {c["name"]: c["state"] for c in result.data["checks"] if not c["ok"]}


def unfixed(result) -> set[str]:
    return {c["name"] for c in result.data["checks"] if not c["ok"] and not c["fixed"]}


def tree(folder: Path) -> dict[Path, object]:
    return {
        path: (path.lstat().st_mode, path.lstat().st_mtime_ns, content(path))
        for path in folder.rglob("*")
    }


def content(path: Path) -> object:
    if path.is_symlink():
        return os.readlink(path)
    return path.read_bytes() if path.is_file() else None


# -- the damages -----------------------------------------------------------------------------------


def rewritten(path: Path, **changes) -> None:
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}))


def line_damaged(path: Path, number: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number] = b"#" + lines[number][1:]
    path.write_bytes(b"".join(lines))


def flipped(name: str) -> Callable[[Memory], None]:
    def flip(memory: Memory) -> None:
        path = memory.paths.index / name
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(bytes(data))

    return flip


def reconfigured(memory: Memory, change: Callable[[layout.GenerationConfig, Path], object]) -> None:
    folder = memory.paths.index
    config = layout.decode((folder / layout.CONFIG).read_bytes())
    (folder / layout.CONFIG).write_bytes(change(config, folder).encode())


def other_tokenizer(memory: Memory) -> None:
    reconfigured(memory, lambda config, _folder: config._replace(tokenizer="another/7"))


def other_model(memory: Memory) -> None:
    def change(config, _folder):
        space = config.spaces["bge-small-en-v1.5"]
        other = space._replace(info=space.info._replace(digest="0" * 64))
        return config._replace(spaces={**config.spaces, "bge-small-en-v1.5": other})

    reconfigured(memory, change)


def no_number(memory: Memory) -> None:
    """Vectors that were written as they are, and are none."""

    def change(config, folder):
        name = layout.vectors_name("bge-small-en-v1.5")
        matrix = np.frombuffer((folder / name).read_bytes(), "<f4").copy()
        matrix[3] = np.nan
        data = matrix.tobytes()
        (folder / name).write_bytes(data)
        mark = layout.Fingerprint(len(data), full_digest(data), sample_digest(data))
        return config._replace(files={**config.files, name: mark})

    reconfigured(memory, change)


def record_damaged(memory: Memory) -> None:
    memory.path(INDEXED).write_bytes(b'{"id":')


def logged_record_damaged(memory: Memory) -> None:
    memory.path(LOGGED).write_bytes(b"{")


def logged_record_missing(memory: Memory) -> None:
    memory.path(LOGGED).unlink()
    memory.paths.applied.unlink()


def record_edited(memory: Memory) -> None:
    memory.edit(INDEXED, "Grows potatoes and quincea")


def record_added(memory: Memory) -> None:
    document = {**memory.document(INDEXED), "id": "mem-hand", "contentHash": None}
    memory.path("mem-hand").write_text(json.dumps(document))
    memory.path("mem-hand").chmod(0o600)


def record_removed(memory: Memory) -> None:
    memory.path(INDEXED).rename(memory.state / "workspace" / "kept.json")


def record_copied(memory: Memory) -> None:
    shutil.copy(memory.path(INDEXED), memory.path("mem-copy"))


def record_with_a_bad_name(memory: Memory) -> None:
    memory.path(INDEXED).with_name("my note.json").write_text("{}")


def record_is_a_folder(memory: Memory) -> None:
    memory.path("mem-folder").mkdir()


def record_leads_out(memory: Memory) -> None:
    outside = memory.state.with_name("outside.json")
    outside.write_text("{}")
    memory.path("mem-link").symlink_to(outside)


def record_twice(memory: Memory) -> None:
    document = {**memory.document(INDEXED), "scope": "agent"}
    memory.path(INDEXED, "agent").write_text(json.dumps(document))
    memory.path(INDEXED, "agent").chmod(0o600)


def record_newer(memory: Memory) -> None:
    rewritten(memory.path(INDEXED), version="3.0", content={"parts": []})


def record_older(memory: Memory) -> None:
    rewritten(memory.path(INDEXED), version="1.2")


def records_older_by_place(memory: Memory) -> None:
    place = memory.paths.root / "user" / "mem-old.json"
    place.parent.mkdir(mode=0o700)
    place.write_text("{}")
    place.chmod(0o600)


def log_torn(memory: Memory) -> None:
    with memory.paths.wal.open("ab") as log:
        log.write(b'{"crc":"0')


def log_missing(memory: Memory) -> None:
    memory.index()
    memory.paths.wal.unlink()


def log_older(memory: Memory) -> None:
    old = memory.paths.wal.read_bytes()
    memory.index()
    memory.add("Said later and indexed")
    memory.index()
    memory.paths.wal.write_bytes(old)


def purge_killed(memory: Memory) -> None:
    memory.add("Somebody's secret", user="u9", id="mem-secret")
    with memory.service.store.repository.writing() as writer:
        writer.purge("u9", [("user", "mem-secret")], {})


def temporary_left(memory: Memory) -> None:
    for folder in (memory.paths.root, memory.paths.records("user"), memory.paths.index):
        (folder / ".x.json.tmp-0123").write_text("half")
        (folder / ".x.json.tmp-0123").chmod(0o600)


def generation_left(memory: Memory) -> None:
    folder = memory.paths.generations / "999"
    folder.mkdir(mode=0o700)
    (folder / "bm25.idx").touch(mode=0o600)


def lock_is_a_folder(memory: Memory) -> None:
    memory.paths.writer_lock.unlink()
    memory.paths.writer_lock.mkdir(mode=0o700)


def index_is_a_folder(memory: Memory) -> None:
    memory.paths.index.unlink()
    memory.paths.index.mkdir(mode=0o700)


def link_leads_nowhere(memory: Memory) -> None:
    memory.paths.index.unlink()
    memory.paths.index.symlink_to("generations/12345")


def records_are_a_file(memory: Memory) -> None:
    for path in memory.paths.records("agent").iterdir():
        path.rename(memory.paths.records("user") / f"{path.name}.elsewhere")
    memory.paths.records("agent").rmdir()
    memory.paths.records("agent").touch(mode=0o600)


def modes_wide(memory: Memory) -> None:
    memory.path(INDEXED).chmod(0o644)
    memory.paths.records("user").chmod(0o755)
    memory.paths.wal.chmod(0o400)


def shared_modes_wide(memory: Memory) -> None:
    memory.state.chmod(0o755)


class Case(NamedTuple):
    """A damage, the checks that find it, whether ``--fix`` repairs it, what is not found then."""

    damage: Callable[[Memory], None]
    found: dict[str, str]
    repaired: bool = True
    lost: tuple[str, ...] = ()


D, F = "damaged", "fixable"
CASES = {
    "modes": Case(modes_wide, {"modes": F}),
    "modes of the state directory": Case(shared_modes_wide, {"modes": F}),
    "record damaged": Case(record_damaged, {"records": D}, lost=(INDEXED,)),
    "record damaged, in the log": Case(logged_record_damaged, {"records": F}),
    "record missing, in the log": Case(logged_record_missing, {"records": F}),
    "record edited": Case(record_edited, {"records": F, "index": F}),
    "record added": Case(record_added, {"index": F}),
    "record removed": Case(record_removed, {"index": F}, lost=(INDEXED,)),
    "record under another name": Case(record_copied, {"records": D}),
    "record with a bad name": Case(record_with_a_bad_name, {"names": D}),
    "record is a folder": Case(record_is_a_folder, {"names": D}),
    "record leads out": Case(record_leads_out, {"names": D, "links": D}),
    "record twice": Case(record_twice, {"records": D}, repaired=False),
    "record newer": Case(record_newer, {"formats": F}, repaired=False, lost=(INDEXED,)),
    "record older": Case(record_older, {"formats": F, "index": F}, repaired=False),
    "records in the older place": Case(records_older_by_place, {"formats": F}, repaired=False),
    "log torn": Case(log_torn, {"log": F}),
    "log line damaged": Case(lambda memory: line_damaged(memory.paths.wal, 1), {"log": D}),
    "log missing": Case(log_missing, {"log": F}),
    "log older": Case(log_older, {"log": F}),
    "purge killed": Case(purge_killed, {"log": F, "records": F}),
    "words": Case(flipped("bm25.idx"), {"index": F}),
    "columns": Case(flipped("metadata.json"), {"index": F}),
    "stat cache": Case(flipped("files.json"), {"index": F}),
    "vector file": Case(flipped("vectors.bge-small-en-v1.5.f32"), {"index": F, "vectors": F}),
    "fingerprints": Case(flipped("config.json"), {"index": F}),
    "link gone": Case(lambda memory: memory.paths.index.unlink(), {"index": F, "leftovers": F}),
    "link to nowhere": Case(link_leads_nowhere, {"index": F, "leftovers": F}),
    "tokenizer": Case(other_tokenizer, {"index": F}),
    "model": Case(other_model, {"vectors": F}),
    "vectors no numbers": Case(no_number, {"vectors": F}, repaired=False),
    "tombstones": Case(lambda m: line_damaged(m.paths.tombstones, 0), {"tombstones": D}),
    "temporary files": Case(temporary_left, {"leftovers": F}),
    "generation left": Case(generation_left, {"leftovers": F}),
    "lock is a folder": Case(lock_is_a_folder, {"places": D, "locks": D}),
    "index is a folder": Case(index_is_a_folder, {"places": D, "index": F, "leftovers": F}),
}


@pytest.fixture(params=CASES)
def case(request, memory) -> Case:
    CASES[request.param].damage(memory)
    return CASES[request.param]


def test_a_healthy_store_is_ok_and_others_files_are_named(memory):
    before = tree(memory.state)
    result = doctor(memory)
    assert (wrong(result), result.exit_status, result.warnings) == ({}, 0, ())
    assert tree(memory.state) == before
    details = {(c["agent"], c["name"]): c["detail"] for c in result.data["checks"]}
    assert all(name in details["main", "other programs"] for name in ("sessions.json", "agent"))
    assert "memory/main.sqlite" in details["main", "other programs"]
    assert "workspace" in details[None, "other programs"]
    assert "1 set aside" in details["main", "leftovers"]


def test_damage_is_found_and_not_a_byte_changed(memory, case):
    before = tree(memory.state)
    result = doctor(memory)
    assert case.found.items() <= wrong(result).items()
    assert not any(check["fixed"] for check in result.data["checks"])
    assert result.exit_status == (14 if D in wrong(result).values() else 3)
    assert tree(memory.state) == before


def test_fix_keeps_every_healthy_record_and_all_that_is_not_derived(memory, case):
    kept = {content(path) for path in memory.paths.root.rglob("*") if is_kept(memory, path)}
    result = doctor(memory, fix=True)
    assert case.found.items() <= wrong(result).items()
    assert result.exit_status == (14 if D in case.found.values() else 3)
    assert (not unfixed(result)) == case.repaired, result
    after = {content(path) for path in memory.paths.root.rglob("*") if path.is_file()}
    edited = {record_edited: 1, purge_killed: 1}.get(case.damage, 0)
    assert len(kept - after) <= edited, kept - after
    for name in FOREIGN:
        path = memory.paths.root.parent / name
        assert (path.read_text(), path.stat().st_mode & 0o777) == ("of another program", 0o644)
    check_found(memory, case)


def is_kept(memory: Memory, path: Path) -> bool:
    """Tell whether a file is neither derived nor a log that may be folded."""
    if not path.is_file() or path.is_symlink() or fsio.is_temporary(path.name):
        return False
    derived = {memory.paths.generations, memory.paths.index} & set(path.parents)
    names = ("wal.jsonl", "wal.applied", "vectors.partial", "tombstones.jsonl")
    return not derived and path.suffix != ".lock" and path.name not in names


def check_found(memory: Memory, case: Case) -> None:
    words = {n: word for n, word in template()[1].items() if n not in case.lost}
    listed = {item["id"] for item in memory.service.list(ListRequest(limit=None)).data["items"]}
    assert words.keys() <= listed
    hits = memory.search(" ".join(words.values()), top_k=50).data["results"]
    assert words.keys() <= {hit["id"] for hit in hits}


def test_a_second_repair_finds_all_ok_and_changes_nothing(memory, case):
    doctor(memory, fix=True)
    before = tree(memory.state)
    result = doctor(memory, fix=True)
    if case.repaired:
        assert (wrong(result), result.exit_status) == ({}, 0)
        assert tree(memory.state) == before
    else:
        assert result.exit_status in (3, 14)
        assert {n: s for n, s in wrong(result).items() if n != "index"} == {
            n: s for n, s in case.found.items() if n != "index"
        }
    assert doctor(memory).exit_status == result.exit_status


# -- what only some stores have --------------------------------------------------------------------


def test_a_file_in_the_place_of_a_folder_is_set_aside(memory):
    records_are_a_file(memory)
    result = doctor(memory, fix=True)
    assert wrong(result)["places"] == D
    assert memory.paths.records("agent").is_dir()
    assert len(list(memory.paths.root.glob("records/agent.bad-*"))) == 1


def test_the_vectors_of_an_unfinished_run_are_kept_where_they_are_sound(tmp_path):
    memory = Memory(tmp_path / "state")
    damage.build(memory.state)
    sound = memory.paths.partial.read_bytes().splitlines()
    line_damaged(memory.paths.partial, 0)
    assert wrong(doctor(memory))["partial"] == F
    result = doctor(memory, fix=True)
    assert "partial" not in unfixed(result)
    assert len(sound) > 1
    assert wrong(doctor(memory)) == {}


def test_a_folder_that_leads_out_is_told_and_nothing_written_through_it(memory):
    outside = memory.state.with_name("outside")
    memory.paths.records("agent").rename(outside)
    memory.paths.records("agent").symlink_to(outside)
    before = tree(memory.state), tree(outside)
    for fix in (False, True):
        assert doctor(memory, fix=fix).exit_status == 14
        assert (tree(memory.state), tree(outside)) == before


def test_a_broken_agent_does_not_keep_the_others_from_being_repaired(memory):
    other = Memory(memory.state, "two")
    other.add("Another agent's memory")
    for path in other.paths.records("user").iterdir():
        path.chmod(0o644)
    shutil.rmtree(memory.paths.root)
    memory.paths.root.write_text("a file")
    result = doctor(memory, fix=True)
    found = {(c["agent"], c["name"]): c for c in result.data["checks"]}
    assert found["main", "places"]["state"] == D
    assert found["two", "modes"]["fixed"]
    assert memory.paths.root.read_text() == "a file"


def test_one_agent_is_checked_when_it_is_named(memory):
    Memory(memory.state, "two").add("Another agent's memory")
    agents = {c["agent"] for c in doctor(memory, agent="two").data["checks"]}
    assert agents == {None, "two"}
    with pytest.raises(NotFoundError, match="three"):
        doctor(memory, agent="three")


def test_a_state_directory_that_does_not_exist_is_ok_and_not_made(tmp_path):
    memory = Memory(tmp_path / "state")
    for fix in (False, True):
        assert doctor(memory, fix=fix).exit_status == 0
    assert not memory.state.exists()


def test_little_space_is_told(memory, monkeypatch):
    monkeypatch.setattr(checks_state, "SPACE", 1 << 70)
    assert wrong(doctor(memory)) == {"free space": F}


def test_a_lock_that_is_held_names_its_holder_and_is_no_damage(memory):
    memory.paths.writer_lock.write_text("4711 openclaw memory import")
    with memory.paths.writer_lock.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        temporary_left(memory)
        result = doctor(memory)
    assert wrong(result) == {}
    detail = next(c["detail"] for c in result.data["checks"] if c["name"] == "locks")
    assert "writer.lock is held by process 4711 (openclaw memory import)" in detail
    assert "writer.lock is free" in next(
        c["detail"] for c in doctor(memory).data["checks"] if c["name"] == "locks"
    )


def test_a_store_in_use_is_reported_as_not_repaired(memory):
    temporary_left(memory)
    env = memory.service.store.env._replace(lock_timeout=0.0)
    with memory.paths.indexer_lock.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        record_damaged(memory)
        result = examine(env, Request(fix=True))
    assert unfixed(result) == {"records"}
    assert [warning.code for warning in result.warnings] == ["not-fixed"]
    assert result.exit_status == 14


def test_a_model_that_cannot_be_used_is_damage_that_is_left_alone(memory):
    folder = memory.state / "models" / "mine"
    folder.mkdir(parents=True)
    (memory.state / "models").chmod(0o700)
    (folder / "model.json").write_text("{")
    before = tree(folder)
    assert wrong(doctor(memory, fix=True)) == {"models": D}
    assert tree(folder) == before


def test_an_agent_with_a_bad_name_and_names_that_are_not_of_agents(memory):
    (memory.state / "agents" / "bad name").mkdir()
    (memory.state / "agents" / "_shared").mkdir()
    result = doctor(memory, fix=True)
    assert wrong(result) == {"agents": D}
    assert (memory.state / "agents" / "bad name").is_dir()


def test_what_a_writer_is_about_to_finish_is_no_fault(memory):
    times = []

    def check(patient):
        times.append(memory.add(f"Said while it was checked, time {len(times)}"))
        yield judged("passing", "", [Fault("wal.jsonl", f"entry {len(times)}")], F, "#")
        yield judged("lasting", "", [Fault("wal.jsonl", "always")], F, "#")

    assert wrong(doctor(memory, parts=(Part((check,)),))) == {"lasting": F}
    assert len(times) == 2


def test_another_part_of_the_program_adds_its_checks_and_repairs(memory):
    told = []

    def check(patient):
        yield Check("sessions", OK if told else F, patient.agent)

    def repair(patient, faulty):
        told.append([c.name for c in faulty])
        return []

    parts = (MEMORY, Part((check,), repair))
    assert wrong(doctor(memory, parts=parts)) == {"sessions": F}
    result = doctor(memory, fix=True, parts=parts)
    assert (told, unfixed(result)) == ([["sessions"]], set())


# -- where the space went --------------------------------------------------------------------------


def test_the_bytes_by_cause_are_those_of_all_files(memory):
    temporary_left(memory)
    generation_left(memory)
    (memory.paths.generations / "999" / "bm25.idx").write_text("left over")
    memory.path(INDEXED).with_name("mem-x.json.bak").write_text("a backup")
    (memory.paths.root / "trash").mkdir()
    (memory.paths.root / "trash" / "mem-y.json").write_text("in the trash")
    (memory.state / "logs").mkdir()
    (memory.state / "logs" / "crash.log").write_text("of old")
    plain = memory.service.status().data["bytes"]
    found = memory.service.status(by_cause=True).data["bytes"]
    sizes = [p.lstat().st_size for p in memory.paths.root.rglob("*") if is_file(p)]
    assert found["total"] == sum(found[cause] for cause in survey.CAUSES) == sum(sizes)
    assert {name: found[name] for name in ("records", "wal", "vectors")} == {
        name: plain[name] for name in ("records", "wal", "vectors")
    }
    assert found["backups"] == len("a backup")
    assert found["trash"] == len("in the trash")
    assert found["staleGenerations"] == len("left over")
    assert found["temporary"] == 3 * len("half")
    assert found["setAside"] == len('{"insights":[]}\n')
    assert found["logs"] == len("of old")
    assert found["sessions"] == 2 * len("of another program")
    assert 0 < found["history"] < found["records"]


def is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and "index" not in path.parts
