"""Sorted runs, and the files that are made of them: the same whether they fit in memory or not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.errors import StorageError
from openclaw_cli.index.file.lookups import lookup_lines
from openclaw_cli.index.file.postings import PostingsBuilder
from openclaw_cli.index.file.runs import SortedRuns, grouped, line_of
from openclaw_cli.store import fsio

#: What JSON escapes, what sorts before a quote, prefixes of one another, and more than one script.
WORDS = st.text(alphabet='a"\\\n\t !|,z[]部é😀\x7f', min_size=1, max_size=4) | st.sampled_from(
    ["]],[", "a]],[", '",', '","', '"]],["', ","]
)
NOTES = st.lists(st.dictionaries(st.sampled_from(["en", "zh"]), st.lists(WORDS)), max_size=25)


def posting_lines(folder, notes, limit):
    with SortedRuns(folder) as runs:
        builder = PostingsBuilder(runs, limit)
        for ordinal, note in enumerate(notes):
            builder.add(ordinal, {name: dict(Counter(words)) for name, words in note.items()})
        lines = b"".join(builder.take_blocks()).splitlines(keepends=True)
        return lines, len(runs)


@given(NOTES, st.integers(1, 12))
def test_postings_are_the_same_however_often_they_are_put_away(notes, limit):
    with TemporaryDirectory() as folder:
        spilled, _runs = posting_lines(Path(folder), notes, limit)
        whole, runs = posting_lines(Path(folder), notes, 10_000)
    expected: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for ordinal, note in enumerate(notes):
        for bucket, words in note.items():
            for word, count in Counter(words).items():
                expected.setdefault((bucket, word), []).append((ordinal, count))
    lines = [orjson.dumps([*k, *zip(*held, strict=True)]) + b"\n" for k, held in expected.items()]
    assert whole == spilled == sorted(lines)
    assert runs == 0


@given(
    st.lists(st.tuples(st.sampled_from(["hash", "slot"]), WORDS, st.integers(0, 10**6))),
    st.integers(1, 12),
)
def test_lookups_are_the_same_however_often_they_are_put_away(lookups, limit):
    with TemporaryDirectory() as folder, SortedRuns(Path(folder)) as runs:
        lines = list(lookup_lines(lookups, runs, limit))
    expected: dict[tuple[str, str], list[int]] = {}
    for kind, text, ordinal in lookups:
        expected.setdefault((kind, text), []).append(ordinal)
    bodies = [orjson.dumps([*key, sorted(held)]) + b"\n" for key, held in expected.items()]
    assert lines == [b'{"format":2}\n', *sorted(bodies)]


def test_runs_longer_than_what_is_read_at_once_are_merged_whole(tmp_path):
    keys = [b'["%06d",' % number for number in range(40_000)]
    with SortedRuns(tmp_path) as runs:
        runs.spill(line_of(key, 1) for key in keys)
        runs.spill(line_of(key, 2) for key in keys[::7])
        runs.spill(line_of(key, 3) for key in keys[-3:])
        found = {key: [int(place) for place in places] for key, places in grouped(runs.merged())}
    last = set(keys[-3:])
    assert list(found) == keys
    for number, key in enumerate(keys):
        assert found[key] == [1, *([] if number % 7 else [2]), *([3] if key in last else [])]


def test_runs_leave_no_file_behind(tmp_path):
    with SortedRuns(tmp_path) as runs:
        runs.spill([line_of(b'["a",', 1)])
        assert list(tmp_path.iterdir()) == []
        assert list(runs.merged()) == [line_of(b'["a",', 1)]


def test_a_run_that_cannot_be_written_is_told_and_leaves_no_file(tmp_path, monkeypatch):
    def full(_fd, _data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fsio.disk, "write", full)
    with SortedRuns(tmp_path) as runs, pytest.raises(StorageError, match="No space left"):
        runs.spill([line_of(b'["a",', 1)])
    assert list(tmp_path.iterdir()) == []
