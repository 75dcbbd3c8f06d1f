"""Checks of what all agents share: the state directory, the configuration, the models."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

from openclaw_cli.config import Config
from openclaw_cli.environment import Environment
from openclaw_cli.errors import OpenclawError
from openclaw_cli.memory.doctor.diagnosis import (
    DAMAGED,
    FIXABLE,
    OK,
    Check,
    Fault,
    judged,
    mebibytes,
)
from openclaw_cli.paths import SHARED_AGENT, StatePaths, valid_name
from openclaw_cli.result import counted
from openclaw_cli.store import locks, survey

#: Below this many bytes of free space the next index run may not come to its end.
SPACE = 256 << 20
_PC_2_SYMLINKS = (
    20  # POSIX's question whether symbolic links can be made; Python has no name for it
)
_OURS = ("openclaw.json", "agents", "models", "logs")
_MODEL_FAULTS = {
    "missing": "cannot be read",
    "length": "has another length",
    "different": "has another SHA-256",
}


def check_state(env: Environment) -> Iterator[Check]:
    """Yield what concerns the state directory as a whole; it need not exist yet."""
    yield _directory(env.state)
    if env.state.root.is_dir():
        yield _free_space(env.state)
        yield _file_system(env.state)
        yield modes("modes", shared_items(env.state))
        yield _agent_names(env.state)
        yield from _others(env.state)
    yield _configuration(env)
    yield _models(env)


def _directory(state: StatePaths) -> Check:
    name, root = "state directory", state.root
    if not os.path.lexists(root):
        return Check(name, OK, f"{root} does not exist yet; the first memory makes it")
    for folder in (root, state.agents, state.models, state.logs):
        if os.path.lexists(folder) and not folder.is_dir():
            fault = Fault(str(folder), "is not a folder")
            hint = "move it away, or give another --state-dir"
            return Check(name, DAMAGED, f"{folder} is not a folder", faults=(fault,), hint=hint)
    owner, user = root.stat().st_uid, _user()
    if user is not None and owner != user:
        said = f"{root} belongs to user id {owner}, this program runs as {user}"
        if user == 0:
            return Check(name, OK, f"{said}: what it writes belongs to that user no more")
        return Check(name, DAMAGED, said, hint="run it as the owner, or change the owner (chown)")
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        return Check(name, FIXABLE, f"{root} cannot be written to", hint="check its permissions")
    return Check(name, OK, str(root))


def _user() -> int | None:
    return os.geteuid() if hasattr(os, "geteuid") else None


def _free_space(state: StatePaths) -> Check:
    try:
        found = os.statvfs(state.root)
    except OSError as error:
        return Check("free space", FIXABLE, f"cannot be told: {error.strerror}")
    free = found.f_bavail * found.f_frsize
    detail = f"{mebibytes(free)} free"
    if free < SPACE:
        hint = f"an index run needs room for a second index: free at least {mebibytes(SPACE)}"
        return Check("free space", FIXABLE, detail, hint=hint)
    return Check("free space", OK, detail)


def _file_system(state: StatePaths) -> Check:
    faults = []
    try:
        if sys.platform == "linux" and os.pathconf(state.root, _PC_2_SYMLINKS) == 0:
            faults.append(Fault(str(state.root), "does not allow symbolic links"))
    except (OSError, ValueError):
        pass  # not every system answers that; an index run tells
    try:
        if os.name == "posix" and not locks.supported(state.root):
            faults.append(Fault(str(state.root), "does not support locks"))
    except OSError as error:
        faults.append(Fault(str(state.root), f"cannot be opened: {error.strerror}"))
    hint = "keep the state directory on a local file system with symbolic links and locks"
    return judged("file system", "symbolic links and locks", faults, DAMAGED, "not usable", hint)


def shared_items(state: StatePaths) -> list[survey.Item]:
    """Return what is this program's in the state directory and belongs to no agent.

    The files of the models are nobody's secret, and other programs' files have modes of their own.
    """
    places = (state.root, state.config, state.agents, state.models, state.logs)
    found = [survey.look(path) for path in places]
    return [*(item for item in found if item is not None), *survey.walk(state.logs)]


def modes(name: str, items: Iterable[survey.Item]) -> Check:
    """Return the check that every file is 0600 and every folder 0700."""
    count, faults = 0, []
    for item in items:
        count += 1
        if not item.has_right_mode:
            faults.append(Fault(str(item.path), f"{item.kind} {item.mode:04o}"))
    sound = f"{counted(count, 'file or folder is', 'files and folders are')} 0600 and 0700"
    return judged(name, sound, faults, FIXABLE, "# with a mode other than 0600 (folders 0700)")


def _agent_names(state: StatePaths) -> Check:
    faults = [
        Fault(str(state.agents / name), "the name is not a valid agent id")
        for name in _names(state)
        if not valid_name(name) and name != SHARED_AGENT and not name.startswith(".")
    ]
    hint = "rename them: ids are 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit"
    return judged(
        "agents", "every agent has a valid name", faults, DAMAGED, "# that no command reads", hint
    )


def _names(state: StatePaths) -> list[str]:
    try:
        return sorted(os.listdir(state.agents))
    except OSError:
        return []


def _others(state: StatePaths) -> Iterator[Check]:
    try:
        names = sorted(set(os.listdir(state.root)) - set(_OURS))
    except OSError:
        return
    if names:
        yield Check("other programs", OK, f"left alone: {', '.join(names)}")


def _configuration(env: Environment) -> Check:
    name, path = "configuration", env.state.config
    try:
        doubts = Config.load(path).doubts()
    except OpenclawError as error:
        problems = error.details.get("problems")
        held = problems if isinstance(problems, list) else []
        faults = tuple(Fault(str(path), f"{p['key']} {p['message']}") for p in held)
        return Check(name, DAMAGED, error.message, faults=faults, hint=error.hint)
    if doubts:
        said = "; ".join(f"{doubt.key} {doubt.message}" for doubt in doubts[:3])
        return Check(name, OK, f"valid, with settings that have no effect: {said}")
    return Check(name, OK, "valid" if path.exists() else "no file, defaults apply")


def _models(env: Environment) -> Check:
    from openclaw_cli.embed.catalog import Catalog, verify

    catalog = Catalog(env.state.models)
    faults = [Fault(problem.path, problem.message) for problem in catalog.problems]
    faults += [
        Fault(bad.path, f"{_MODEL_FAULTS[bad.kind]} ({model.name})")
        for model in catalog.models
        for bad in verify(model).problems
    ]
    wanted = env.config.optional_text("memory.embedding.localModel")
    names = [model.name for model in catalog.models]
    if wanted is not None and wanted not in names:
        faults.append(Fault(str(env.state.models), f"there is no model {wanted!r}, as configured"))
    sound = f"{', '.join(names)}: every file has its recorded SHA-256"
    hint = "install them again (openclaw model verify); until then words are found without them"
    return judged("models", sound, faults, DAMAGED, "# that cannot be used", hint)
