"""Fresh environments on each Python of this machine, made by each installer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

VERSIONS = ("3.11", "3.12", "3.13")
_ASK = "import sys; print('%d.%d' % sys.version_info[:2], getattr(sys, '_base_executable', ''))"
#: What of this process would reach into an environment, or say where installers work.
_FOREIGN = ("PYTHON", "VIRTUAL_ENV", "OPENCLAW_", "PIPX_", "UV_TOOL_", "UV_PYTHON", "XDG_")


class Installation(NamedTuple):
    """Where an installer has put the programs and everything else, and how to take it away."""

    programs: Path
    root: Path
    uninstall: Callable[[], object]


@cache
def found(version: str) -> str | None:
    """Return the Python of that version, None where this machine has none."""
    name = f"python{version}"
    uv = [sys.executable, "-m", "uv", "python", "find", "--no-python-downloads", version]
    tries = [
        ([sys.executable], {}),
        ([name], {}),
        ([name], {"PYENV_VERSION": version}),  # its stand-ins on PATH refuse without that
        ([_output(uv, {}).strip()], {}),
    ]
    for command, more in tries:
        says, _, path = _output([*command, "-c", _ASK], more).strip().partition(" ")
        if says == version and path:
            return path
    return None


def _output(command: list[str], more: dict[str, str]) -> str:
    if not command[0] or shutil.which(command[0]) is None:
        return ""
    env = {**os.environ, **more}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False).stdout


def interpreter(version: str) -> str:
    """Return the Python of that version; skip the test where there is none."""
    python = found(version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}: not tried with it")
    return python


def environment(home: Path) -> dict[str, str]:
    """Return the environment of somebody with an empty home; only installers' caches are kept."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(_FOREIGN)}
    caches = {
        "UV_CACHE_DIR": ["uv", "cache", "dir"],
        "PIP_CACHE_DIR": ["pip", "--disable-pip-version-check", "cache", "dir"],
    }
    for name, command in caches.items():
        env.setdefault(name, _output([sys.executable, "-m", *command], {}).strip())
    home.mkdir(exist_ok=True)
    return {**env, "HOME": str(home)}


def run(*args: str | Path, env: Mapping[str, str], cwd: Path) -> str:
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run(args, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (args, done.stdout, done.stderr)
    return done.stdout


def by_pip(python: str, wheel: Path, folder: Path, env: dict[str, str]) -> Installation:
    """Install with pip, into an environment that has what its Python brings along.

    On other Pythons than this one all that is depended on is there before: pip takes long for it.
    """
    root = folder / "venv"
    run(python, "-m", "venv", root, env=env, cwd=folder)
    if python != found(f"{sys.version_info[0]}.{sys.version_info[1]}"):
        uv = [sys.executable, "-m", "uv", "pip", "install", "--python", root]
        run(*uv, "--requirements", ROOT / "pyproject.toml", env=env, cwd=folder)
    pip = [root / "bin" / "python", "-m", "pip"]
    run(*pip, "install", "--quiet", wheel, env=env, cwd=folder)
    remove = [*pip, "uninstall", "--yes", "openclaw-cli"]
    return Installation(root / "bin", root, lambda: run(*remove, env=env, cwd=folder))


def by_pipx(python: str, wheel: Path, folder: Path, env: dict[str, str]) -> Installation:
    """Install with pipx, which links programs, manual pages and completions."""
    root = folder / "pipx"
    places = {"HOME": "home", "BIN_DIR": "bin", "MAN_DIR": "share/man", "COMPLETION_DIR": "share"}
    own = {**env, **{f"PIPX_{name}": str(root / place) for name, place in places.items()}}
    pipx = [sys.executable, "-m", "pipx"]
    run(*pipx, "install", "--python", python, wheel, env=own, cwd=folder)
    remove = [*pipx, "uninstall", "openclaw-cli"]
    return Installation(root / "bin", root, lambda: run(*remove, env=own, cwd=folder))


def by_uv(python: str, wheel: Path, folder: Path, env: dict[str, str]) -> Installation:
    """Install as a tool of uv."""
    root = folder / "uv"
    own = {**env, "UV_TOOL_DIR": str(root / "tools"), "UV_TOOL_BIN_DIR": str(root / "bin")}
    uv = [sys.executable, "-m", "uv", "tool"]
    run(*uv, "install", "--python", python, wheel, env=own, cwd=folder)
    remove = [*uv, "uninstall", "openclaw-cli"]
    return Installation(root / "bin", root, lambda: run(*remove, env=own, cwd=folder))


INSTALLERS = {"pip": by_pip, "pipx": by_pipx, "uv": by_uv}
