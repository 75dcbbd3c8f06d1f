"""No byte of the catalogue crashes a command: a line that cannot be used is as good as none."""

from __future__ import annotations

import json
import os
import random
import zlib

import pytest

from openclaw_cli.session import metadata
from openclaw_cli.session.requests import NewRequest, SearchRequest, SessionListRequest
from openclaw_cli.store import wal
from tests.session.support import Sessions, put, said

#: Bytes that a line is made of, and others.
_BYTES = b'"{}[],:\\0129aftnu \x00\x1f\x7f\x80\xff'


@pytest.fixture(scope="module")
def stocked(tmp_path_factory):
    sessions = Sessions(tmp_path_factory.mktemp("stocked") / "state")
    for number, name in enumerate(("ant", "bee", "cow")):
        sessions.new(name, channel="tg", chat=str(number), title=f"talk {number}", tags=(name,))
        sessions.later(minutes=1)
        sessions.append(name, "needle", said("ho", "assistant", tokens=number, cost=0.25))
    return sessions


@pytest.fixture(scope="module")
def lines(stocked):
    stocked.ensure("tg", "0")
    return [line for line in stocked.paths.catalog.read_bytes().split(b"\n") if line]


@pytest.fixture(scope="module")
def wanted(stocked, lines):
    return stocked.listed()


def agree(sessions, data: bytes, wanted) -> None:
    """Fail unless every command that walks through all sessions says what it would without it."""
    put(sessions.paths.catalog, data)
    assert sessions.listed() == wanted
    for sort in ("created", "messages", "cost"):
        assert len(sessions.listed(sort=sort, filters={"tag": ("ant", "bee", "cow")})) == 3
    assert sessions.service.sweep(dry_run=True).data["changed"] == []
    found = sessions.service.search(SearchRequest("needle")).data["results"]
    assert {row["sessionId"] for row in found} == {"ant", "bee", "cow"}
    assert sessions.service.sweep(dry_run=False).data["changed"] == []
    put(sessions.paths.catalog, data)
    for row in wanted:
        made = sessions.ensure(row["channel"], row["chatId"])
        assert (made["sessionId"], made["created"]) == (row["sessionId"], False)
    assert sessions.listed() == wanted


@pytest.mark.parametrize("at", range(26))
def test_no_byte_at_the_beginning_of_the_newest_line_stops_anything(stocked, lines, wanted, at):
    for byte in _BYTES:
        damaged = bytearray(lines[-1])
        damaged[at] = byte
        agree(stocked, b"\n".join([*lines[:-1], bytes(damaged), b""]), wanted)


@pytest.mark.parametrize("seed", range(12))
def test_mutations_of_all_kinds_stop_nothing(stocked, lines, wanted, seed):
    chance = random.Random(seed)
    for _ in range(25):
        data = bytearray(b"\n".join([*lines, b""]))
        for _ in range(chance.choice((1, 1, 2, 8))):
            at = chance.randrange(len(data))
            kind = chance.randrange(4)
            if kind == 0:
                data[at] = chance.choice(_BYTES)
            elif kind == 1:
                del data[at : at + chance.randrange(1, 40)]
            elif kind == 2:
                data[at:at] = data[chance.randrange(len(data)) :][: chance.randrange(60)]
            else:
                data[at] ^= 1 << chance.randrange(8)
        agree(stocked, bytes(data), wanted)


@pytest.mark.parametrize(
    "meta",
    [
        *([], 5, None, "x", {}, [["a", 1]], {"sessionId": "bee"}),
        *({"lastActiveAt": value} for value in ("x", 5, None, "", "2026-02-30T10:00:00Z")),
        *({"createdAt": value} for value in ("2026-02-03T10:00:00", [], "2026-02-03")),
        *({"status": value} for value in (5, "gone", [], {})),
        *({"runState": value} for value in ("hm", 0.5)),
        *({name: value} for name in ("chatId", "channel", "title") for value in (5, [], {})),
        *({"tags": value} for value in (5, "a", {"a": 1}, [5], [[]], [{}])),
        *({"messageCount": value} for value in (-1, "9", 1.5, True, (1 << 64) - 1)),
        *({"totalCost": value} for value in ("1", -0.5, 1e300, True)),
    ],
    ids=lambda meta: json.dumps(meta)[:40],
)
def test_a_line_with_a_right_crc_and_wrong_values_stops_nothing(stocked, lines, wanted, meta):
    """The values stand for those of the session itself: its file has the stat of the line."""
    stat = metadata.stat_of(os.stat(stocked.files("ant").meta))
    whole = wanted[-1]
    assert whole["sessionId"] == "ant"
    told = {**whole, **meta} if meta and isinstance(meta, dict) else meta
    wrong = wal.encode_line({"id": "ant", "stat": list(stat), "meta": told})
    put(stocked.paths.catalog, b"\n".join([*lines, wrong]))
    assert stocked.listed() == wanted
    assert stocked.listed(sort="cost")
    assert stocked.listed(filters={"tag": ("ant",)})
    assert stocked.listed(filters={"chat": ("0",), "channel": ("tg",)}) == wanted[-1:]
    assert stocked.service.sweep(dry_run=False).data["changed"] == []
    assert len(stocked.service.search(SearchRequest("needle")).data["results"]) == 3
    assert stocked.listed() == wanted


def test_a_line_that_nests_deeper_than_can_be_shown_is_not_believed(stocked, lines, wanted):
    stat = metadata.stat_of(os.stat(stocked.files("ant").meta))
    body = b'{"id":"ant","stat":%s,"meta":{"overrides":%s,"status":"active","createdAt":"%s",' % (
        json.dumps(stat).replace(" ", "").encode(),
        b"[" * 300 + b"]" * 300,
        wanted[-1]["createdAt"].encode(),
    )
    body += b'"lastActiveAt":"2026-02-20T10:00:00Z"}}'
    line = b'{"crc":"%08x",%s\n' % (zlib.crc32(body), body[1:])
    put(stocked.paths.catalog, b"\n".join([*lines, line]))
    assert stocked.listed() == wanted


def test_a_folder_in_place_of_the_catalogue_stops_nothing(sessions):
    sessions.new("ant", channel="tg", chat="1")
    sessions.paths.catalog.unlink()
    sessions.paths.catalog.mkdir()
    sessions.append("ant", "hi")
    sessions.service.rename("ant", "new")
    result = sessions.service.list(SessionListRequest())
    assert [row["title"] for row in result.data["items"]] == ["new"]
    assert [warning.code for warning in result.warnings] == ["catalog-blocked"]
    made = sessions.service.ensure(NewRequest(channel="tg", chat="1")).data
    assert (made["sessionId"], made["created"], made["messageCount"]) == ("ant", False, 1)
    sessions.paths.catalog.rmdir()
    assert sessions.listed()[0]["messageCount"] == 1
