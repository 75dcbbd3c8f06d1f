"""Installed by each installer on each Python, the program works; uninstalled, its data stays."""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from openclaw_cli import __version__
from tests.conftest import ROOT
from tests.packaging import installations

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = sorted({*PROJECT["optional-dependencies"]} - {"dev"})
#: How many models the package has.
MODELS = 2
#: Extras that are built where they are installed.
COMPILED = {"hnsw"}


class Operator:
    """Somebody who works with an installed program, offline, and with every warning as an error."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self.installs = env
        self.state = folder / "state"
        self.env = {
            **env,
            "OPENCLAW_STATE_DIR": str(self.state),
            "PYTHONWARNINGS": "error",
            # They lead nowhere, so that a download would fail.
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
        }

    def run(self, *args: str | Path, stdin: str = "", **env: str) -> str:
        """Run a command that must succeed and has nothing to complain about."""
        done = subprocess.run(
            args,
            cwd=self.folder,
            env=self.env | env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), (args, done.stdout, done.stderr)
        return done.stdout

    def does_the_main_job(self, program: Path) -> None:
        """Add, index, find, talk, export and look after it all."""
        self.run(program, "memory", "add", "用户偏好 TypeScript，不喜欢 Java")
        self.run(program, "memory", "add", "The user lives in Berlin")
        self.run(program, "memory", "index")
        for query, expected in (("喜欢哪种编程语言", "TypeScript"), ("where is home", "Berlin")):
            data = json.loads(self.run(program, "memory", "search", query, "--json"))["data"]
            assert data["mode"] == "hybrid"
            assert expected in data["results"][0]["l0"]
        session = self.run(program, "session", "new", "--quiet").strip()
        turn = '{"role":"user","content":"What is the weather?"}\n'
        self.run(program, "session", "append", session, stdin=turn)
        assert "weather" in self.run(program, "session", "context", session)
        self.run(program, "memory", "export", "--output", "export.jsonl.gz", "--force")
        assert "all ok" in self.run(program, "doctor")
        assert self.run(program, "model", "verify").count(": sound") == MODELS

    def tree(self) -> dict[str, str]:
        """Return every file of the state directory with the digest of what it holds."""
        return {
            str(path.relative_to(self.state)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.state.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return Operator(tmp_path, installations.environment(tmp_path / "home"))


def files_below(root: Path) -> set[Path]:
    return {path.relative_to(root) for path in root.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("version", installations.VERSIONS)
@pytest.mark.parametrize("installer", installations.INSTALLERS)
def test_it_works_when_installed_and_leaves_only_its_data_when_uninstalled(
    wheel, operator, installer, version
):
    python = installations.interpreter(version)
    install = installations.INSTALLERS[installer]
    installed = install(python, wheel, operator.folder, operator.installs)
    short, long = (installed.programs / name for name in ("openclaw", "openclaw-cli"))
    # By this the completions tell whether the short name is ours.
    assert filecmp.cmp(short, long, shallow=False)
    for program in (short, long):
        assert operator.run(program, "--version") == f"openclaw {__version__}\n"
    operator.does_the_main_job(long)
    pages = {path.name for path in (ROOT / "man").glob("*/*")}
    if installer != "uv":  # which keeps to programs
        shown = {path.name for path in (installed.root / "share" / "man").glob("man*/*")}
        assert shown == pages
    before = operator.tree()
    installed.uninstall()
    assert operator.tree() == before
    left = [path for path in files_below(installed.root) if "openclaw" in str(path)]
    # The lock and the log are pipx's own.
    assert {path.name for path in left} <= {".openclaw-cli.lock"}
    share = installed.root / "share"
    assert not files_below(share)


def test_the_metadata_name_the_extras_and_the_pythons(wheel):
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"openclaw_cli-{__version__}.dist-info/METADATA").decode()
    metadata = Parser().parsestr(text)
    assert sorted({*metadata.get_all("Provides-Extra")} - {"dev"}) == EXTRAS
    named = [line.rpartition(":: ")[2] for line in metadata.get_all("Classifier")]
    assert {*installations.VERSIONS} <= {*named}


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_extra_can_be_installed_and_takes_nothing_away(wheel, operator, extra):
    if extra in COMPILED and shutil.which("c++") is None:
        pytest.skip(f"there is no C++ compiler here: the extra {extra} was not installed")
    versions = [version for version in installations.VERSIONS if installations.found(version)]
    python = installations.interpreter(versions[-1])
    venv = operator.folder / "venv"
    uv = [sys.executable, "-m", "uv"]
    env = {**operator.installs, "HNSWLIB_NO_NATIVE": "1"}
    installations.run(*uv, "venv", "--python", python, venv, env=env, cwd=operator.folder)
    for what in (["install", f"{wheel}[{extra}]"], ["check"]):
        pip = [*uv, "pip", what[0], "--python", venv, *what[1:]]
        installations.run(*pip, env=env, cwd=operator.folder)
    names = "; ".join(
        f"importlib.metadata.version({requirement.split('>')[0]!r})"
        for requirement in PROJECT["optional-dependencies"][extra]
    )
    operator.run(venv / "bin" / "python", "-c", f"import importlib.metadata; {names}")
    operator.does_the_main_job(venv / "bin" / "openclaw")


def test_beside_another_program_of_the_short_name_the_long_one_always_works(wheel, operator):
    python = sys.executable
    installed = installations.by_uv(python, wheel, operator.folder, operator.installs)
    other = operator.folder / "other" / "openclaw"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho another\n")
    other.chmod(0o755)
    rest = os.environ["PATH"]
    first = os.pathsep.join([str(other.parent), str(installed.programs), rest])
    later = os.pathsep.join([str(installed.programs), str(other.parent), rest])
    assert operator.run("sh", "-c", "openclaw --version", PATH=first) == "another\n"
    assert operator.run("sh", "-c", "openclaw --version", PATH=later) == f"openclaw {__version__}\n"
    for path in (first, later):
        said = operator.run("sh", "-c", "openclaw-cli --version", PATH=path)
        assert said == f"openclaw {__version__}\n"
        operator.run("sh", "-c", "openclaw-cli memory add A --no-embed --quiet", PATH=path)
    for shell in ("bash", "fish"):
        run = f"openclaw-cli completion {shell} --install --quiet"
        assert operator.run("sh", "-c", run, PATH=first).count("\n") == 1
        assert operator.run("sh", "-c", run, PATH=later).count("\n") == 2


def test_a_store_is_the_same_under_every_python(wheel, operator):
    versions = [version for version in installations.VERSIONS if installations.found(version)]
    if len(versions) < 2:
        pytest.skip(f"this machine has Python {versions} only: nothing to compare it with")
    packed = set()
    for version in [*versions, versions[0]]:
        folder = operator.folder / version
        folder.mkdir(exist_ok=True)
        python = installations.interpreter(version)
        installed = installations.by_uv(python, wheel, folder, operator.installs)
        cli = installed.programs / "openclaw-cli"
        if not packed:
            sample = ROOT / "tests" / "data" / "sample" / "madial_zh.jsonl"
            operator.run(cli, "memory", "import", sample, "--no-embed")
            operator.run(cli, "memory", "index")
            operator.run(cli, "session", "new", "--id", "s-1")
            operator.run(cli, "session", "archive", "s-1")
        assert "all ok" in operator.run(cli, "doctor")
        assert "nothing to do" in operator.run(cli, "memory", "index")
        operator.run(cli, "memory", "export", "--output", "export.jsonl.gz", "--force")
        packed.add((operator.folder / "export.jsonl.gz").read_bytes())
    assert len(packed) == 1
