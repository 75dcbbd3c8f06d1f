"""A generation that was built step by step equals one that was built at once."""

from __future__ import annotations

import struct

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_cli.errors import DamagedError
from openclaw_cli.index.file import generation as layout
from openclaw_cli.index.file.base import open_base
from openclaw_cli.index.file.lines import SortedLines, key_of
from openclaw_cli.index.file.snapshot import Snapshot
from openclaw_cli.index.protocol import Where
from tests.index.support import document, paths_in, publish, vector

FILES = (layout.POSTINGS, layout.METADATA, layout.LOOKUP, "vectors.toy.f32")

terms = st.text(min_size=1, max_size=5)
bodies = st.dictionaries(
    st.sampled_from(["zh", "en", "und"]), st.lists(terms, min_size=1, max_size=6), max_size=3
)
steps = st.lists(st.tuples(st.lists(bodies, max_size=5), st.sets(st.integers(0, 20))), max_size=4)


def content(base):
    """Return everything a search can see of a generation, by record id."""
    names = base.metadata.plain("id")
    postings = {}
    for line in base.postings:
        bucket, term, ordinals, frequencies = orjson.loads(line)
        held = sorted(zip((names[n] for n in ordinals), frequencies, strict=True))
        postings[bucket, term] = held
    documents = {}
    for ordinal, name in enumerate(names):
        found = Snapshot(base, {}).document(ordinal)
        lengths = {b: base.metadata.lengths(b)[ordinal] for b in base.metadata.buckets}
        documents[name] = (found, {b: n for b, n in lengths.items() if n})
    return postings, documents, base.postings.buckets


@settings(deadline=None, max_examples=60)
@given(plan=steps)
def test_incremental_building_equals_building_at_once(plan, tmp_path_factory):
    step_by_step = paths_in(tmp_path_factory.mktemp("a"))
    live, number = [], 0
    for added, dropped in plan:
        base, _problem = open_base(step_by_step)
        names = [] if base is None else base.metadata.plain("id")
        dropped = {n for n in dropped if n < len(names)}
        gone = {names[n] for n in dropped}
        fresh = []
        for body in added:
            fresh.append(document(f"r{number}", body, created=number, tags=("t",) * (number % 2)))
            number += 1
        base = publish(step_by_step, fresh, dropped)
        live = [item for item in live if item.id not in gone] + fresh
        at_once = publish(paths_in(tmp_path_factory.mktemp("b")), live)
        assert content(base) == content(at_once)


def test_lines_are_sorted_bytewise_and_every_key_is_found(tmp_path):
    odd = ['"', "\\", '",[', "a", "ab", "a\n", "é", "部", "\x7f", "z" * 700, "\\u0041", "a b"]
    base = publish(paths_in(tmp_path), [document("1", {"en": odd}), document("2", {"zh": odd})])
    base = publish(paths_in(tmp_path), [document("3", {"en": odd})], dropped=[1])
    lines = list(base.postings)
    assert lines == sorted(lines)
    for term in odd:
        assert base.postings.find("en", term) == ([0, 1], [1, 1])
        assert base.postings.find("zh", term) is None
    assert base.postings.find("en", "missing") is None


@given(keys=st.sets(st.text(max_size=4), min_size=1, max_size=40), missing=st.text(max_size=4))
def test_binary_search_finds_what_is_there_and_nothing_else(keys, missing):
    body = b"".join(sorted(key_of("k", key) + b"1]\n" for key in keys))
    lines = SortedLines(b'{"first":1}\n' + body)
    for key in keys:
        assert lines.find(key_of("k", key)) == key_of("k", key) + b"1]"
    if missing not in keys:
        assert lines.find(key_of("k", missing)) is None


def test_vectors_follow_their_documents_through_generations(tmp_path):
    paths = paths_in(tmp_path)
    publish(
        paths,
        [
            document("a", {"en": ["x"]}, vector=vector(1, 0)),
            document("b", {"en": ["x"]}),
            document("c", {"en": ["x"]}, vector=vector(0, 1)),
        ],
    )
    base = publish(paths, [document("d", {"en": ["x"]}, vector=vector(1, 1))], dropped=[0])
    assert [base.metadata.plain("id")[n] for n in base.rows("toy")] == ["c", "d"]
    assert base.matrix("toy").tolist() == [[0, 1], pytest.approx([0.70710678, 0.70710678])]
    assert base.config.spaces["toy"].mean == pytest.approx([0.35355339, 0.85355339])


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_row_that_is_no_vector_leaves_the_next_generation_readable(tmp_path, value):
    paths = paths_in(tmp_path)
    bad = vector(1, 0)._replace(data=struct.pack("<2f", float(value), 0))
    publish(paths, [document("a", {"en": ["x"]}, vector=bad)])
    base = publish(paths, [document("b", {"en": ["x"]}, vector=vector(0, 1))])
    assert base.metadata.plain("id") == ["a", "b"]
    assert base.config.spaces["toy"].mean == (0.0, 0.5)


def test_slots_and_hashes_are_looked_up_in_base_and_newer_documents(tmp_path):
    base = publish(
        paths_in(tmp_path),
        [
            document("a", {"en": ["x"]}, content_hash="h1", key="editor", user="u"),
            document("b", {"en": ["x"]}, content_hash="h1"),
        ],
    )
    newer = {
        "b": None,
        "c": document("c", {}, content_hash="h1", key="editor", user="u", updated=9),
    }
    snapshot = Snapshot(base, newer)
    assert [d.id for d in snapshot.with_hash("h1")] == ["a", "c"]
    assert [d.id for d in snapshot.in_slot("user", "u", "event", "editor")] == ["a", "c"]
    assert snapshot.in_slot("user", None, "event", "editor") == []
    snapshot.advance({"c": None})
    assert [d.id for d in snapshot.with_hash("h1")] == ["a"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Where(), "abcd"),
        (Where(categories=("preference",)), "bd"),
        (Where(users=("u",)), "ab"),
        (Where(tags=("x",)), "ad"),
        (Where(tags=("x", "y")), "d"),
        (Where(languages=("zh",)), "b"),
        (Where(since=20, until=40), "bc"),
        (Where(pending=True), "c"),
        (Where(scopes=("agent",)), "d"),
        (Where(users=("nobody",)), ""),
    ],
)
def test_a_filter_gives_the_same_for_base_and_newer_documents(tmp_path, where, expected):
    held = [
        document("a", {"en": ["x"]}, user="u", tags=("x",), created=10),
        document("b", {"en": ["x"]}, user="u", category="preference", language="zh", created=20),
        document("c", {"en": ["x"]}, pending=True, created=30),
        document("d", {"en": ["x"]}, category="preference", tags=("x", "y"), scope="agent",
                 created=40),
    ]  # fmt: skip
    base = publish(paths_in(tmp_path), held)
    for snapshot in (
        Snapshot(base, {}),
        Snapshot(None, {d.id: d for d in held}),
        Snapshot(base, {d.id: d for d in held[2:]}),
    ):
        mask = snapshot.select(where)
        allowed = [n for n in range(snapshot.count) if mask is None or mask[n]]
        assert "".join(sorted(snapshot.document(n).id for n in allowed)) == expected


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "folder"])
def test_a_damaged_file_is_refused_by_name(tmp_path, name, damage):
    paths = paths_in(tmp_path)
    publish(paths, [document("a", {"en": ["x"]}, vector=vector(1, 0))])
    path = paths.index / name
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(data[:-3])
    elif damage == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    else:
        path.unlink()
        if damage == "folder":
            path.mkdir()
    base, _problem = open_base(paths)
    with pytest.raises(DamagedError) as caught:
        {
            layout.POSTINGS: lambda: base.postings,
            layout.METADATA: lambda: base.metadata,
            layout.LOOKUP: lambda: base.lookup("hash", "h-a"),
        }.get(name, lambda: base.matrix("toy"))()
    assert name in caught.value.message
    assert "openclaw memory index" in (caught.value.hint or "")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"format":1}', b'{"format":2}'])
def test_a_damaged_configuration_makes_the_generation_unusable_with_a_reason(tmp_path, data):
    paths = paths_in(tmp_path)
    publish(paths, [document("a", {"en": ["x"]})])
    (paths.index / layout.CONFIG).write_bytes(data)
    base, problem = open_base(paths)
    assert base is None
    assert problem


def test_an_opened_generation_is_read_whole_after_another_took_its_place(tmp_path):
    paths = paths_in(tmp_path)
    first = publish(paths, [document("a", {"en": ["tea"]}, vector=vector(1, 0))])
    publish(paths, [document("b", {"en": ["coffee"]})])
    assert not first.folder.path.exists()
    assert content(first)[0] == {("en", "tea"): [("a", 1)]}
    assert len(first.matrix("toy")) == 1


def test_a_generation_that_goes_while_it_is_opened_is_opened_anew(tmp_path, monkeypatch):
    paths = paths_in(tmp_path)
    publish(paths, [document("a", {"en": ["tea"]})])
    decode = layout.decode

    def overtaken(data):
        monkeypatch.undo()
        publish(paths, [document("b", {"en": ["coffee"]})])
        return decode(data)

    monkeypatch.setattr(layout, "decode", overtaken)
    base, problem = open_base(paths)
    assert (base.metadata.plain("id"), problem) == (["a", "b"], None)
