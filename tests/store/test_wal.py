"""The log: what was appended is read back, and damage never hides what is sound."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.store import wal

records = st.dictionaries(st.text(max_size=8), st.text(max_size=20) | st.integers(-9, 9))
names = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
entries = st.lists(
    st.tuples(st.sampled_from(["put", "delete"]), names, records),
    max_size=12,
)


def made(drawn):
    return [
        wal.Entry(seq, op, "user", name, record if op == "put" else None, None)
        for seq, (op, name, record) in enumerate(drawn, 1)
    ]


def log_bytes(items, base=0):
    return wal.header(base) + b"".join(map(wal.encode_entry, items))


def read_bytes(tmp_path, data):
    path = tmp_path / "wal.jsonl"
    path.write_bytes(data)
    return wal.read(path)


@given(drawn=entries)
def test_entries_come_back_as_they_were(drawn, tmp_path_factory):
    items = made(drawn)
    log = read_bytes(tmp_path_factory.mktemp("wal"), log_bytes(items))
    assert list(log.entries) == items
    assert not log.damaged
    assert not log.torn


@given(drawn=entries, cut=st.integers(min_value=1, max_value=400))
def test_a_cut_log_loses_the_torn_line_alone(drawn, cut, tmp_path_factory):
    items = made(drawn)
    whole = log_bytes(items)
    kept = whole[: max(0, len(whole) - cut)]
    log = read_bytes(tmp_path_factory.mktemp("wal"), kept)
    complete = kept.count(b"\n") - 1
    assert list(log.entries) == items[: max(0, complete)]
    assert log.size + log.torn == len(kept)
    assert not log.damaged


@given(drawn=entries.filter(bool), data=st.data())
def test_a_flipped_bit_costs_its_own_line_alone(drawn, data, tmp_path_factory):
    items = made(drawn)
    lines = log_bytes(items).split(b"\n")[:-1]
    victim = data.draw(st.integers(1, len(lines) - 1))
    line = bytearray(lines[victim])
    position = data.draw(st.integers(0, len(line) - 1))
    line[position] ^= 1 << data.draw(st.integers(0, 6))
    if b"\n" in line:
        return
    lines[victim] = bytes(line)
    log = read_bytes(tmp_path_factory.mktemp("wal"), b"\n".join(lines) + b"\n")
    survivors = [item for number, item in enumerate(items, 1) if number != victim]
    assert [number for number, _reason in log.damaged.named] == [victim + 1]
    assert list(log.entries) == survivors


@given(junk=st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(junk, tmp_path_factory):
    log = read_bytes(tmp_path_factory.mktemp("wal"), junk)
    assert log.size + log.torn == len(junk)


def test_cutting_keeps_later_entries_and_remembers_how_far_it_went(tmp_path):
    path = tmp_path / "wal.jsonl"
    items = made([("put", f"r{n}", {"n": n}) for n in range(5)])
    wal.append(path, wal.Wal(), items)
    wal.keep_after(path, wal.read(path), 3)
    log = wal.read(path)
    assert log.base == 3
    assert [entry.seq for entry in log.entries] == [4, 5]
    wal.keep_after(path, wal.read(path), 5)
    assert (wal.read(path).last_seq, wal.read(path).entries) == (5, ())


def test_reading_on_gives_what_reading_anew_gives(tmp_path):
    path = tmp_path / "wal.jsonl"
    items = made([("put", f"r{n}", {"n": n}) for n in range(6)])
    wal.append(path, wal.Wal(), items[:2])
    first = wal.read(path)
    wal.append(path, first, items[2:])
    with open(path, "ab") as log:
        log.write(b"damage\n")
    assert wal.read(path, first) == wal.read(path)
    wal.keep_after(path, wal.read(path), 4)
    assert wal.read(path, first) == wal.read(path)


def test_an_entry_of_an_older_sequence_is_damage_not_data(tmp_path):
    items = made([("put", "a", {}), ("put", "b", {})])
    log = read_bytes(tmp_path, log_bytes([items[1], items[0]]))
    assert [entry.record_id for entry in log.entries] == ["b"]
    assert log.damaged.total == 1
