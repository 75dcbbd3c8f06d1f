"""What the tab key is answered: quickly, quietly, and never with a failure."""

from __future__ import annotations

import itertools
import json
import resource
import shutil
import subprocess
import sys

import pytest

from openclaw_cli.cli import complete
from openclaw_cli.paths import resolve_state_dir
from tests.docs import prepared


@pytest.fixture
def state(prepared_store, tmp_path):
    return shutil.copytree(prepared_store, tmp_path / "place", symlinks=True) / "state"


def _asked(state, kind, prefix="", *words):
    env = {"OPENCLAW_STATE_DIR": str(state)}
    return complete.candidates(kind, prefix, list(words), env)


def test_the_state_directory_is_the_one_that_commands_use(monkeypatch):
    values = {
        "OPENCLAW_STATE_DIR": ["", "/a/b", "~/x", "rel"],
        "OPENCLAW_HOME": ["", "/home/of", "rel"],
        "OPENCLAW_PROFILE": ["", "default", "work"],
    }
    for chosen in itertools.product(*values.values()):
        env = dict(zip(values, chosen, strict=True))
        for option in (None, "/opt", "~/opt"):
            assert complete.state_dir(option, env) == str(resolve_state_dir(option, env))


def test_an_id_is_offered_whole_or_by_its_end_with_the_start_of_the_text(state):
    whole = f"mem-{prepared.TAIL}5f3c9a1e"
    assert (whole, "User is 32 years old") in _asked(state, "record")
    assert _asked(state, "record", "mem-01") == [(whole, "User is 32 years old")]
    assert _asked(state, "record", "5f3c") == [("5f3c9a1e", "User is 32 years old")]
    assert _asked(state, "record", "nothing") == []


def test_what_the_index_does_not_know_yet_comes_first_and_what_is_deleted_not_at_all(state):
    prepared.openclaw(state, "memory", "add", "the newest", "--id", "mem-new", "--no-embed")
    prepared.openclaw(state, "memory", "delete", "mem-002", "--yes")
    found = _asked(state, "record", "mem-")
    assert found[0] == ("mem-new", "the newest")
    assert "mem-002" not in dict(found)


def test_without_an_index_the_files_are_asked(state):
    whole = set(_asked(state, "record"))
    (state / "agents" / "main" / "memory" / "index").unlink()
    assert set(_asked(state, "record")) == whole


def test_a_text_cannot_speak_to_the_terminal(state):
    text = "red \x1b[31m and\ttab\nand \u202e" + "long " * 100
    prepared.openclaw(state, "memory", "add", "-", "--id", "mem-x", "--no-embed", stdin=b"plain")
    path = state / "agents" / "main" / "memory" / "records" / "user" / "mem-x.json"
    document = json.loads(path.read_bytes())
    document["content"]["l0"] = text
    path.write_text(json.dumps(document))
    about = dict(_asked(state, "record", "mem-x"))["mem-x"]
    assert about.startswith("red [31m and tab and")
    assert about.isprintable()
    assert len(about) <= 60


def test_sessions_come_with_title_and_age_those_active_last_first(state):
    said = ("--role", "user", "--content", "hello")
    prepared.openclaw(state, "session", "append", "s-abc123", *said)
    found = _asked(state, "session")
    assert found[0][0] == "s-abc123"
    assert dict(_asked(state, "session", "5f3c"))["5f3c9a1e"].startswith("the release, ")
    (state / "agents" / "main" / "sessions" / "catalog.jsonl").unlink()
    assert sorted(_asked(state, "session")) == sorted(found)
    [(name, about)] = _asked(state, "trash")
    assert name == f"s-{prepared.TAIL}9b1c2d3e"
    assert about.startswith("deleted 20")


@pytest.mark.parametrize(
    "words",
    [
        ["--agent", "other", "memory", "get"],
        ["--agent=other", "memory"],
        ["--agent", "=", "other"],
        ["memory", "get", "--agent", "'other'"],
    ],
)
def test_the_command_line_says_whose_ids_are_meant(state, words):
    prepared.openclaw(
        state, "--agent", "other", "memory", "add", "x", "--id", "other-1", "--no-embed"
    )
    assert _asked(state, "record", "", *words) == [("other-1", "x")]
    assert _asked(state / "none", "record", "o", "--state-dir", str(state), *words)
    assert _asked(state, "agent") == [("main", ""), ("other", "")]


@pytest.mark.parametrize("kind", ["record", "session", "trash", "agent", "nonsense"])
def test_damage_and_absence_offer_nothing_and_say_nothing(state, kind, run_cli):
    assert _asked(state / "none", kind) == []
    assert _asked(state, kind, "", "--agent", "../..") in ([], [("main", "")])
    for path in state.rglob("*"):
        if path.is_file():
            path.write_bytes(b"\xff{not json" * 3)
    env = {"OPENCLAW_STATE_DIR": str(state)}
    run = run_cli("__complete", kind, "", "memory", env=env)
    assert (run.status, run.err) == (0, "")


def _cost(*args, rounds=8):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(rounds):
        subprocess.run([sys.executable, *args], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("kind", ["record", "session"])
def test_the_tab_key_costs_at_most_three_times_a_bare_interpreter(state, kind, monkeypatch):
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(state))
    # The least of a few rounds: other work on the machine only ever adds.
    bare = min(_cost("-c", "pass") for _ in range(4))
    asked = min(_cost("-m", "openclaw_cli", "__complete", kind, "") for _ in range(4))
    assert asked <= 3 * bare


def test_the_tab_key_loads_nothing_of_the_program_but_what_answers_it(state, monkeypatch):
    code = (
        "import sys; sys.argv[1:] = ['__complete', 'record', '']\n"
        "from openclaw_cli.__main__ import main\nmain()\n"
        "print(sorted(n for n in sys.modules if 'openclaw' in n or n in ('typer', 'orjson')))"
    )
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(state))
    out = subprocess.check_output([sys.executable, "-c", code]).decode().splitlines()[-1]
    assert out == str(
        ["openclaw_cli", "openclaw_cli.__main__", "openclaw_cli.cli", "openclaw_cli.cli.complete"]
    )


def test_what_is_one_character_to_people_is_not_broken_apart():
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    assert complete._plain(f"hi {family}") == f"hi {family}"
    assert complete._plain("a\u200db \u202ec") == "a b c"
    for limit in range(8, 30):
        shown = complete._plain(family * 20, limit)
        assert shown.removesuffix("...").replace(family, "") == ""
        assert len(shown) <= limit
