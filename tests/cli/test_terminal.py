"""What is different on a terminal: colours, the width of tables, the progress bar."""

from __future__ import annotations

import pytest

from openclaw_cli.cli.cells import display_width
from openclaw_cli.cli.progress import Reporter
from openclaw_cli.cli.render import Output
from tests.cli import terminal


def on_terminal(*args: str, **options) -> str:
    """Return what appears on a terminal."""
    return terminal.on_terminal(*args, **options)[1]


def test_a_table_fits_the_terminal_and_is_coloured(state_dir):
    shown = on_terminal("config", "show", columns=70)
    assert shown.count("\x1b[1m") == 2
    plain = shown.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
    rows = plain.splitlines()[1:]
    assert len(rows) > 30
    assert all(display_width(row) <= 70 for row in rows)
    assert any(row.endswith("…") for row in rows)


@pytest.mark.parametrize(
    ("args", "env"),
    [(["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})],
)
def test_colours_can_be_refused(state_dir, args, env):
    assert "\x1b" not in on_terminal("config", "show", *args, **env)


def test_elsewhere_there_are_no_colours_and_nothing_is_cut(run_cli):
    out = run_cli("config", "show").out
    assert "\x1b" not in out
    assert "…" not in out


def test_json_is_indented_for_people_only(state_dir, run_cli):
    assert on_terminal("config", "validate", "--json").startswith("{\n  ")
    assert run_cli("config", "validate", "--json").out.count("\n") == 1


class SteppingClock:
    """A clock that goes on by a fixed step at every look."""

    def __init__(self, step: float) -> None:
        self.now = 0.0
        self.step = step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


def _report(capsys, output: Output, step: float, total: int | None) -> list[str]:
    with Reporter(output, SteppingClock(step)) as progress:
        for done in range(100):
            progress("embedding", done, total)
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_elsewhere_progress_is_a_line_every_ten_seconds(capsys):
    lines = _report(capsys, Output(), 1.0, 100)
    assert len(lines) == 10
    assert lines[0] == "openclaw: embedding 9 of 100, 1 a second, 91 s left"


def test_progress_without_a_total_names_count_and_rate(capsys):
    assert _report(capsys, Output(), 10.0, None)[1] == "openclaw: embedding 1, 0 a second"


def test_short_work_and_quiet_show_no_progress(capsys):
    assert _report(capsys, Output(), 0.01, 100) == []
    assert _report(capsys, Output(quiet=True), 10.0, 100) == []


def test_on_a_terminal_progress_is_a_bar_with_count_rate_and_rest():
    code = """
import time
from openclaw_cli.cli.progress import Reporter
from openclaw_cli.cli.render import Output
from openclaw_cli.clock import Clock
with Reporter(Output(), Clock()) as progress:
    for done in range(120):
        progress("embedding", done, 200)
        time.sleep(0.02)
"""
    shown = on_terminal(code=code, columns=100)
    assert "embedding" in shown
    assert "/200" in shown
    assert "/s" in shown
    assert "0:00:0" in shown


def test_a_row_is_never_wider_than_the_terminal(state_dir):
    shown = on_terminal("model", "list", "--no-color", columns=90)
    assert all(display_width(row) <= 90 for row in shown.splitlines())


@pytest.mark.parametrize(
    "args",
    [
        ["memory", "list"],
        ["memory", "search", "Berlin", "--explain", "--mode", "lexical"],
        ["memory", "search", "编辑器", "-v", "--mode", "lexical"],
        ["memory", "status"],
        ["memory", "status", "--all-agents"],
        ["doctor"],
        ["schema"],
    ],
    ids=" ".join,
)
def test_forty_columns_are_enough(run_cli, args):
    long = ["--category", "preference", "--user", "张三李四王五张三李四王五"]
    run_cli("memory", "add", "用户喜欢的编辑器是 vim，" * 5, "--no-embed", *long)
    run_cli("memory", "add", "The user lives in Berlin and works remotely", "--no-embed")
    run_cli("memory", "index", "--no-embed")
    shown = on_terminal(*args, "--no-color", columns=40)
    rows = shown.splitlines()
    assert len(rows) > 3
    assert [row for row in rows if display_width(row) > 40] == []


@pytest.mark.parametrize("line", ["", "memory", "memory list", "session append", "doctor"])
def test_help_fits_forty_columns(state_dir, line):
    rows = on_terminal(*line.split(), "--help", columns=40).splitlines()
    examples = rows.index("Examples:") if "Examples:" in rows else len(rows)
    # The words that an option takes stand in one piece.
    assert [row for row in rows[:examples] if display_width(row) > 40 and "|" not in row] == []


def test_names_of_schemas_are_whole_on_a_narrow_terminal(state_dir):
    assert "openclaw.session.trash.empty/1\n" in on_terminal("schema", columns=40)


@pytest.mark.parametrize(("columns", "widest"), [("50", 50), ("x", 70), ("٣", 70), ("0", 70)])
def test_columns_of_the_environment_are_the_width(state_dir, columns, widest):
    shown = on_terminal("config", "show", "--no-color", columns=70, COLUMNS=columns)
    assert max(map(display_width, shown.splitlines()[1:])) == widest
