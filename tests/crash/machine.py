"""A machine whose disk stops at its n-th durable step, and which knows what a power cut leaves."""

from __future__ import annotations

import os
import shutil
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from openclaw_cli.store import fsio

STOPPED = 77


class Stop(BaseException):
    """The program ends here; nothing but clean-up may follow."""


@dataclass(frozen=True)
class Step:
    """One durable step: its number from 1, its kind, and the path it concerns."""

    number: int
    kind: str
    path: Path

    def __str__(self) -> str:
        return f"step {self.number} ({self.kind} {self.path})"


# -- the medium: what a power cut leaves ----------------------------------------------------------


@dataclass
class File:
    """Content now, and as last synced; after a failed sync (``lost``) later ones save nothing."""

    live: bytes = b""
    kept: bytes = b""
    lost: bool = False


@dataclass
class Link:
    target: str


@dataclass
class Folder:
    """Names now, as last synced, and the changes since: each is kept or lost as a whole."""

    live: dict[str, Node] = field(default_factory=dict)
    kept: dict[str, Node] = field(default_factory=dict)
    changes: list[dict[str, Node | None]] = field(default_factory=list)

    def change(self, change: dict[str, Node | None]) -> None:
        self.changes.append(change)
        _apply(self.live, change)


@dataclass
class Move:
    """A rename from one folder to another: a journal keeps or loses both sides together."""

    source: Folder
    target: Folder
    gone: dict[str, Node | None]
    come: dict[str, Node | None]


Node = File | Link | Folder


def _apply(names: dict[str, Node], change: dict[str, Node | None]) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


class Medium:
    """What is where below ``root``, now and on the medium; all that is there already is durable."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tree = self._read(root)
        self.moves: list[Move] = []

    def _read(self, path: Path) -> Node:
        if path.is_symlink():
            return Link(os.readlink(path))
        if path.is_dir():
            names = {inner.name: self._read(inner) for inner in path.iterdir()}
            return Folder(dict(names), names)
        data = path.read_bytes()
        return File(data, data)

    def node(self, path: Path) -> Node | None:
        """Return what is at ``path`` now; None for what was not made by durable steps."""
        if not path.is_relative_to(self.root):
            return None
        node: Node | None = self.tree
        for name in path.relative_to(self.root).parts:
            node = node.live.get(name) if isinstance(node, Folder) else None
        return node

    def name(self, path: Path, node: Node | None) -> None:
        self._folder(path).change({path.name: node})

    def rename(self, source: Path, target: Path) -> None:
        node = self.node(source)
        if source.parent == target.parent:
            self._folder(source).change({source.name: None, target.name: node})
            return
        move = Move(
            self._folder(source), self._folder(target), {source.name: None}, {target.name: node}
        )
        move.source.change(move.gone)
        move.target.change(move.come)
        self.moves.append(move)

    def _folder(self, path: Path) -> Folder:
        folder = self.node(path.parent)
        assert isinstance(folder, Folder), f"{path.parent} was not made by a durable step"
        return folder

    def written(self, path: Path) -> None:
        node = self.node(path)
        if isinstance(node, File):
            node.live = path.read_bytes()
            node.lost = node.lost and not node.kept.startswith(node.live)

    def synced(self, path: Path) -> None:
        node = self.node(path)
        if isinstance(node, Folder):
            node.kept, node.changes = dict(node.live), []
            for move in self.moves:
                if node is move.source or node is move.target:
                    for folder in (move.source, move.target):
                        folder.kept, folder.changes = dict(folder.live), []
            self.moves = [m for m in self.moves if node is not m.source and node is not m.target]
        elif isinstance(node, File) and not node.lost:
            node.kept = node.live

    def sync_failed(self, path: Path) -> None:
        """The kernel forgets which pages were dirty: a later fsync finds nothing to do."""
        node = self.node(path)
        if isinstance(node, File):
            node.lost = True

    def all_synced(self, node: Node | None = None) -> None:
        """Contents become durable, names do not."""
        node = node or self.tree
        if isinstance(node, Folder):
            for inner in node.live.values():
                self.all_synced(inner)
        elif isinstance(node, File) and not node.lost:
            node.kept = node.live

    def after_power_cut(self, target: Path, chance: Random | None = None) -> None:
        """Write the tree as it is after the reboot to ``target``.

        Without ``chance`` everything that was not synced is lost; with it, a random part of it.
        """
        shutil.rmtree(target, ignore_errors=True)
        kept: set[int] = set()
        for move in self.moves:
            if chance is not None and chance.random() < 0.5:
                kept |= {id(move.gone), id(move.come)}
        self._write(self.tree, target, chance, kept)

    def _write(self, node: Node, path: Path, chance: Random | None, kept: set[int]) -> None:
        if isinstance(node, Link):
            path.symlink_to(node.target)
        elif isinstance(node, File):
            path.write_bytes(_survivor(node, chance))
            path.chmod(0o600)
        else:
            path.mkdir(0o700)
            names = dict(node.kept)
            moved = {id(change) for move in self.moves for change in (move.gone, move.come)}
            for change in node.changes:
                if id(change) in moved:
                    stays = id(change) in kept
                else:
                    stays = chance is not None and chance.random() < 0.5
                if stays:
                    _apply(names, change)
            for name, inner in names.items():
                self._write(inner, path / name, chance, kept)


def _survivor(file: File, chance: Random | None) -> bytes:
    if chance is None or file.lost:
        return file.kept
    torn = file.live[: chance.randint(0, len(file.live))]
    appended = len(torn) >= len(file.kept) and torn.startswith(file.kept)
    return chance.choice((file.kept, file.live, torn if appended or not file.kept else file.kept))


# -- the disk: every durable step is numbered, watched, and told to the medium ---------------------

Watch = Callable[[Step, Callable[[], object]], None]


def unwatched(_step: Step, _half: Callable[[], object]) -> None:
    """Let every step happen."""


class Machine(fsio.Disk):
    """A disk that asks ``watch`` before each step; it may raise, or never come back.

    ``watch`` gets the step, and what does one half of it (of a write; nothing otherwise). Nothing
    is really synced: the medium knows what would have been.
    """

    def __init__(self, root: Path, watch: Watch = unwatched) -> None:
        self.medium = Medium(root)
        self.watch = watch
        self.steps: list[Step] = []

    def _before(self, kind: str, path: Path, half: Callable[[], object] = lambda: None) -> None:
        shown = (
            path.relative_to(self.medium.root) if path.is_relative_to(self.medium.root) else path
        )
        self.steps.append(Step(len(self.steps) + 1, kind, shown))
        self.watch(self.steps[-1], half)

    def create(self, path: str | Path, flags: int) -> int:
        path = Path(path)
        if not path.exists():
            self._before("create", path)
        fd = super().create(path, flags)
        if self.medium.node(path) is None:
            self.medium.name(path, File())
        return fd

    def mkdir(self, path: Path) -> None:
        self._before("mkdir", path)
        super().mkdir(path)
        self.medium.name(path, Folder())

    def rmdir(self, path: Path) -> None:
        self._before("rmdir", path)
        super().rmdir(path)
        self.medium.name(path, None)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._before("write", _path(fd), lambda: self._write(fd, data[: len(data) // 2]))
        return self._write(fd, data)

    def _write(self, fd: int, data: bytes | memoryview) -> int:
        length = super().write(fd, data)
        self.medium.written(_path(fd))
        return length

    def truncate(self, fd: int, length: int) -> None:
        self._before("truncate", _path(fd))
        super().truncate(fd, length)
        self.medium.written(_path(fd))

    def fsync(self, fd: int) -> None:
        try:
            self._before("fsync", _path(fd))
        except OSError:
            self.medium.sync_failed(_path(fd))
            raise
        self.medium.synced(_path(fd))

    def sync_all(self, _folder: Path) -> bool:
        self._before("sync_all", self.medium.root)
        self.medium.all_synced()
        return True

    def rename(self, source: str | Path, target: str | Path) -> None:
        source, target = Path(source), Path(target)
        self._before("rename", target)
        super().rename(source, target)
        self.medium.rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._before("link", target)
        super().link(source, target)
        self.medium.name(target, self.medium.node(source))

    def unlink(self, path: str | Path) -> None:
        path = Path(path)
        self._before("unlink", path)
        super().unlink(path)
        self.medium.name(path, None)

    def symlink(self, target: str, link: Path) -> None:
        self._before("symlink", link)
        super().symlink(target, link)
        self.medium.name(link, Link(target))

    @contextmanager
    def running(self) -> Iterator[Machine]:
        """Be the disk of the program."""
        before, fsio.disk = fsio.disk, self
        try:
            yield self
        finally:
            fsio.disk = before


def _path(fd: int) -> Path:
    return Path(os.readlink(f"/proc/self/fd/{fd}"))


# -- ways to stop ----------------------------------------------------------------------------------


def raising(number: int) -> Watch:
    """Raise at the step, once: clean-up goes on."""

    def watch(step, _half):
        if step.number == number:
            raise Stop(str(step))

    return watch


def dying(number: int, *, torn: bool = False) -> Watch:
    """Do nothing from the step on (with ``torn`` a write half): a death without a fork."""

    def watch(step, half):
        if step.number == number and torn:
            half()
        if step.number >= number:
            raise Stop(str(step))

    return watch


def exiting(number: int) -> Watch:
    """End the process at the step, half-way through it where it is a write."""

    def watch(step, half):
        if step.number == number:
            half()
            os._exit(STOPPED)

    return watch


def waiting(number: int, pipe: int) -> Watch:
    """Announce the step on ``pipe`` and wait for the end."""

    def watch(step, _half):
        if step.number == number:
            os.write(pipe, b"x")
            signal.pause()

    return watch


def in_child(work: Callable[[], object], started: Callable[[int], object] | None = None) -> int:
    """Run ``work`` in a forked child and return its wait status; ``started`` is told its pid."""
    with warnings.catch_warnings():
        # The child uses none of the threads that the test runner may have.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    if started is not None:
        started(pid)
    return os.waitpid(pid, 0)[1]
