"""What all tests share: a hermetic environment, and the program as a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Tests assert no times. CI repeats the same cases so that it tells of the change and not of luck;
# elsewhere every run explores new ones.
settings.register_profile("exploring", deadline=None)
settings.register_profile("repeating", deadline=None, derandomize=True)
settings.load_profile("repeating" if os.environ.get("CI") else "exploring")

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "tests" / "data" / "sample"
_FOREIGN = (
    *("OPENCLAW_", "OPENAI_", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "PYTHONIOENCODING", "LC_"),
    *("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
)


@dataclass(frozen=True)
class Run:
    """How a process ended: its exit status and what it said."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    @property
    def data(self) -> dict[str, Any]:
        """The data of a success."""
        assert self.document["ok"], self.out
        return self.document["data"]

    @property
    def error(self) -> dict[str, Any]:
        """The error of a failure."""
        assert not self.document["ok"], self.out
        return self.document["error"]


Cli = Callable[..., Run]


@pytest.fixture(autouse=True)
def hermetic(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a home of its own and an environment without a trace of the operator's."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_FOREIGN):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(home))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return home


@pytest.fixture
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory that does not exist yet, named by $OPENCLAW_STATE_DIR."""
    state = tmp_path / "state"
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(state))
    return state


@pytest.fixture
def run_cli(state_dir: Path) -> Iterator[Cli]:
    """Run ``python -m openclaw_cli`` with these arguments and return how it ended."""

    def run(
        *args: str | bytes | Path,
        stdin: str | bytes | None = None,
        env: dict[str, str] | None = None,
        timeout: float = 120,
    ) -> Run:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "openclaw_cli", *args],
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            env={**os.environ, **(env or {})},
            timeout=timeout,
            check=False,
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    yield run
    assert not list(state_dir.glob("logs/crash-*")), "the program has crashed"


@pytest.fixture(scope="session")
def sample() -> Path:
    """The folder of the sample memories."""
    return SAMPLE
