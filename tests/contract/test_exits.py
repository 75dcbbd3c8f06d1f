"""Whatever is damaged, no command ends with an exit status that its help does not list."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from openclaw_cli.cli import registry
from openclaw_cli.cli.commandline import load_command
from tests.conftest import ROOT

#: Runs each command line in a process of its own, on a damaged state put back before it. What the
#: commands import is there before the first fork.
DRIVER = """
import json, os, shlex, shutil, sys
from openclaw_cli.cli.app import run
state, sound, cases, lines = json.loads(sys.stdin.read())

def ended(template, line):
    shutil.rmtree(state, ignore_errors=True)
    shutil.copytree(template, state, symlinks=True)
    kept = [os.dup(number) for number in range(3)]
    for number, name, flags in ((0, "in", os.O_RDONLY), (1, "out", 577), (2, "err", 577)):
        os.dup2(os.open(name, flags, 0o600), number)
    try:
        return run(shlex.split(line))
    except BaseException as error:
        return 99
    finally:
        for number in range(3):
            os.dup2(kept[number], number)

for line in lines:
    ended(sound, line)
for case in cases:
    for line in lines:
        child = os.fork()
        if not child:
            os._exit(ended(case, line))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps([case, line, status, open("out").read()]), flush=True)
"""

MEMORY = [
    "memory add 'another thing' --no-embed",
    "memory add 'likes green tea a lot' --user u1 --no-embed",
    "memory get mem-tea-0001",
    "memory get mem-wet-0001",
    "memory list",
    "memory list --user u1 --sort retrievability --limit 1",
    "memory list --language en",
    "memory search tea --mode lexical",
    "memory edit mem-tea-0001 --l0 coffee --no-embed",
    "memory history mem-tea-0001",
    "memory undo mem-tea-0001 --no-embed",
    "memory delete mem-tea-0001 --yes",
    "memory delete --user u1 --yes",
    "memory purge --user u1 --dry-run",
    "memory purge --user u1 --sessions --group-messages --yes --verify",
    "memory index --no-embed",
    "memory index --verify --no-embed",
    "memory status",
    "memory status --plot",
    "memory import lines --no-embed",
    "memory export",
    "memory export --user u1",
    "memory migrate",
    "memory migrate --rollback",
]
SESSION = [
    "session new --channel tg --chat 1",
    "session new --from s-1",
    "session ensure --channel tg --chat 1",
    "session list",
    "session show s-1",
    "session tail s-1",
    "session append s-1 --role user --content y",
    "session context s-1",
    "session checkpoint s-1",
    "session resume s-1",
    "session branch s-1 another",
    "session branches s-1",
    "session rename s-1 y",
    "session tag s-1 --add y",
    "session sweep",
    "session archive s-1",
    "session delete s-1 --yes",
    "session restore s-gone",
    "session trash list",
    "session trash empty --yes",
    "session search hello",
    "session search hello --session s-1",
    "session usage",
    "session usage --record",
    "session export s-1",
    "session export --all",
    "session import sessions",
    "session verify",
    "session verify s-1 --repair",
    "memory purge --user u1 --sessions --yes",
]
#: What reads memories does so without an index that cannot be used.
READING = ("memory list", "memory search", "memory export", "memory status", "memory get mem-tea")
EVERYWHERE = ["doctor", "doctor --fix"]

Damage = Callable[[Path], None]


def _missing(path: Path) -> None:
    path.unlink()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _garbage(path: Path) -> None:
    path.write_bytes(b"\xff\x00{garbage\n" * 3)


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


INDEX = tuple(f"memory/index/{name}" for name in ("metadata.json", "bm25.idx", "config.json"))
OF_MEMORY: dict[str, tuple[Damage, ...]] = {
    **dict.fromkeys(INDEX, (_missing, _cut)),
    "memory/records/user/mem-tea-0001.json": (_garbage, _folder),
    "memory/wal.jsonl": (_garbage, _folder),
    "memory/tombstones.jsonl": (_folder,),
}
OF_SESSIONS: dict[str, tuple[Damage, ...]] = {
    "sessions/s-1/messages.jsonl": (_garbage, _folder),
    "sessions/s-1/meta.json": (_garbage, _folder),
    "sessions/s-1/checkpoint.json": (_folder,),
    "sessions/s-old/messages.jsonl.gz": (_cut,),
    "sessions/catalog.jsonl": (_folder,),
    "audit/turn-token-usage.jsonl": (_garbage, _folder),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A state with something of everything, and what the commands read."""
    folder = tmp_path_factory.mktemp("exits")
    turn = {"SessionId": "s-1", "InputTokens": 1, "OutputTokens": 1}
    point = {
        "checkpointId": "k1",
        "kind": "tool_batch",
        "state": "completed",
        "sequence": 1,
        "iteration": 1,
        "historyCount": 2,
        "toolCalls": [],
    }
    (folder / "in").write_text(json.dumps({**turn, **point}))
    (folder / "lines").write_text('{"text": "a line"}\n')
    steps = [
        "memory add 'likes green tea a lot' --id mem-tea-0001 --user u1 --no-embed",
        "memory add 'of somebody else' --id mem-oth-0001 --user u2 --no-embed",
        "memory add 'to be deleted' --id mem-del-0001 --no-embed",
        "memory edit mem-tea-0001 --l0 'likes black tea a lot' --no-embed",
        "memory delete mem-del-0001 --yes",
        "memory index --no-embed",
        "session new --id s-1 --channel tg --chat 1 --user u1",
        "session append s-1 --role user --content 'hello there'",
        "session append s-1 --role assistant --content 'hello to you'",
        "session branch s-1 a-branch",
        "session checkpoint s-1",
        "session new --id s-old",
        "session append s-old --role user --content hello",
        "session archive s-old",
        "session new --id s-gone",
        "session delete s-gone --yes",
        "session usage --record",
        "session export s-old --output sessions",
    ]
    turns = (folder / "in").read_text()
    for line in steps:
        done = _run(folder, ["-m", "openclaw_cli", *shlex.split(line)], turns)
        assert done.returncode == 0, (line, done)
    (folder / "state").rename(folder / "indexed")
    shutil.copytree(folder / "indexed", folder / "logged", symlinks=True)
    line = "memory add 'in the log' --id mem-wet-0001 --user u1 --no-embed --state-dir logged"
    assert _run(folder, ["-m", "openclaw_cli", *shlex.split(line)], "").returncode == 0
    return folder


def _run(folder: Path, words: list[str], text: str):
    return subprocess.run(
        [sys.executable, *words],
        input=text.encode(),
        capture_output=True,
        cwd=folder,
        env={**os.environ, "OPENCLAW_STATE_DIR": "state", "PYTHONPATH": str(ROOT)},
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("places", [OF_MEMORY, OF_SESSIONS], ids=["memory", "sessions"])
def test_no_damage_leads_to_an_exit_status_that_help_does_not_list(template, places):
    cases = []
    for place, kind in ((place, kind) for place, kinds in places.items() for kind in kinds):
        # With nothing in the log all that is known comes from the index.
        sound = template / ("indexed" if place in INDEX else "logged")
        case = template / f"{place.replace('/', '-')} {kind.__name__}"
        shutil.copytree(sound, case, symlinks=True)
        kind(case / "agents" / "main" / place)
        cases.append(str(case))
    own = MEMORY if places is OF_MEMORY else SESSION
    lines = [f"{line} --json" for line in (*own, *EVERYWHERE)]
    work = [str(template / "state"), str(template / "logged"), cases, lines]
    done = _run(template, ["-c", DRIVER], json.dumps(work))
    assert done.returncode == 0, done.stderr.decode()
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ended) == len(cases) * len(lines)
    wrong = []
    for case, line, status, out in ended:
        path = max((p for p in registry.COMMANDS if f"{line} ".startswith(f"{p} ")), key=len)
        needs_index = Path(case).name.startswith("memory-index") and line.startswith(READING)
        listed = (0,) if needs_index else load_command(path).exits
        if status not in listed or '"internal"' in out:
            wrong.append((Path(case).name, line, status))
    assert not wrong, "\n".join(map(str, wrong))
