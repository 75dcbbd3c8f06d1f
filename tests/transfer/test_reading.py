"""Reading files: documents of any shape piece by piece, gzip, and what is no JSON at all."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.errors import DamagedError, FormatTooOldError, OpenclawError, UsageError
from openclaw_cli.transfer import document
from openclaw_cli.transfer.reading import pieces

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False,
    allow_infinity=False) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(
    st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
records = st.lists(st.dictionaries(st.sampled_from('abc{}[]"\\'), values, max_size=4), max_size=5)


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


class Pipe(io.BytesIO):
    """A stream that cannot go back."""

    def seekable(self):
        return False


def read(data: bytes, stream=io.BytesIO):
    return list(pieces(stream(data), "FILE"))


@given(
    records,
    st.sampled_from([None, 1, 4]),
    st.booleans(),
    st.sampled_from(["first", "last", "none"]),
    st.sampled_from([io.BytesIO, Pipe]),
    st.integers(1, 40),
)
def test_a_document_is_read_as_a_whole_parser_reads_it(rows, indent, ascii_, place, stream, chunk):
    head = {"first": {"version": "2.0"}, "last": {}, "none": {}}[place]
    tail = {"version": "2.0", "count": {"n": [1]}} if place == "last" else {}
    whole = {**head, "agent": "ma{in", "records": rows, **tail}
    data = json.dumps(whole, indent=indent, ensure_ascii=ascii_).encode()
    kept, document._CHUNK = document._CHUNK, chunk  # so that every token is cut somewhere
    try:
        for found in (read(data, stream), read(json.dumps(rows, indent=indent).encode(), stream)):
            assert [piece.value for piece in found] == rows
            assert [piece.number for piece in found] == list(range(1, len(rows) + 1))
    finally:
        document._CHUNK = kept


@given(st.binary(max_size=200) | st.text('{}[]",:\\ \n"records"1tnaf', max_size=60).map(str.encode))
def test_any_bytes_give_pieces_or_a_documented_error(data):
    try:
        found = read(data)
    except OpenclawError:
        return
    assert all(piece.problem is None or piece.value is None for piece in found)


@given(records.filter(bool), st.data())
def test_a_document_that_breaks_off_gives_what_is_whole_and_then_a_problem(rows, data):
    text = json.dumps({"version": "2.0", "records": rows}).encode()
    begin = text.index(b"[") + 2
    found = read(text[: data.draw(st.integers(begin, len(text) - 3))])
    assert found[-1].problem
    assert [piece.value for piece in found[:-1]] == rows[: len(found) - 1]


def test_the_version_counts_wherever_it_stands():
    for text in ('{"version":"1.3","records":[]}', '{"records":[{"id":"a"}],"version":"1.3"}'):
        with pytest.raises(FormatTooOldError) as caught:
            read(text.encode())
        assert caught.value.hint == "run: openclaw memory migrate --from 1.3 --to 2.0 FILE"


def test_a_first_record_of_an_older_format_refuses_the_file_a_later_one_fails_alone():
    old, good = b'{"version":"1.0","id":"a","content":"x"}', b'{"text":"y"}'
    for data in (old + b"\n" + good, b"[" + old + b"]", b'{"records":[' + old + b"]}"):
        with pytest.raises(FormatTooOldError) as caught:
            read(data)
        assert caught.value.hint == "run: openclaw memory migrate --from 1.0 --to 2.0 FILE"
    assert len(read(good + b"\n" + old)) == 2
    assert len(read(b'{"version":"soon","text":"x"}')) == 1


def test_the_command_that_is_named_can_be_pasted_into_a_shell(tmp_path):
    with pytest.raises(FormatTooOldError) as caught:
        list(pieces(io.BytesIO(b'{"version":"1.0","records":[]}'), "my notes; rm x.json"))
    assert caught.value.hint.endswith("--from 1.0 --to 2.0 'my notes; rm x.json'")
    with pytest.raises(FormatTooOldError) as caught:
        list(pieces(io.BytesIO(b'{"version":"1.0","records":[]}'), "-rf.json"))
    assert caught.value.hint.endswith(" ./-rf.json")


@pytest.mark.parametrize("form", ["lines", "document"])
def test_gzip_is_unpacked_whatever_the_name(form):
    rows = [{"text": f"text {n}"} for n in range(5)]
    text = "\n".join(map(json.dumps, rows)) if form == "lines" else json.dumps({"records": rows})
    for stream in (io.BytesIO, Pipe):
        assert [p.value for p in read(packed(text.encode()), stream)] == rows


def test_gzip_that_breaks_off_gives_what_came_before_and_an_error():
    rows = [{"text": f"{n} " + "x" * n} for n in range(20_000)]
    data = packed("\n".join(map(json.dumps, rows)).encode())
    found = []
    with pytest.raises(DamagedError, match="cut off"):
        found.extend(piece.value for piece in pieces(io.BytesIO(data[: len(data) // 2]), "FILE"))
    reader = pieces(io.BytesIO(data[: len(data) // 2]), "FILE")
    assert next(reader).value == rows[0]


@pytest.mark.parametrize(
    ("data", "kind", "hint"),
    [
        (b"PK\x03\x04....", "a ZIP archive", "unpack"),
        (packed(b"PK\x03\x04"), "unpacked, is a ZIP archive", "unpack"),
        (packed(packed(b"{}")), "gzip twice", "unpack"),
        (b"BZh91AY", "bzip2", "unpack"),
        ('{"text":"x"}'.encode("utf-16"), "UTF-16", "iconv"),
        *(('{"text":"x"}'.encode(f"utf-32{end}"), "UTF-32", "iconv") for end in ("", "-le", "-be")),
        ('{"text":"x"}'.encode("utf-16-le"), "UTF-16", "iconv"),
        ('{"text":"x"}'.encode("utf-16-be"), "UTF-16", "iconv"),
        (packed('{"text":"x"}'.encode("utf-16")), "UTF-16", "iconv"),
        (b"\n\n <!doctype html><html>".lstrip(), "HTML", "JSON Lines"),
        (b"SQLite format 3\0", "SQLite", "rows"),
        (b"%PDF-1.7", "PDF", "JSON"),
        (b"id,text\n1,hello\n2,world\n", "a CSV table", "row"),
        (b"\xef\xbb\xbfid;text\n1;hello\n", "a CSV table", "row"),
        (packed(b"id,text\n1,hello\n"), "a CSV table", "row"),
        (b"id\ttext\n1\thello\n", "a table with tabs", "row"),
        (b"# Notes\n\nThe user likes tea\n", "plain text", "statement"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "binary data", "JSON"),
    ],
)
def test_a_file_of_another_kind_is_named_with_what_to_do(data, kind, hint):
    with pytest.raises(UsageError, match=kind) as caught:
        read(data)
    assert hint in caught.value.hint


def test_a_byte_order_mark_is_no_hindrance():
    assert [p.value for p in read(b'\xef\xbb\xbf{"text":"x"}\n')] == [{"text": "x"}]
    assert [p.value for p in read(b'\xef\xbb\xbf{"records":[{"text":"x"}]}')] == [{"text": "x"}]


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf", packed(b"")])
def test_an_empty_file_has_no_records(data):
    assert read(data) == []


@pytest.mark.parametrize("digits", ["18446744073709551616", "-9223372036854775809", "9" * 300])
def test_a_number_that_would_be_rounded_is_refused(digits):
    (piece,) = read(b'{"text":"x","n":%s}' % digits.encode())
    assert piece.problem
    (piece,) = read(b'{"text":"x","n":"%s","m":18446744073709551615}' % digits.encode())
    assert piece.problem is None


@pytest.mark.parametrize("form", ["json", "jsonl", "gz"])
def test_a_large_file_is_read_in_little_memory(tmp_path, form):
    row = {"id": "a", "content": {"l0": "x" * 1000}, "history": [{"content": {"l0": "y"}}]}
    path = tmp_path / "large"
    text = json.dumps(row)
    if form == "jsonl":
        path.write_text(f"{text}\n" * 60_000)
    else:
        data = ('{"version":"2.0","records":[' + ",".join([text] * 60_000) + "]}").encode()
        path.write_bytes(gzip.compress(data, 1) if form == "gz" else data)
    code = (
        "import resource, sys; from openclaw_cli.transfer.reading import pieces\n"
        "start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "with open(sys.argv[1], 'rb') as f: print(sum(1 for _ in pieces(f, 'FILE')))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    count, grown = map(int, done.stdout.split())
    assert count == 60_000
    assert grown * (1 if sys.platform == "darwin" else 1024) < 16 << 20
