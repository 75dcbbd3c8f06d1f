"""What is told of every kind of wrong input: exit status, code, one line of what and where, a hint.

Each case is run on a copy of one state directory, for scripts and for people; none changes it.
"""

from __future__ import annotations

import ast
import json
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from openclaw_cli import errors
from openclaw_cli.cli import registry
from openclaw_cli.clock import Clock
from openclaw_cli.store import locks
from tests.conftest import ROOT
from tests.contract.documents import check

USAGE, FAILED, NONE, LOCKED = 2, 1, 10, 11


class Case(NamedTuple):
    """A command line with the exit status, the error code and a part of the message."""

    line: str
    status: int
    code: str
    message: str
    hint: str = ""
    stdin: bytes | None = None
    env: dict[str, str] | None = None

    @property
    def command(self) -> str:
        words = [word for word in self.line.split() if not word.startswith("-")]
        paths = (" ".join(words[:count]) for count in (3, 2, 1))
        return next((path for path in paths if path in registry.COMMANDS), "")


def usage(line: str, message: str, hint: str = "--help", **more) -> Case:
    return Case(line, USAGE, "usage", message, hint, **more)


def missing(line: str, message: str, hint: str) -> Case:
    return Case(line, NONE, "not-found", message, hint)


RECORDS = "openclaw memory list shows the ids"
SESSIONS = "openclaw session list --status all"
OTHER_AGENT = "did you mean --agent main?"
IDS = "ids are 1 to 128 of"
TIMES = "write 2026-02-20"
ASKS = "add --yes to do it, or --dry-run"
OPENAI = {"OPENCLAW_EMBEDDING_PROVIDER": "openai"}

CASES = [
    # The command line itself.
    usage("memory", "no command given after openclaw memory", ""),
    usage("session trash", "no command given after openclaw session trash", ""),
    usage("memroy", "no such command: openclaw memroy", "openclaw memory?"),
    usage("session trash lst", "no such command", "openclaw session trash list?"),
    usage("--frobnicate memory list", "no such option: --frobnicate"),
    usage("memory list --agnet x", "no such option: --agnet", "did you mean --agent?"),
    *[usage(f"{path} --bogus", "no such option: --bogus", "--help") for path in registry.COMMANDS],
    usage("memory list --all-agents", "no such option: --all-agents", ""),
    usage("--all-agents memory list", "works on one agent", "--agent ID"),
    usage("memory status --all-agents --agent main", "exclude each other", "leave one"),
    usage("memory list --json --jsonl", "exclude each other", "one object a line"),
    usage("session list --json --jsonl", "exclude each other", "one object a line"),
    usage("session tail s-1 --follow --json", "--follow never ends", "--jsonl"),
    # Values of global options.
    usage("memory list --agent ''", "invalid value for '--agent': it is empty"),
    usage("memory list --lock-timeout x", "'x' is not a number of seconds"),
    usage("memory list --lock-timeout -1", "'-1' is not a number of seconds from 0"),
    usage("memory list --now soon", "--now: 'soon' is not a time", TIMES),
    Case("memory list --agent a/b", USAGE, "invalid-name", "'a/b' is not a valid agent id", IDS),
    Case("memory list --state-dir plain", FAILED, "storage", "plain is not a directory", "--state"),
    # Arguments that are missing, empty, too many.
    *[
        usage(path, f"missing argument '{name}'")
        for path, name in {
            "memory get": "ID...",
            "memory search": "QUERY",
            "memory edit": "ID",
            "memory history": "ID",
            "memory undo": "ID",
            "memory import": "FILE",
            "session show": "ID",
            "session tail": "ID",
            "session append": "ID",
            "session rename": "ID",
            "session rename s-1": "TITLE",
            "session tag": "ID",
            "session archive": "ID...",
            "session delete": "ID...",
            "session restore": "ID...",
        }.items()
    ],
    *[
        usage(f"{path} surplus", "got unexpected extra argument (surplus)")
        for path in (
            "memory list",
            "memory status",
            "memory index",
            "memory purge --user u1",
            "memory export",
            "session new",
            "session ensure --channel a --chat b",
            "session list",
            "session sweep",
            "session trash list",
            "session trash empty",
            "model list",
            "model verify",
            "config show",
            "config validate",
            "config schema",
        )
    ],
    usage("memory search two words", "got unexpected extra argument", "quotes"),
    usage("memory purge", "missing option '--user'"),
    usage("session ensure --chat 1", "missing option '--channel'"),
    usage("session ensure --channel a", "missing option '--chat'"),
    *[
        usage(f"{line} ''", f"invalid value for '{line.split()[-1]}': it is empty")
        for line in (
            "memory add x --tag",
            "memory delete --yes --user",
            "memory purge --yes --user",
            "memory edit mem-tea-0001 --l0",
            "session new --channel",
            "session ensure --channel a --chat",
            "session list --chat",
            "session tag s-1 --add",
        )
    ],
    # Kinds and ranges of values.
    usage("memory add x --scope both", "'both' is not one of 'user', 'agent'"),
    usage("memory add x --category zzz", "unknown category 'zzz'", "categories are profile,"),
    usage("memory add x --category lesson --scope user", "belongs to scope agent", "--scope"),
    usage("memory get mem-tea-0001 --level l9", "'l9' is not one of 'l0'"),
    usage("memory list --limit ten", "'ten' is not a whole number"),
    usage("memory list --limit -1", "-1 is not 0 or more"),
    usage("memory list --since soon", "--since: 'soon' is not a time", TIMES),
    usage("memory list --language klingon", "'klingon' is no language code", "known are"),
    usage("memory list --category zzz", "unknown category 'zzz'", "categories are profile,"),
    usage("memory search x --top-k 5000", "5000 is not from 1 to 1000"),
    usage("memory search x --mode z", "'z' is not one of 'hybrid'"),
    usage("memory search '  '", "the query is empty", "memory search"),
    usage("memory undo mem-tea-0001 --to x", "'x' is not a whole number"),
    usage("memory undo mem-tea-0001", "mem-tea-0001 has no earlier state", "memory history"),
    usage("memory index --reembed --no-embed", "exclude each other", "leave out --no-embed"),
    usage("memory export --format xml", "'xml' is not one of 'json', 'jsonl'"),
    usage("memory import lines --from zzz", "'zzz' is unknown", "formats are auto"),
    usage("memory import lines --on-conflict z", "'z' is not one of 'skip'"),
    usage("memory migrate --from 7", "--from '7' is unknown", "older versions are 1.x"),
    usage("memory migrate -", "needs a file with a name", "save it to a file"),
    usage("session list --status zz", "'zz' is not one of 'active'"),
    usage("session tail s-1 -n -1", "-1 is not 0 or more"),
    usage("session sweep --now soon", "--now: 'soon' is not a time", TIMES),
    usage("session trash empty --older-than soon", "--older-than: 'soon' is not a time", TIMES),
    usage("session append s-1 --role nobody --content x", "'nobody' is not one of 'user'"),
    usage("session append s-1 --role user", "--role and --content go together", "JSON Lines"),
    usage("session append s-1 --tokens 4", "go with --role and --content", "JSON Lines"),
    usage("session append s-1", "no message given", "--role and --content", stdin=b""),
    usage("session tag s-1", "no tag given", "--add TAG"),
    usage("session tag s-1 --add a --remove a", "both added and removed: a", "once"),
    usage("session verify s-1 --all-agents", "exclude each other", "--agent ID"),
    usage("config get memory.retrieval.topk", "no such key", "memory.retrieval.topK?"),
    usage("schema memory lits", "no such command: memory lits", "memory.list?"),
    # Texts.
    usage("memory add", "no text given", "--file"),
    usage("memory add x --file lines", "exclude each other", "in one way"),
    Case("memory add ''", USAGE, "invalid-text", "the text is empty", "visible"),
    Case("memory add -", USAGE, "invalid-text", "the text is empty", "visible", stdin=b""),
    Case("memory add -", USAGE, "invalid-text", "byte 1 (0xff) is not UTF-8", "iconv", b"a\xff"),
    Case("memory add --file nothing", FAILED, "storage", "cannot read nothing: No such", "name"),
    Case("memory add --file folder", FAILED, "storage", "folder: Is a directory", "name"),
    Case("memory add --file bytes", USAGE, "invalid-text", "bytes: byte 0 (0xff)", "iconv"),
    usage("memory edit mem-tea-0001", "nothing to change is named", "give --l0"),
    usage("memory edit mem-tea-0001 --clear l0", "'l0' cannot be cleared", "choose l1"),
    usage("memory edit mem-tea-0001 --l0 'likes tea'", "says that already", "--help"),
    Case("session append s-1", USAGE, "invalid-text", "line 2: ", "nothing was appended",
         b'{"role":"user","content":"a"}\n{\n'),
    # Ids that are none, that are not there, that fit several, that are taken.
    *[
        Case(f"{line} a/b{rest}", USAGE, "invalid-name", "'a/b' is not a valid", IDS)
        for line, rest in {
            "memory get": "",
            "memory edit": " --l0 x",
            "memory history": "",
            "memory undo": "",
            "memory delete --yes": "",
            "memory add x --id": "",
            "session new --id": "",
            "session show": "",
            "session tail": "",
            "session append": " --role user --content x",
            "session rename": " x",
            "session tag": " --add x",
            "session archive": "",
            "session delete --yes": "",
            "session restore": "",
            "session verify": "",
        }.items()
    ],
    *[
        missing(line, "record none: no such record", RECORDS)
        for line in (
            "memory get none",
            "memory edit none --l0 x",
            "memory history none",
            "memory undo none",
            "memory delete none --yes",
        )
    ],
    *[
        missing(line, "there is no session none", SESSIONS)
        for line in (
            "session show none",
            "session tail none",
            "session append none --role user --content x",
            "session rename none x",
            "session tag none --add x",
            "session archive none",
            "session delete none --yes",
            "session verify none",
        )
    ],
    missing("session restore none", "no session none in the trash", "session trash list"),
    *[
        Case(line, USAGE, "ambiguous-id", "12345678 fits 2", "more characters")
        for line in (
            "memory get 12345678",
            "memory edit 12345678 --l0 x",
            "memory delete 12345678 --yes",
            "session show 12345678",
            "session delete 12345678 --yes",
        )
    ],
    usage("memory add y --id mem-tea-0001", "mem-tea-0001 with another text", "another --id"),
    Case("session new --id s-1", USAGE, "exists", "there is a session s-1 already", "another --id"),
    usage("memory delete x --user u1 --yes", "named by ids or chosen by filters", "one of both"),
    # Agents that are not there: a read names the nearest one.
    *[
        missing(f"{line} --agent mian", "there is no agent 'mian' with", OTHER_AGENT)
        for line in (
            "memory get x",
            "memory list",
            "memory search x",
            "memory edit x --l0 y",
            "memory history x",
            "memory undo x",
            "memory delete x --yes",
            "memory purge --user u --yes",
            "memory index",
            "memory status",
            "memory migrate",
            "memory export",
            "session list",
            "session show x",
            "session tail x",
            "session sweep",
            "session verify",
        )
    ],
    # What would destroy asks first.
    *[
        usage(line, "asks before it acts", ASKS)
        for line in (
            "memory delete mem-tea-0001",
            "memory purge --user u1",
            "session delete s-1",
            "session trash empty",
        )
    ],
    # Files.
    Case("memory import nothing", FAILED, "storage", "cannot read nothing: No such file", "name"),
    Case("memory import folder", FAILED, "storage", "cannot read folder: Is a directory", "name"),
    usage("memory import bytes", "is UTF-16 text, not JSON", "iconv"),
    usage("memory import lines --category zzz", "unknown category 'zzz'", "categories are"),
    usage("memory import ''", "no file named", "standard input"),
    Case("memory import old", 12, "format-too-old", "old has format version 1.2", "migrate"),
    Case("memory import new", 13, "format-too-new", "new has format version 9.0", "update"),
    Case("memory migrate new", 13, "format-too-new", "new has format version 9.0", "update"),
    Case("memory migrate nothing", FAILED, "storage", "cannot read nothing: No such", "name"),
    usage("memory migrate folder", "folder is not a regular file", "name the file"),
    missing("memory migrate --rollback", "nothing is kept from a migration", "records.bak"),
    usage("memory export -o folder", "folder is not a regular file", "name a file"),
    usage("memory export -o lines", "lines is there already", "--force"),
    usage("memory status --plot chart.pdf", "chart.pdf is neither .svg nor .png", "chart.svg"),
    usage("memory status --plot=", "invalid value for '--plot': it is empty"),
    usage("memory status --plot there.svg", "there.svg is there already", "--force"),
    usage("memory status --force", "--force goes with --plot FILE", "leave it out"),
    usage("memory status --all-agents --plot a.svg", "is of one agent", "--agent ID"),
    Case("memory status --plot no/a.png", FAILED, "storage", "cannot write no/", "permissions"),
    usage("session usage --plot folder", "folder is neither .svg nor .png", "chart.svg"),
    usage("session usage --csv --plot", "--csv and --plot exclude each other", "the FILE"),
    usage("session usage --record --plot", "--record goes with none of", "another command"),
    Case("memory export -o no/file", FAILED, "storage", "cannot write no/file", "permissions"),
    # The state: damaged, unwritable, locked, without a model.
    Case("memory get mem-bad-0001", 14, "damaged", "record mem-bad-0001: damaged", "memory index"),
    Case("memory add x --no-embed --state-dir /proc/none", FAILED, "storage",
         "cannot make folder /proc/none", "permissions"),
    Case("session new --state-dir /proc/none", FAILED, "storage",
         "cannot make folder /proc/none", "permissions"),
    *[
        Case(line, 15, "unavailable", "provider openai is not available", "localModel|provider",
             None, OPENAI)
        for line in (
            "memory add x",
            "memory search x",
            "memory edit mem-tea-0001 --l0 y",
            "memory undo mem-tea-0001",
            "memory index",
            "memory import lines",
        )
    ],
    Case("memory search x --mode dense", 15, "unavailable", "no embedding model can answer",
         "--mode lexical"),
    *[
        Case(line, USAGE, "config", "memory.retrieval.topK must be a whole number", "config",
             None, {"OPENCLAW_STATE_DIR": "wrong"})
        for line in ("config show", "config get", "config validate", "memory list", "session list")
    ],
    Case("config validate", USAGE, "config", "openclaw.json:2: this is not JSON5", "correct",
         None, {"OPENCLAW_STATE_DIR": "broken"}),
]  # fmt: skip

LOCKING = [
    "memory add x --no-embed",
    "memory edit mem-tea-0001 --l0 y --no-embed",
    "memory delete mem-tea-0001 --yes",
    "memory purge --user u1 --yes",
    "memory import lines --no-embed",
    "session append s-1 --role user --content x",
    "session rename s-1 x",
    "session tag s-1 --add x",
    "session archive s-1",
    "session delete s-1 --yes",
    "session new --channel tg --chat 9",
    "session ensure --channel tg --chat 9",
    "session trash empty --yes",
]


def _run(folder: Path, words: list[str], stdin: bytes | None, **env: str):
    return subprocess.run(
        [sys.executable, "-m", "openclaw_cli", *words],
        input=b"" if stdin is None else stdin,
        capture_output=True,
        cwd=folder,
        env={**os.environ, "OPENCLAW_STATE_DIR": "state", **env},
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A folder with a state and some files, made once."""
    folder = tmp_path_factory.mktemp("template")
    steps = [
        "memory add 'likes tea' --id mem-tea-0001 --user u1 --no-embed",
        "memory add cats --id aa-12345678 --no-embed",
        "memory add dogs --id bb-12345678 --no-embed",
        "memory add damaged --id mem-bad-0001 --no-embed",
        "memory index --no-embed",
        "session new --id s-1 --channel tg --chat 1",
        "session append s-1 --role user --content hi",
        "session new --id cc-12345678",
        "session new --id dd-12345678",
        "session new --id s-gone",
        "session delete s-gone --yes",
    ]
    for line in steps:
        done = _run(folder, shlex.split(line), None, PYTHONPATH=str(ROOT))
        assert done.returncode == 0, done
    records = folder / "state" / "agents" / "main" / "memory" / "records"
    (records / "user" / "mem-bad-0001.json").write_text("{")
    (folder / "folder").mkdir()
    (folder / "plain").write_text("")
    (folder / "there.svg").write_text("")
    (folder / "bytes").write_bytes(b"\xff\xfea\0")
    (folder / "lines").write_text('{"text": "a line"}\n')
    (folder / "old").write_text('{"version": "1.2", "records": []}')
    (folder / "new").write_text('{"version": "9.0", "records": []}')
    for name, text in (("wrong", '{memory: {retrieval: {topK: "x"}}}'), ("broken", "{\nmemory: ]")):
        (folder / name).mkdir()
        (folder / name / "openclaw.json").write_text(text)
    return folder


@pytest.fixture
def folder(template, tmp_path):
    """A copy of that folder of the test's own."""
    return Path(shutil.copytree(template, tmp_path / "copy", symlinks=True))


def _content(folder: Path) -> dict[str, bytes]:
    """Return every file but the locks, which tell who held them last."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.suffix != ".lock"
    }


def _judge(case: Case, folder: Path) -> None:
    before = _content(folder)
    words, env = shlex.split(case.line), case.env or {}
    shown = _run(folder, ["--json", *words], case.stdin, **env)
    assert (shown.returncode, shown.stderr) == (case.status, b""), shown
    error = check(json.loads(shown.stdout), case.command or "error")["error"]
    assert error["code"] == case.code
    assert case.message in error["message"]
    assert "\n" not in error["message"]
    assert any(part in error["hint"] for part in case.hint.split("|")), error["hint"]
    assert not _is_python(shown.stdout)

    if "--json" not in words:
        told = _run(folder, words, case.stdin, **env)
        assert (told.returncode, told.stdout) == (case.status, b""), told
        lines = told.stderr.decode().splitlines()
        errors_told = [line for line in lines if line.startswith("openclaw: error: ")]
        assert len(errors_told) == 1
        assert case.message in errors_told[0]
        assert lines[-1].startswith("hint: ")
        assert not _is_python(told.stderr)
    assert _content(folder) == before


def _is_python(output: bytes) -> bool:
    return any(word in output for word in (b"Traceback", b"<class", b"object at 0x", b"Error("))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.line or "(nothing)")
def test_wrong_input_is_told_with_its_status_code_and_a_hint(case, folder):
    _judge(case, folder)


@pytest.mark.parametrize("line", LOCKING)
def test_a_lock_that_is_held_is_told_at_once_when_no_time_is_given(line, folder):
    agent = folder / "state" / "agents" / "main"
    names = [agent / "memory" / "writer.lock", *agent.glob("sessions/**/*.lock")]
    names += [agent / "sessions" / "lookup.lock", agent / "sessions" / "s-1" / "writer.lock"]
    with ExitStack() as held:
        for path in dict.fromkeys(names):
            held.enter_context(locks.hold(path, clock=Clock(), timeout=0, holder="another one"))
        _judge(
            Case(f"{line} --lock-timeout 0", LOCKED, "locked", "another one", "--lock-timeout"),
            folder,
        )


def test_every_command_is_in_the_table():
    assert {case.command for case in CASES} - {""} == set(registry.COMMANDS)


def test_every_documented_exit_status_of_a_failure_is_in_the_table():
    # Partial success is no error; that one is in test_schemas. Interruption needs a signal.
    seen = {case.status for case in CASES} | {LOCKED}
    others = {errors.EXIT_DONE, errors.EXIT_PARTIAL, errors.EXIT_INTERRUPTED}
    assert seen == set(registry.EXIT_MEANINGS) - others


def test_the_command_line_raises_no_error_without_a_hint():
    kinds = {name for name, held in vars(errors).items() if isinstance(held, type)}
    without = [
        f"{path.name}:{call.lineno}"
        for path in sorted((ROOT / "openclaw_cli" / "cli").rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).rpartition(".")[2] in kinds
        and not any(word.arg == "hint" for word in call.keywords)
    ]
    assert not without
