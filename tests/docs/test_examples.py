"""Every example that the help prints, run as it is printed on a store that has what it names."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time

import pytest

from openclaw_cli.cli.manual import MANUAL
from openclaw_cli.errors import EXIT_INTERRUPTED
from tests.docs import prepared

EXAMPLES = prepared.examples()


@pytest.fixture
def place(prepared_store, tmp_path):
    """A folder with a copy of the prepared store, to work in."""
    return shutil.copytree(prepared_store, tmp_path / "place", symlinks=True)


def _shell(line, place):
    return subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=place,
        env=prepared.environment(place),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.parametrize("example", [e for e in EXAMPLES if "--follow" not in e])
def test_an_example_works_as_printed(place, example):
    if "jq" in example and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    out, err = (done := _shell(example, place)).communicate(timeout=120)
    assert (done.returncode, err) == (0, b"")
    if "--json" in example and "|" not in example.partition("openclaw")[2]:
        assert json.loads(out)["ok"] is True


@pytest.mark.parametrize("example", [e for e in EXAMPLES if "--follow" in e])
def test_an_example_that_follows_goes_on_until_it_is_interrupted(place, example):
    following = _shell(f"exec {example}", place)
    assert following.stdout.readline()
    time.sleep(0.2)
    assert following.poll() is None
    following.send_signal(signal.SIGINT)
    following.communicate(timeout=60)
    assert following.returncode == EXIT_INTERRUPTED


def _as_json(example):
    """Return what an example does, without what follows in its pipe, as a JSON document."""
    line = re.sub(r"^\S+=\$\((.*)\)$", r"\1", example)
    before, _, rest = line.rpartition("openclaw ")
    command, redirect, source = rest.partition("|")[0].partition("<")
    return f"{before}openclaw --json {command}{redirect}{source}"


@pytest.mark.parametrize(
    "example",
    [
        e
        for e in EXAMPLES
        if not re.search("--follow|--jsonl|--format (jsonl|markdown)| > |schema memory", e)
    ],
)
def test_the_manual_names_every_member_of_the_data(place, example):
    done = _shell(_as_json(example), place)
    document = json.loads(done.communicate(timeout=120)[0])
    path = document["schema"].removeprefix("openclaw.").partition("/")[0].replace(".", " ")
    told = set(re.findall(r"\w+", MANUAL[path].data))
    assert set(document["data"]) <= told
    for value in document["data"].values():
        inner = value[0] if isinstance(value, list) and value else None
        if isinstance(inner, dict) and "record" not in MANUAL[path].data:
            assert set(inner) <= told
