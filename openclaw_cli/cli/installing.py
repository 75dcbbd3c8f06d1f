"""Where the shells look for completions of one's own, and putting ours there."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from openclaw_cli.errors import ExistsError
from openclaw_cli.paths import home_folder
from openclaw_cli.store import fsio

#: In every script; a file without it is somebody else's.
MARK = b"# Completion of openclaw(1) for "
#: The file of each shell, and the one by which it finds that under the short name.
_NAMES = {
    "bash": ("openclaw-cli", "openclaw"),
    "zsh": ("_openclaw-cli", None),
    "fish": ("openclaw-cli.fish", "openclaw.fish"),
}


def script(shell: str) -> bytes:
    """Return the completion for ``shell``."""
    from openclaw_cli.cli.generate.tree import commands

    text: str = import_module(f"openclaw_cli.cli.generate.{shell}").script(commands())
    return text.encode()


def other_program(env: Mapping[str, str]) -> str | None:
    """Return the program that PATH has under the short name, None if that is ours or nobody's.

    Every installer makes both names of the same bytes; the completions judge by that, too.
    """
    places = env.get("PATH", "")
    short, own = shutil.which("openclaw", path=places), shutil.which("openclaw-cli", path=places)
    try:
        same = short is None or (own is not None and filecmp.cmp(short, own, shallow=False))
    except OSError:
        same = False
    return None if same else short


def folder(shell: str, env: Mapping[str, str]) -> tuple[Path, str]:
    """Return the operator's own folder for completions, and what is left to do ("" for nothing)."""
    home = home_folder(env)
    data = Path(_absolute(env, "XDG_DATA_HOME") or os.path.join(home, ".local", "share"))
    if shell == "fish":
        config = Path(_absolute(env, "XDG_CONFIG_HOME") or os.path.join(home, ".config"))
        return config / "fish" / "completions", ""
    if shell == "bash":
        own = _absolute(env, "BASH_COMPLETION_USER_DIR")
        base = Path(own) if own else data / "bash-completion"
        note = "bash finds it where the package bash-completion is installed and loaded"
        return base / "completions", note
    for place in env.get("FPATH", "").split(os.pathsep):
        if place.startswith(home + os.sep) and os.access(place, os.W_OK):
            return Path(place), ""
    place = str(data / "zsh" / "site-functions")
    return Path(place), f"put this into .zshrc, before compinit: fpath=({place} $fpath)"


def _absolute(env: Mapping[str, str], name: str) -> str | None:
    """Return a folder that a variable names; a relative one is to be ignored, says the standard."""
    value = env.get(name, "")
    return value if os.path.isabs(value) else None


def install(shell: str, place: Path, *, both: bool, force: bool) -> list[str]:
    """Write the files of ``shell`` for the long name, or for ``both``, and return their paths.

    Raises `ExistsError`, with nothing written, where one is there that is not ours.
    """
    long, short = _NAMES[shell]
    targets = {place / long: script(shell)}
    if short and both:
        targets[place / short] = import_module(f"openclaw_cli.cli.generate.{shell}").SHORT.encode()
    for target in targets:
        if os.path.lexists(target) and not force and not _is_ours(target):
            raise ExistsError(
                f"{target} is there and not ours",
                path=str(target),
                hint="look at it; --force replaces it",
            )
    fsio.make_folder(place)
    for target, text in targets.items():
        fsio.write_file(target, text)
    return [str(target) for target in targets]


def _is_ours(path: Path) -> bool:
    try:
        return MARK in path.read_bytes()[:200]
    except OSError:
        return False
