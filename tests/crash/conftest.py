"""Operations recorded once a process, for tests that stop or fail them at every step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from openclaw_cli import ids
from openclaw_cli.embed import catalog
from openclaw_cli.memory import embedding
from openclaw_cli.memory.indexing import vectorising
from openclaw_cli.store import fsio
from openclaw_cli.transfer import importer
from openclaw_cli.transfer.migration import migrator, rollback
from tests.crash.operations import Record, recorded

_embedding = embedding.Embedding
_shared: dict[str, embedding.Embedding] = {}


class Unsynced(fsio.Disk):
    """A process that dies loses nothing it has written, so nothing needs to be synced really."""

    def fsync(self, fd):
        pass

    def sync_all(self, _folder):
        return True


@pytest.fixture
def boot(monkeypatch) -> list[str]:
    """Which boot of the machine this is; another text in the list is a reboot."""
    current = ["the first"]
    monkeypatch.setattr(ids, "boot_id", lambda: current[0])
    return current


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where one case after the other is played; in memory where the machine has such a place."""
    memory = "/dev/shm"
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name).resolve() / "work"


@pytest.fixture
def laboratory(monkeypatch, boot) -> None:
    """Small batches, so that few records make many; one model, loaded once.

    A single thread runs the model, so that a forked child can go on with it. Its files are not
    hashed for every case.
    """

    def shared(catalog, threads):
        return _shared.setdefault("only", _embedding(catalog, threads))

    monkeypatch.setattr(fsio, "disk", Unsynced())
    monkeypatch.setattr(catalog, "verify", lambda model: catalog.VerifyResult(model, ()))
    monkeypatch.setattr(importer, "BATCH", 3)
    monkeypatch.setattr(migrator, "BATCH", 2)
    monkeypatch.setattr(rollback, "BATCH", 2)
    monkeypatch.setattr(vectorising, "BATCH", 2)
    monkeypatch.setattr(ids, "processors", lambda: 1)
    monkeypatch.setattr(embedding, "Embedding", shared)


@pytest.fixture(scope="session")
def records() -> dict[str, Record]:
    return {}


@pytest.fixture
def record(operation, records, tmp_path_factory, monkeypatch, laboratory) -> Record:
    """The undisturbed run of ``operation``."""
    if operation.name not in records:
        folder = tmp_path_factory.mktemp("operation")
        records[operation.name] = recorded(operation, folder, monkeypatch)
    return records[operation.name]
