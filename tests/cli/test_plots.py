"""Charts in the terminal and in files: ``memory status --plot``, ``session usage --plot``."""

from __future__ import annotations

import json
import os
import re
import stat
import struct
import subprocess
import sys
from datetime import date, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openclaw_cli.cli.cells import display_width
from openclaw_cli.cli.charts import MOST, Bar, Chart, drawn_bars, largest, over_time
from openclaw_cli.cli.pictures import save
from openclaw_cli.cli.view import View
from tests.cli.test_terminal import on_terminal

NOW = ["--now", "2026-03-10T00:00:00Z"]
RECORDS = [
    ("2025-11-30T23:59:59Z", "lesson"),
    ("2025-12-01T00:00:00Z", "lesson"),
    ("2026-02-20T00:00:00Z", "event"),
    ("2026-02-21T00:00:00Z", "event"),
    ("2026-03-09T00:00:00Z", "event"),
    ("2026-03-10T00:00:00Z", "preference"),
]
CHARTS = """\
memories by category
event       ██████████████████████████████████████████████████████████████████ 3
lesson      ████████████████████████████████████████████ 2
preference  ██████████████████████ 1

memories by month of creation
2025-11  ██████████████████████████████████▌ 1
2025-12  ██████████████████████████████████▌ 1
2026-01  0
2026-02  █████████████████████████████████████████████████████████████████████ 2
2026-03  █████████████████████████████████████████████████████████████████████ 2

memories by retrievability
0.0-0.1  0
0.1-0.2  0
0.2-0.3  0
0.3-0.4  0
0.4-0.5  0
0.5-0.6  0
0.6-0.7  0
0.7-0.8  0
0.8-0.9  █████████████████████████████████████████████████████████████████████ 4
0.9-1.0  ██████████████████████████████████▌ 2
"""
ODD = ["通义千问-max", "$m_x^{\\frac", "a\nb\x1b[31m", "مستخدم", "👩\u200d🚀 rocket", "x" * 200]


@pytest.fixture
def stored(run_cli):
    """Records of three categories: some indexed, some in the log, some deleted again."""
    for number, (moment, category) in enumerate(RECORDS):
        words = ["--id", f"mem-{number}", "--category", category, "--no-embed", "--now", moment]
        assert run_cli("memory", "add", f"text {number}", *words).status == 0
        if number == 3:
            for gone in ("gone-1", "gone-2"):
                run_cli("memory", "add", gone, "--id", gone, "--no-embed", *NOW)
            assert run_cli("memory", "index", "--no-embed").status == 0
            assert run_cli("memory", "delete", "gone-1", "--yes").status == 0
    assert run_cli("memory", "delete", "gone-2", "--yes").status == 0


@pytest.fixture
def used(run_cli, state_dir):
    """A ledger of two days, of models with any kind of name, one of them with a price."""
    run_cli("session", "new", "--id", "s-1")
    for number, model in enumerate([*ODD, None]):
        turn = {
            "SessionId": f"session-{number:08}",
            "InputTokens": 700 + number,
            "OutputTokens": 200,
            "CacheReadTokens": 100,
            "TimestampUtc": f"2026-03-0{1 + 2 * (number > 3)}T00:00:00Z",
        }
        if model:
            turn |= {"ModelId": model, "ChannelId": "微信频道"}
        done = run_cli("session", "usage", "--record", stdin=json.dumps(turn))
        assert done.status == 0, done
    prices = json.dumps({"session": {"prices": {ODD[0]: {"input": 1000}}}})
    (state_dir / "openclaw.json").write_text(prices)


def test_memories_are_drawn_by_category_month_and_retrievability(stored, run_cli):
    run = run_cli("memory", "status", "--plot", "-q", *NOW)
    assert (run.status, run.err) == (0, "")
    assert run.out == CHARTS
    status = run_cli("memory", "status", *NOW).out
    assert run_cli("memory", "status", "--plot", *NOW).out == f"{status}\n{CHARTS}"


def test_the_figures_are_those_of_the_live_records_with_and_without_an_index(
    stored, run_cli, state_dir
):
    data = run_cli("memory", "status", "--plot", "--json", *NOW).data
    assert data["charts"]["month"] == [
        {"key": "2025-11", "records": 1},
        {"key": "2025-12", "records": 1},
        {"key": "2026-02", "records": 2},
        {"key": "2026-03", "records": 2},
    ]
    assert [bar["key"] for bar in data["charts"]["category"]] == ["event", "lesson", "preference"]
    assert {sum(bar["records"] for bar in bars) for bars in data["charts"].values()} == {6}
    listed = run_cli("memory", "list", "--json", *NOW).data["items"]
    classes = [0] * 10
    for item in listed:
        classes[min(9, int(item["retrievability"] * 10))] += 1
    assert [bar["records"] for bar in data["charts"]["retrievability"]] == classes
    (state_dir / "agents" / "main" / "memory" / "index").unlink()
    assert run_cli("memory", "status", "--plot", "--json", *NOW).data["charts"] == data["charts"]
    assert "charts" not in run_cli("memory", "status", "--json").data


def test_a_store_without_records_and_a_ledger_without_turns_are_drawn_too(
    run_cli, stored, used, tmp_path
):
    run_cli("memory", "delete", "--category", "event", "--yes")
    run_cli("memory", "delete", "--category", "lesson", "--yes")
    run_cli("memory", "delete", "--category", "preference", "--yes")
    shown = run_cli("memory", "status", "--plot", "-q").out
    assert shown.count("nothing to draw") == 2
    later = ["--since", "2099-01-01"]
    assert "nothing to draw" in run_cli("session", "usage", "--plot", *later).out
    for line in (["memory", "status"], ["session", "usage", *later]):
        run = run_cli(*line, "--plot", tmp_path / f"{line[0]}.png", "--json")
        assert (run.status, run.err) == (0, "")


def test_all_agents_have_charts_of_their_own(stored, run_cli):
    run_cli("memory", "add", "x", "--agent", "other", "--no-embed", *NOW)
    shown = run_cli("memory", "status", "--plot", "--all-agents", *NOW).out
    assert shown.count("memories by category") == 2
    agents = run_cli("memory", "status", "--plot", "--all-agents", "--json", *NOW).data["agents"]
    assert [len(agent["charts"]["month"]) for agent in agents] == [4, 1]


@pytest.mark.parametrize(
    "args", [["--plot"], ["--plot", "-"], ["--plot=-"], ["--plot", "--bytes"], ["--json", "--plot"]]
)
def test_without_a_file_the_option_draws_where_it_is(stored, run_cli, args):
    run = run_cli("memory", "status", *args, *NOW)
    assert run.status == 0
    assert "charts" in run.data if "--json" in args else CHARTS in run.out


@pytest.mark.parametrize("args", [["--plot", "{}"], ["--plot={}"], ["--json", "--plot", "{}"]])
def test_with_a_file_the_option_draws_there(stored, run_cli, tmp_path, args):
    path = tmp_path / "chart.SVG"
    run = run_cli("memory", "status", *(word.format(path) for word in args), *NOW)
    assert run.status == 0
    assert "█" not in run.out
    assert path.read_bytes().startswith(b"<?xml")
    if "--json" in args:
        assert run.data["plot"]["path"] == str(path)
        assert run.data["plot"]["bytes"] == path.stat().st_size
    else:
        assert run.out.splitlines()[-1].startswith(f"drew {path} (")


def test_tokens_and_costs_are_drawn_by_anything(used, run_cli):
    days = run_cli("session", "usage", "--plot", "-q").out.splitlines()
    assert days[:2] == ["tokens by day", "█ input  ▓ output  ▒ cache read  ░ cache write"]
    assert [line.split()[0] for line in days[2:5]] == ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert re.fullmatch(r"2026-03-01  █+▓+▒+ 4,006", days[2])
    assert days[3] == "2026-03-02  0"
    assert days[6] == "cost by day, without 6 turns of no known price"
    assert days[7].endswith("█ 0.7000")
    models = run_cli("session", "usage", "--by", "model", "--plot").out
    assert "\x1b" not in models
    assert "\ntokens by model\n" in models
    channels = run_cli("session", "usage", "--by", "channel", "--plot", "-q").out.splitlines()
    assert channels[2].startswith("微信频道  █")
    assert channels[3].startswith("(none)    █")
    data = run_cli("session", "usage", "--by", "model", "--plot", "--json").data
    assert data["charts"]["cost"] == [{"key": ODD[0], "cost": 0.7}]
    totals = [bar["inputTokens"] for bar in data["charts"]["tokens"]]
    assert totals == sorted(totals, reverse=True)
    assert "charts" not in run_cli("session", "usage", "--json").data


def test_days_have_a_bar_each_without_the_option_as_well(used, run_cli):
    shown = run_cli("session", "usage").out.splitlines()
    assert [line for line in shown if "█" in line] == [
        "2026-03-01  ██████████████████████████████████████████████████████████████ 4,006",
        "2026-03-03  ██████████████████████████████████████████████▋ 3,015",
    ]
    assert "█" not in run_cli("session", "usage", "--by", "model").out


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_charts_fit_the_terminal_whatever_the_names(stored, used, columns):
    lines = ["memory status", *(f"session usage --by {by}" for by in ("day", "model", "channel"))]
    for line in lines:
        shown = on_terminal(*line.split(), "--plot", *NOW, columns=columns)
        assert "\x1b[36m█" in shown
        plain = re.sub(r"\x1b\[\d*m", "", shown)
        assert [row for row in plain.splitlines() if display_width(row) > columns] == []
        assert "\x1b" not in plain
    refused = on_terminal("memory", "status", "--plot", columns=columns, NO_COLOR="1")
    assert "\x1b" not in refused


@pytest.mark.parametrize("ending", ["svg", "png"])
@pytest.mark.parametrize(
    "line", ["memory status", "session usage", "session usage --by model", "session usage --csv"]
)
def test_the_same_charts_give_the_same_bytes_and_nothing_is_left_behind(
    stored, used, run_cli, tmp_path, hermetic, line, ending
):
    paths = [tmp_path / f"{number}.{ending}" for number in range(2)]
    for path in paths:
        run = run_cli(*line.split(), "--plot", path, "-q", *NOW)
        assert (run.status, run.err) == (0, "")
        assert bool(run.out) is line.endswith("--csv")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    if ending == "svg":
        assert ElementTree.fromstring(first).tag == "{http://www.w3.org/2000/svg}svg"
        assert b"<dc:date>" not in first
    else:
        assert first.startswith(b"\x89PNG\r\n")
        assert struct.unpack(">I", first[16:20]) == (1152,)
    assert list(hermetic.rglob("*")) == []
    assert {path.suffix for path in tmp_path.iterdir() if path.is_file()} == {f".{ending}"}


def _texts(path) -> list[str]:
    """Return what is written in an SVG file: letters are paths, with the text in a comment."""
    return re.findall(r"<!-- (.*?) -->", path.read_text("utf-8"))


def test_letters_that_no_font_has_are_spelt_out(used, run_cli, tmp_path):
    path = tmp_path / "models.svg"
    # A home and a system without fonts: matplotlib's own has no Chinese, and has Arabic.
    env = {"PATH": "/nonexistent"} | dict.fromkeys(("XDG_DATA_HOME", "XDG_DATA_DIRS"), "/none")
    run = run_cli("session", "usage", "--by", "model", "--plot", path, env=env)
    assert run.status == 0
    assert run.err.startswith("openclaw: warning: no font has ")
    assert "通义" in run.err
    said = _texts(path)
    chinese = "".join(f"\\u{ord(char):04x}" for char in "通义千问")
    assert {f"{chinese}-max", "$m_x^{\\frac", "a b\\x1b[31m", "مستخدم"} <= set(said)
    assert f"{'x' * 27}…" in said


def test_a_font_of_the_operator_is_used_for_letters_that_need_it(used, run_cli, tmp_path, hermetic):
    folder = hermetic / ".fonts"
    folder.mkdir()
    _make_font(folder / "cjk.ttf", "SimHei", "通义千问")
    path = tmp_path / "models.svg"
    run = run_cli("session", "usage", "--by", "model", "--plot", path)
    assert run.status == 0
    assert "通" not in run.err  # only the emoji is told
    assert "通义千问-max" in _texts(path)
    assert [found.name for found in hermetic.rglob("*")] == [".fonts", "cjk.ttf"]


def _make_font(path, family, letters):
    """Write a font in which every one of these letters is a square."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 800), (800, 800), (800, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square = pen.glyph()
    names = [".notdef", *(f"u{ord(letter):04x}" for letter in letters)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap(dict(zip(map(ord, letters), names[1:], strict=True)))
    builder.setupGlyf(dict.fromkeys(names, square))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


def test_a_file_that_is_there_is_replaced_only_with_force(stored, run_cli, tmp_path):
    path = tmp_path / "chart.svg"
    path.write_text("mine")
    refused = run_cli("memory", "status", "--plot", path, "--json")
    assert (refused.status, refused.error["code"]) == (2, "usage")
    assert "--force" in refused.error["hint"]
    assert path.read_text() == "mine"
    assert run_cli("memory", "status", "--plot", path, "--force").status == 0
    assert path.read_bytes().startswith(b"<?xml")
    full = tmp_path / "full.svg"
    full.symlink_to("/dev/full")
    refused = run_cli("memory", "status", "--plot", full, "--force", "--json")
    assert (refused.status, refused.error["message"]) == (2, f"{full} is not a regular file")
    assert sorted(found.name for found in tmp_path.glob("*.*")) == ["chart.svg", "full.svg"]


_WITHOUT = """
import sys
sys.modules["matplotlib"] = None
sys.argv = ["openclaw", *sys.argv[1:]]
from openclaw_cli.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("line", ["memory status", "session usage"])
def test_without_the_library_the_line_that_installs_it_is_told(stored, used, tmp_path, line):
    def run(*args):
        return subprocess.run(
            [sys.executable, "-c", _WITHOUT, *line.split(), *args], capture_output=True, check=False
        )

    path = tmp_path / "chart.png"
    done = run("--plot", path, "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, done.stderr, error["code"]) == (15, b"", "unavailable")
    assert "matplotlib" in error["message"]
    assert 'pip install "openclaw-cli[plot]"' in error["hint"]
    assert [found.name for found in tmp_path.iterdir()] == ["state"]
    assert run("--plot").returncode == 0


def test_the_folder_for_the_notes_of_the_library_may_be_named(stored, run_cli, tmp_path):
    notes = tmp_path / "notes"
    env = {"MPLCONFIGDIR": str(notes)}
    assert run_cli("memory", "status", "--plot", tmp_path / "a.svg", env=env).status == 0
    assert [path.suffix for path in notes.glob("fontlist*")] == [".json"]


def test_settings_of_the_library_in_the_current_folder_change_nothing(
    stored, run_cli, tmp_path, monkeypatch
):
    assert run_cli("memory", "status", "--plot", tmp_path / "a.svg", *NOW).status == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nsvg.fonttype: none\nnonsense: 1\n")
    run = run_cli("memory", "status", "--plot", "b.svg", *NOW)
    assert (run.status, run.err) == (0, "")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


COUNTS = st.integers(0, 10**12)


@given(st.lists(COUNTS, min_size=1, max_size=20), st.integers(20, 200))
@example([100_000_000_000], 27)
def test_bars_fit_the_terminal_and_grow_with_what_they_show(numbers, width):
    bars = [Bar(f"2026-03-{day:02d}", (number,)) for day, number in enumerate(numbers, 1)]
    drawn = list(drawn_bars(bars, View(width)))
    lengths = [display_width(line.split("  ")[1].rstrip("0123456789, ")) for line in drawn]
    # A third of the width for the label, a cell for the bar, and the number whole.
    least = max(8, min(10, width // 3)) + 4 + max(len(f"{number:,}") for number in numbers)
    assert all(display_width(line) <= max(width, least) for line in drawn)
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    assert [lengths[n] for n in order] == sorted(lengths)


@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS), min_size=1, max_size=20))
def test_a_bar_of_parts_is_as_long_as_all_of_them_and_keeps_their_order(numbers):
    drawn = list(drawn_bars([Bar("x", parts) for parts in numbers], View(60)))
    lines = [line.split("  ")[1].rstrip("0123456789, ") for line in drawn]
    assert all(re.fullmatch("█*▓*▒*░*", line) for line in lines)
    most = max(map(sum, numbers))
    for parts, line in zip(numbers, lines, strict=True):
        assert bool(line) is (sum(parts) > 0)
        assert len(line) == max(map(len, lines)) or sum(parts) < most
        for shade, part in zip("█▓▒░", parts, strict=True):
            assert abs(line.count(shade) - part * len(line) / max(1, sum(parts))) <= 1


DAYS = st.dates(date(1, 1, 1), date(9999, 12, 31))


@given(st.lists(DAYS, min_size=1, max_size=30, unique=True))
def test_a_time_of_any_length_is_put_together_without_losing_anything(days):
    bars = [Bar(day.isoformat(), (1, 2)) for day in days]
    for given_bars in (bars, [Bar(bar.label[:7], bar.values) for bar in bars]):
        period, found = over_time(given_bars)
        assert sum(bar.total for bar in found) == 3 * len(days)
        assert len(found) <= MOST or period == "century"
        labels = [bar.label for bar in found]
        assert labels == sorted(set(labels))


@pytest.mark.parametrize(
    ("first", "days", "period", "labels"),
    [
        ("2024-02-28", 2, "day", ["2024-02-28", "2024-02-29", "2024-03-01"]),
        ("2024-12-23", 36, "week", ["2024-W52", "2025-W01", "2025-W02"]),
        ("2024-01-01", 400, "month", ["2024-01", "2024-02", "2024-03"]),
        ("2020-03-01", 1300, "quarter", ["2020 Q1", "2020 Q2", "2020 Q3"]),
        ("1999-01-01", 9000, "year", ["1999", "2000", "2001"]),
        ("1899-01-01", 90000, "decade", ["1890s", "1900s", "1910s"]),
        ("0099-01-01", 900000, "century", ["0000-0099", "0100-0199", "0200-0299"]),
    ],
)
def test_a_long_time_is_shown_in_longer_units(first, days, period, labels):
    begin = date.fromisoformat(first)
    end = (begin + timedelta(days=days)).isoformat()
    found, bars = over_time([Bar(end, (1,)), Bar(first, (1,))])
    assert (found, [bar.label for bar in bars[:3]]) == (period, labels)


def test_months_are_not_split():
    assert over_time([Bar("2026-03", (1,))]) == ("month", [Bar("2026-03", (1,))])
    assert over_time([]) == ("month", [])


def test_more_bars_than_can_be_seen_are_put_together():
    bars = [Bar(str(number), (number, 1)) for number in range(MOST + 3, 0, -1)]
    found = largest(bars)
    assert found[:-1] == bars[: MOST - 1]
    assert found[-1] == Bar("4 others", (1 + 2 + 3 + 4, 4))
    assert largest(bars[:MOST]) == bars[:MOST]


def test_a_reader_that_goes_away_is_no_failure(stored, state_dir):
    done = subprocess.run(
        f"{sys.executable} -m openclaw_cli memory status --plot | head -n 1",
        shell=True,
        capture_output=True,
        env=dict(os.environ),
        check=True,
    )
    assert done.stderr == b""


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1e308, 1.7e308, 10**400])
def test_what_no_scale_has_room_for_is_told_and_not_drawn(value, tmp_path, recwarn):
    bars = [Bar("a", (value,)), Bar("b", (1.5,)), Bar("c", (value, value)[:1])]
    lines = list(drawn_bars(bars, View(width=60)))
    assert [line.rpartition("  ")[2] for line in lines[::2]] == ["too large to draw"] * 2
    assert "█ 1.5000" in lines[1]
    list(drawn_bars([Bar("a", (value, value))], View()))
    for scale in ("", "day"):
        charts = [Chart("cost", "cost", bars, scale=scale)]
        for ending in ("svg", "png"):
            assert save(tmp_path / f"x.{ending}", "all", charts, force=True)[0]["bytes"]
    assert [str(told.message) for told in recwarn] == []
