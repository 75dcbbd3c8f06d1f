"""A forgotten text or id is found in every form it has on disk; nothing else is taken for it."""

from __future__ import annotations

import gzip
import json
import os
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.store import traces
from openclaw_cli.store.traces import Traces

TEXT = '记住：他说"从不/永远"\n然后 left 😀'
IDS = ("mem-0192aaaa-bbbb", "m1")

FORMS = {
    "raw": lambda text: text.encode(),
    "JSON": lambda text: json.dumps({"a": text}, ensure_ascii=False).encode(),
    "ASCII JSON": lambda text: json.dumps([text]).encode(),
    "capital escapes": lambda text: _capital(json.dumps(text)).encode(),
    "escaped slashes": lambda text: json.dumps(text).replace("/", "\\/").encode(),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)).encode(),
    "everything escaped": lambda text: "".join(
        f"\\u{unit:04X}"
        for unit in struct.unpack(
            f">{len(text.encode('utf-16-be')) // 2}H", text.encode("utf-16-be")
        )
    ).encode(),
    "mixed in JSON": lambda text: json.dumps(json.dumps(text, ensure_ascii=False)).encode(),
    "other line ends": lambda text: text.replace("\n", "\r\n").encode(),
    "plain JSON in JSON": lambda text: json.dumps(
        json.dumps(text, ensure_ascii=False), ensure_ascii=False
    ).encode(),
}


def _capital(text: str) -> str:
    return "".join(
        part[:4].upper() + part[4:] if place else part
        for place, part in enumerate(text.replace("\\u", "\0\\u").split("\\u"))
    ).replace("\0", "\\u")


@pytest.mark.parametrize("text", ["00000\r\n0", "a\rb\r\nc\nd\\n", "C:\\new\\table"])
@pytest.mark.parametrize("form", [form for form in FORMS if form != "other line ends"])
def test_line_ends_and_backslashes_are_found_in_any_form(form, text):
    assert Traces((), [text]).count(b"x" + FORMS[form](text)) >= 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("around", [0, 10_000], ids=["small", "large"])
def test_a_text_is_found_in_any_form(form, around):
    data = FORMS[form](TEXT)
    padding = os.urandom(around)
    assert Traces((), [TEXT]).count(padding + data + padding) == 1
    assert Traces((), [TEXT]).count(padding + FORMS[form]("记住：他说别的") + padding) == 0


@given(st.text(min_size=8, max_size=500), st.integers(0, 40), st.sampled_from(sorted(FORMS)))
def test_any_text_is_found_anywhere(text, before, form):
    if len(text.strip()) < 8 or any(0xD800 <= ord(c) < 0xE000 for c in text):
        return
    assert Traces((), [text]).count(b"x" * before + FORMS[form](text)) >= 1


def test_a_text_that_begins_alike_is_another_text():
    text = "".join(random.Random(1).choices("abcdefghij 一二三四", k=3000))
    sought = Traces((), [text, text[:200] + "x", text + "y"])
    assert sought.count(f"{text[:-1]}-{text[:200]}".encode()) == 0
    assert sought.count(f"{text}-{text[:200]}x".encode()) == 2


def test_a_text_of_fewer_than_eight_characters_is_nobodys():
    assert Traces((), ["我喜欢", "  short "]).count("我喜欢 short".encode()) == 0


@pytest.mark.parametrize("text", ["我喜欢茶", "コーヒー", "커피좋아", "张三对花生过敏", "茶100%が"])
@pytest.mark.parametrize("form", FORMS)
def test_a_text_of_four_characters_of_a_dense_script_is_looked_for(form, text):
    dense = len(text) * 2 - sum(character.isascii() for character in text)
    assert Traces((), [text]).count(b"x" + FORMS[form](text)) == (dense >= 8)


@pytest.mark.parametrize(
    "place",
    ['{"id":"%s"}', "record %s: damaged", "records/%s.json", "%s.json.bad-1", "said\\n%s", "(%s)",
     "\\u4e2d%s", "%s"],
)  # fmt: skip
def test_an_id_is_found_where_it_stands(place):
    assert Traces([IDS[0]], ()).count((place % IDS[0]).encode()) == 1


@pytest.mark.parametrize("place", ['"%s"', "'%s'", "x/%s.json"])
def test_a_short_id_is_found_where_it_is_an_id(place):
    assert Traces([IDS[1]], ()).count((place % IDS[1]).encode()) == 1


@pytest.mark.parametrize(
    "other",
    [
        "mem-0192aaaa-bbbbc",
        "xmem-0192aaaa-bbbb",
        "the m1 motor",
        "m12",
        '"m1x"',
        "m1",
        "mem-0192aaaa-bbbb.b",
        "mem-0192aaaa-bbbb-2",
    ],
)
def test_what_only_holds_an_id_is_not_taken_for_it(other):
    data = f"about {other} and more".encode()
    assert Traces(IDS, ()).count(data) == 0


def test_the_user_is_found_by_the_field_and_not_by_the_name():
    sought = Traces((), (), '用户"1')
    assert sought.count(json.dumps({"userId": '用户"1'}).encode()) == 1
    assert sought.count(json.dumps({"userId": '用户"1'}, ensure_ascii=False).encode()) == 1
    assert sought.count(json.dumps(json.dumps({"userId": '用户"1'})).encode()) == 1
    assert sought.count(json.dumps({"userId": '用户"12', "text": '用户"1'}).encode()) == 0


def test_files_of_any_kind_and_depth_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(traces, "_BLOCK", 1000)
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    noise = os.urandom(1990)
    (deep / "plain").write_bytes(noise + TEXT.encode() + noise)
    packed = gzip.compress(noise) + gzip.compress(noise[:-5] + TEXT.encode() + noise)
    (deep / "packed.gz").write_bytes(packed)
    (tmp_path / f"{IDS[0]}.json").write_bytes(b"")
    (tmp_path / IDS[0]).mkdir()
    (tmp_path / "link").symlink_to(f"somewhere/{IDS[0]}")
    (tmp_path / "clean").write_bytes(noise)
    found = {item.path.name: item for item in Traces(IDS, [TEXT]).below(tmp_path)}
    assert {name for name, item in found.items() if item.matches} == {
        "plain", "packed.gz", f"{IDS[0]}.json", IDS[0], "link"
    }  # fmt: skip
    assert found["plain"].size == (deep / "plain").stat().st_size
    assert found["packed.gz"].size == len(packed)


def test_a_file_that_cannot_be_read_through_is_told(tmp_path):
    (tmp_path / "cut.gz").write_bytes(gzip.compress(os.urandom(5000))[:-3000] + b"garbage")
    os.mkfifo(tmp_path / "pipe")
    found = {item.path.name: item.problem for item in Traces(IDS, [TEXT]).below(tmp_path)}
    assert found["pipe"] == "not a regular file"
