"""Histories as they are found: read from both ends, whatever their lines hold."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openclaw_cli.paths import SessionFiles
from openclaw_cli.session import transcript
from openclaw_cli.session.lines import TOO_LONG


def line(idx: int, content: str = "words") -> bytes:
    message = {"idx": idx, "role": "user", "content": content}
    return json.dumps(message, ensure_ascii=False).encode()


@pytest.fixture
def files(tmp_path):
    return SessionFiles(tmp_path)


def read(files: SessionFiles, data: bytes):
    """Return the lines forwards, those backwards, and the tail."""
    files.history.write_bytes(data)
    with transcript.opened(files) as history:
        return list(history.forward()), list(history.backward()), history.tail()


def idxs(lines) -> list[int]:
    return [found.message["idx"] for found in lines if found.message is not None]


GOOD = line(0) + b"\n" + line(1) + b"\n"
DAMAGE = {
    "no JSON": b"{bad",
    "no object": b"[1]",
    "no idx": b'{"role":"user","content":"x"}',
    "idx no number": b'{"idx":"2","content":"x"}',
    "idx below zero": b'{"idx":-1}',
    "idx a truth": b'{"idx":true}',
    "bytes": b"\xff\xfe",
}


@pytest.mark.parametrize("bad", DAMAGE.values(), ids=DAMAGE)
def test_a_bad_line_is_told_with_its_number_and_the_rest_is_read(files, bad):
    forward, backward, tail = read(files, GOOD + bad + b"\n" + line(3) + b"\n")
    assert idxs(forward) == [0, 1, 3]
    assert idxs(backward) == [3, 1, 0]
    assert [(f.number, f.torn) for f in forward if f.problem] == [(3, False)]
    assert (tail.next_idx, tail.torn) == (4, False)


@pytest.mark.parametrize("bad", DAMAGE.values(), ids=DAMAGE)
def test_a_bad_last_line_has_used_up_a_number(files, bad):
    _forward, _backward, tail = read(files, GOOD + bad + b"\n")
    assert (tail.next_idx, len(tail.damage), tail.torn) == (3, 1, False)


def test_line_ends_of_other_systems_and_blank_lines_are_no_damage(files):
    forward, backward, tail = read(files, GOOD.replace(b"\n", b"\r\n") + b"\n\r\n \n" + line(2))
    assert idxs(forward) == [0, 1, 2]
    assert idxs(backward) == [2, 1, 0]
    assert not [found for found in forward if found.problem]
    assert (tail.next_idx, tail.ended, tail.torn) == (3, False, False)


def test_zero_bytes_after_a_power_cut_are_a_torn_tail(files):
    forward, _backward, tail = read(files, GOOD + bytes(5000))
    assert idxs(forward) == [0, 1]
    assert (tail.next_idx, tail.torn, tail.end) == (2, True, len(GOOD))


def test_a_message_after_zero_bytes_is_read_and_told(files):
    forward, backward, tail = read(files, GOOD + bytes(99) + line(2) + b"\n")
    assert idxs(forward) == [0, 1, 2]
    assert idxs(backward) == [2, 1, 0]
    assert [found.problem for found in forward if found.problem] == [
        "zero bytes around the message"
    ]
    assert (tail.next_idx, tail.torn) == (3, False)


def test_a_history_torn_at_any_byte_loses_only_its_last_message(files):
    data = GOOD + line(2, "部署脚本 🚀 done")
    for length in range(len(GOOD) + 1, len(data)):
        forward, backward, tail = read(files, data[:length])
        assert idxs(forward) == idxs(reversed(backward)) == [0, 1], length
        assert (tail.next_idx, tail.end, tail.ended) == (2, len(GOOD), True)
        assert forward[-1].torn
        assert backward[0].torn
    assert idxs(read(files, data)[0]) == [0, 1, 2]


def test_long_lines_are_read_in_any_place(files):
    long = line(1, "长" * 2_000_000)
    data = line(0) + b"\n" + long + b"\n" + line(2) + b"\n"
    forward, backward, _tail = read(files, data)
    assert idxs(forward) == [0, 1, 2]
    assert idxs(backward) == [2, 1, 0]
    assert forward[1].message == backward[1].message
    assert [found.at for found in forward] == [found.at for found in reversed(backward)]


def test_a_line_beyond_the_limit_is_damage_and_is_passed_over(files, monkeypatch):
    monkeypatch.setattr(transcript, "LINE_LIMIT", 100_000)
    data = GOOD + line(2, "x" * 3_000_000) + b"\n" + line(3) + b"\n"
    forward, backward, tail = read(files, data)
    assert idxs(forward) == [0, 1, 3]
    assert idxs(backward) == [3, 1, 0]
    assert [(f.number, f.problem) for f in forward if f.problem] == [(3, TOO_LONG)]
    assert [found.at for found in forward] == [found.at for found in reversed(backward)]
    assert tail.next_idx == 4


def test_an_empty_history_and_none_at_all_begin_at_zero(files):
    assert read(files, b"")[2] == transcript.Tail()
    files.history.unlink()
    with transcript.opened(files) as history:
        assert history is None


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 100])
@pytest.mark.parametrize("packed", [False, True])
def test_the_newest_messages_are_the_last_ones_in_order(files, count, packed):
    data = b"".join(line(n) + b"\n" for n in range(8)) + b"{bad\n"
    if packed:
        import gzip

        files.packed.write_bytes(gzip.compress(data))
    else:
        files.history.write_bytes(data)
    with transcript.opened(files) as history:
        found = idxs(history.newest(count))
    assert found == (list(range(8))[-count:] if count else [])


def test_a_damaged_compressed_history_is_read_as_far_as_it_goes(files):
    import gzip

    data = b"".join(line(n, str(n) * 50) + b"\n" for n in range(5000))
    files.packed.write_bytes(gzip.compress(data)[:-3000])
    with transcript.opened(files) as history:
        lines = list(history.forward())
    assert idxs(lines) == list(range(len(idxs(lines))))
    assert len(idxs(lines)) > 100
    assert "the compressed history is damaged" in (lines[-1].problem or "")


_PIECES = st.sampled_from(
    [line(0), line(7, "中文"), b"{bad", b"", b"\r", bytes(3), b"\xff", b"[]", line(3) + b"\r"]
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(_PIECES, max_size=12), ended=st.booleans(), cut=st.integers(0, 40))
def test_both_directions_see_the_same(files, monkeypatch, pieces, ended, cut):
    monkeypatch.setattr(transcript, "_FIRST_PIECE", 16)
    monkeypatch.setattr(transcript, "_LAST_PIECE", 64)
    data = b"\n".join(pieces) + (b"\n" if ended else b"")
    data = data[: max(0, len(data) - cut)]
    forward, backward, tail = read(files, data)
    seen = [(f.at, f.message, f.problem, f.torn) for f in forward]
    assert seen == [(f.at, f.message, f.problem, f.torn) for f in reversed(backward)]
    assert tail.end == (forward[-1].at if forward and forward[-1].torn else len(data))


SHARED = {
    "two messages": (line(2) + line(3), [2, 3], 4),
    "a torn line with the next glued on": (line(2)[:-4] + line(3), [3], 4),
    "a torn line after a whole one": (line(2) + line(3)[:-4], [2], 4),
    "messages of another writer": (b'{"role":"user","content":"x","idx":2} ' + line(3), [2, 3], 4),
    "zeros": (line(2)[:9] + bytes(7) + line(3), [3], 4),
}


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_whole_messages_in_a_damaged_line_are_found_where_they_are(files, kind, end):
    bad, found, following = SHARED[kind]
    data = GOOD + bad + end
    forward, backward, tail = read(files, data)
    assert idxs(forward) == [0, 1, *found]
    assert idxs(backward) == [0, 1, *found][::-1]
    for each in forward:
        assert data[each.at : each.at + len(each.raw)] == each.raw
    assert {(each.number, each.problem is None) for each in forward} == {
        (1, True),
        (2, True),
        (3, False),
    }
    if not tail.torn:
        assert tail.next_idx == following
    assert tail.ended is (data[: tail.end][-1:] == b"\n")


def test_what_a_text_quotes_is_no_message(files):
    torn = json.dumps({"idx": 2, "role": "user", "content": line(7).decode()}).encode()[:-1]
    forward, _backward, tail = read(files, GOOD + torn + b"\n")
    assert idxs(forward) == [0, 1]
    assert tail.next_idx == 3


def test_lines_that_are_sound_to_others_are_sound(files):
    cut = b'{"idx":0,"role":"user","content":"a \\ud83d \\\\ud83d \\uD83D\\uDE00 \\ude00"}'
    forward, backward, _tail = read(files, b"\xef\xbb\xbf" + cut + b"\r\n" + line(1) + b" \r\n")
    assert [(each.message["idx"], each.problem) for each in forward] == [(0, None), (1, None)]
    assert forward[0].message["content"] == "a \ufffd \\ud83d \U0001f600 \ufffd"
    assert idxs(backward) == [1, 0]


@pytest.mark.parametrize("bad", [b'{"idx":', b'{"idx":1,', b'{"role":"', b'{"idx":1}'])
def test_a_damaged_line_costs_no_more_than_its_length(files, bad):
    before = time.process_time()
    read(files, b"x" + bad * (1 << 17))
    assert time.process_time() - before < 5
