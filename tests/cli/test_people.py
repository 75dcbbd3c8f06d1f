"""What people see on terminals of any width, in any script: tables, times, the pager."""

from __future__ import annotations

import re
import shutil
import stat

import pytest

from openclaw_cli.cli.cells import display_width, shorten, wrap
from openclaw_cli.cli.view import View
from tests.cli.test_terminal import on_terminal

TEXTS = [
    "用户住在北京海淀区，养了一只叫豆豆的猫，每天早上七点都要喂它，然后骑车去公司上班，路上大约需要四十分钟",
    "المستخدم يحب القهوة العربية في الصباح ويكره الشاي الأخضر جدا لأن طعمه مر بالنسبة له",
    "👩\u200d👩\u200d👧 family trip 🏖\ufe0f was great 🇩🇪🇫🇷 👍🏽 👍🏽 and home by train 🚂",
    "Averyveryverylongwordwithoutanyspace" * 4,
    "สวัสดีครับ ผมชอบกินข้าวผัด नमस्ते दुनिया, e\u0301 n\u0303",
]
OWNERS = ["u1", "用户名很长很长很长", "مستخدم"]
COMMANDS = [
    "memory list",
    "memory list --verbose",
    "memory search 用户 --mode lexical --explain",
    "memory get mem-0-aaaabbbb mem-2-aaaabbbb",
    "memory history mem-0-aaaabbbb",
    "memory status",
    "memory delete --user u1 --dry-run",
    "memory purge --user u1 --dry-run",
    "session list",
    "session list --verbose",
    "session show s-0-aaaabbbb",
    "session tail s-0-aaaabbbb",
    "session sweep --dry-run --now 2027-03-01",
    "session trash list",
    "session verify",
    "session rename s-1-aaaabbbb 用户住在北京海淀区，养了一只叫豆豆的猫",
    "session tag s-1-aaaabbbb --add 用户住在北京海淀区的标签",
    "session delete s-0-aaaabbbb s-1-aaaabbbb --dry-run",
    "model list",
    "config show --origin",
    "config schema",
    "config validate",
    "schema",
]
NOW = ["--now", "2026-12-01T12:00:00Z"]
_COLOUR = re.compile(r"\x1b\[\d*m")


@pytest.fixture
def stored(run_cli):
    """Memories and sessions in several scripts."""
    for number, text in enumerate(TEXTS):
        owner = ["--user", OWNERS[number % 3]]
        moment = ["--now", f"2026-11-2{number}T10:00:00Z"]
        record = ["--id", f"mem-{number}-aaaabbbb", "--no-embed", *owner]
        assert run_cli("memory", "add", text, *record, *moment).status == 0
        about = ["--title", text, "--channel", "微信频道", "--chat", f"家庭群{number}"]
        session = f"s-{number}-aaaabbbb"
        assert run_cli("session", "new", "--id", session, *about, *moment).status == 0
        said = ["--role", "user", "--content", text, *moment]
        assert run_cli("session", "append", session, *said).status == 0
    run_cli("memory", "edit", "mem-0-aaaabbbb", "--l0", "用户住在上海", "--no-embed", *NOW)
    run_cli("session", "delete", "s-4-aaaabbbb", "--yes")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_every_line_fits_the_terminal_in_any_script(stored, columns):
    for line in COMMANDS:
        now = [] if "--now" in line else NOW
        shown = _COLOUR.sub("", on_terminal(*line.split(), *now, columns=columns, PAGER=""))
        rows = shown.splitlines()
        assert rows, line
        assert [row for row in rows if display_width(row) > columns] == [], line


def test_elsewhere_the_output_is_that_of_a_wide_terminal_without_colour(stored, run_cli):
    for line in COMMANDS:
        now = [] if "--now" in line else NOW
        piped = run_cli(*line.split(), *now).out
        shown = _COLOUR.sub("", on_terminal(*line.split(), *now, columns=2000, PAGER=""))
        shown = shown.replace("\u200e", "")
        # Only how long a search took may differ.
        assert [row for row in shown.splitlines() if row not in piped.splitlines()] in (
            [],
            [row for row in shown.splitlines() if row.startswith("time ")],
        ), line


def test_an_id_can_be_used_as_it_is_shown_however_narrow_the_terminal(stored, run_cli):
    for command in ("memory list", "session list"):
        shown = _COLOUR.sub("", on_terminal(*command.split(), *NOW, columns=40))
        assert shown.count("aaaabbbb") in (4, 5), shown


def test_where_columns_do_not_fit_a_row_takes_several_lines():
    heads = ("ID", "LAST ACTIVE", "STATUS", "CHANNEL", "CHAT", "MESSAGES", "TITLE")
    rows = [("fe61333d", "12 days ago", "active", "telegram", "家庭群0", "8", "用户住在北京")]
    assert list(View(width=40).table(heads, rows)) == [
        "ID        LAST ACTIVE  STATUS  CHANNEL",
        "  CHAT     MESSAGES",
        "  TITLE",
        "fe61333d  12 days ago  active  telegram",
        "  家庭群0  8",
        "  用户住在北京",
    ]


def test_a_cell_that_runs_to_the_left_does_not_carry_its_neighbours_along():
    rows = [("مستخدم", "x"), ("user", "y")]
    marked = list(View(width=60).table(("OWNER", "TEXT"), rows))
    assert marked[1] == "مستخدم\u200e  x"
    assert marked[2] == "user    y"
    assert list(View().table(("OWNER", "TEXT"), rows))[1] == "مستخدم  x"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("👩\u200d🚀👩\u200d🚀", 6, "👩\u200d🚀…"),
        ("👩\u200d🚀", 3, "…"),
        ("👍🏽👍🏽", 7, "👍🏽…"),
        ("🇩🇪🇫🇷🇪🇸", 4, "🇩🇪…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("中文字", 5, "中文…"),
        ("中文字", 4, "中…"),
    ],
)
def test_what_people_see_as_one_character_is_not_cut(text, width, shown):
    assert shorten(text, width) == shown


def test_a_line_begins_with_no_closing_sign():
    assert list(wrap("用户喜欢，喝咖啡。", 8)) == ["用户喜", "欢，喝咖", "啡。"]
    assert list(wrap("用早，，，", 6)) == ["用", "早，，", "，"]
    assert list(wrap("a早，，，", 7)) == ["a早，，", "，"]


@pytest.mark.parametrize(
    ("now", "shown"),
    [
        ("2026-03-01T12:00:30Z", "just now"),
        ("2026-03-01T12:01:00Z", "1 min ago"),
        ("2026-03-01T14:59:00Z", "2 h ago"),
        ("2026-03-02T12:00:00Z", "1 day ago"),
        ("2026-03-04T12:00:00Z", "3 days ago"),
        ("2026-05-01T12:00:00Z", "2 months ago"),
        ("2028-03-01T12:00:00Z", "2 years ago"),
        ("2026-02-01T12:00:00Z", "2026-03-01"),
    ],
)
def test_lists_tell_how_long_ago_and_verbose_ones_when(run_cli, now, shown):
    run_cli("memory", "add", "tea", "--no-embed", "--now", "2026-03-01T12:00:00Z")
    found = {
        "list": run_cli("memory", "list", "--now", now).out,
        "search": run_cli("memory", "search", "tea", "--mode", "lexical", "--now", now).out,
    }
    assert all(shown in out for out in found.values()), found
    exact = run_cli("memory", "list", "--verbose", "--now", now).out
    assert "2026-03-01 12:00" in exact
    data = run_cli("memory", "list", "--json", "--now", now).data
    assert data["items"][0]["createdAt"] == "2026-03-01T12:00:00Z"


PAGED = ["memory get tea", "memory history tea", "session tail s-1", "session show s-1"]


@pytest.fixture
def pager(tmp_path):
    """A pager that says so, and shows what it is given."""
    program = tmp_path / "my pager"
    program.write_text("#!/bin/sh\necho PAGED; cat\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"'{program}'"


@pytest.fixture
def long_texts(run_cli):
    """A memory and a session that are longer than a terminal of 24 lines."""
    text = "\n".join(f"line {number}" for number in range(40))
    run_cli("memory", "add", text, "--id", "tea", "--no-embed")
    run_cli("memory", "edit", "tea", "--l2", text + "\nmore", "--no-embed")
    run_cli("memory", "edit", "tea", "--l2", "short", "--no-embed")
    run_cli("session", "new", "--id", "s-1", "--title", "word " * 200)
    run_cli("session", "append", "s-1", "--role", "user", "--content", text)


@pytest.mark.parametrize("line", PAGED)
def test_a_long_text_goes_through_the_pager_of_the_operator(long_texts, pager, run_cli, line):
    shown = on_terminal(*line.split(), columns=40, PAGER=pager)
    assert shown.startswith("PAGED\n")
    assert shown.count("PAGED") == 1
    plain = on_terminal(*line.split(), columns=40, PAGER="")
    assert shown.removeprefix("PAGED\n") == plain
    assert "PAGED" not in run_cli(*line.split(), env={"PAGER": pager}).out


@pytest.mark.parametrize("more", [["--quiet"], ["--json"]])
@pytest.mark.parametrize("line", PAGED)
def test_nothing_is_paged_that_is_quiet_or_for_scripts(long_texts, pager, line, more):
    assert "PAGED" not in on_terminal(*line.split(), *more, columns=40, PAGER=pager)


def test_what_fits_the_terminal_is_not_paged(run_cli, pager):
    run_cli("memory", "add", "short", "--id", "tea", "--no-embed")
    assert "PAGED" not in on_terminal("memory", "get", "tea", PAGER=pager)


@pytest.mark.parametrize(
    "program",
    ["/no/such/pager", "'", "", "false", "sh -c 'exit 3'", "env /no/such", "sh -c 'kill -9 $$'"],
)
def test_without_a_pager_that_can_be_run_the_text_is_shown(long_texts, program):
    shown = on_terminal("memory", "get", "tea", PAGER=program)
    assert shown.endswith(on_terminal("memory", "get", "tea", PAGER=""))
    assert "line 39" in shown


def test_a_long_text_is_shown_on_when_the_pager_fails_on_the_way(long_texts, run_cli):
    for number in range(3):
        text = f"x{number}\n" * 60_000
        run_cli("memory", "add", "-", "--id", f"m-{number}", "--no-embed", stdin=text)
    ids = ["memory", "get", "m-0", "m-1", "m-2"]
    shown = on_terminal(*ids, PAGER="sh -c 'head -n 1 >/dev/null; exit 3'")
    assert shown == on_terminal(*ids, PAGER="")


@pytest.mark.skipif(shutil.which("less") is None, reason="no less on this system")
@pytest.mark.parametrize("given", [None, "-S", "FX"])
@pytest.mark.parametrize("program", ["less", "less -F", "less -S", "env less", "sh -c less"])
def test_less_shows_colours_whatever_its_options_are(long_texts, program, given):
    env = {} if given is None else {"LESS": given}
    shown = on_terminal("memory", "get", "tea", typed="q", PAGER=program, **env)
    assert "\x1b[2m" in shown
    assert "ESC" not in shown


def test_a_pager_that_is_left_early_is_no_failure(run_cli, tmp_path):
    for number in range(3):
        text = f"x{number}\n" * 60_000
        run_cli("memory", "add", "-", "--id", f"m-{number}", "--no-embed", stdin=text)
    code = (
        "import sys, openclaw_cli.__main__ as m;"
        "sys.argv = ['openclaw', 'memory', 'get', 'm-0', 'm-1', 'm-2'];"
        "print('ENDED', m.main())"
    )
    assert on_terminal(code=code, PAGER="head -n 1").endswith("ENDED 0\n")


@pytest.mark.parametrize("line", ["session delete s-1", "session trash empty", "memory delete tea"])
def test_a_question_begins_like_a_sentence_and_keeps_its_line(run_cli, line):
    run_cli("memory", "add", "short", "--id", "tea", "--no-embed")
    for name in ("s-1", "s-2"):
        run_cli("session", "new", "--id", name)
    run_cli("session", "delete", "s-2", "--yes")
    shown = on_terminal(*line.split(), columns=100, typed="\x04")
    question = next(row for row in shown.splitlines() if row.rstrip().endswith("[y/N]"))
    assert question[0].isupper()
    assert "openclaw: error: nothing was changed" in shown.splitlines()
