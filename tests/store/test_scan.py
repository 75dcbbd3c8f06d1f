"""How many record files there are, and when that need not be counted."""

from __future__ import annotations

import time

import pytest

from openclaw_cli.paths import SCOPES, MemoryPaths
from openclaw_cli.store import fsio, scan

LATER = 60_000_000_000


@pytest.fixture
def paths(tmp_path):
    paths = MemoryPaths(tmp_path, tmp_path / "memory")
    for scope in SCOPES:
        fsio.make_folder(paths.records(scope))
    return paths


def test_only_names_of_record_files_count(paths):
    for name in ("one.json", "two.json", ".hidden.json", ".one.json.tmp-5", "note.txt", "json"):
        (paths.records("user") / name).write_bytes(b"")
    (paths.records("agent") / "a\nname.json").write_bytes(b"")
    assert scan.count(paths) == 3


def test_folders_without_records_count_none(paths, tmp_path):
    assert scan.count(paths) == 0
    assert scan.count(MemoryPaths(tmp_path, tmp_path / "none")) == 0


def test_folders_older_than_the_scan_are_unchanged(paths):
    now = time.time_ns()
    assert scan.unchanged(paths, now + LATER, now + LATER)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_name_that_is_new_changes_its_folder(paths, scope):
    time.sleep(0.06)
    scanned = time.time_ns()
    assert scan.unchanged(paths, scanned, scanned)
    paths.record(scope, "new").write_bytes(b"{}")
    assert not scan.unchanged(paths, scanned, time.time_ns())


def test_folders_as_old_as_the_scan_prove_nothing(paths):
    paths.record("user", "new").write_bytes(b"{}")
    now = time.time_ns()
    assert not scan.unchanged(paths, now, now)


def test_a_clock_that_was_set_back_proves_nothing(paths):
    now = time.time_ns()
    assert not scan.unchanged(paths, now + LATER, now)


def test_missing_folders_prove_nothing(tmp_path):
    now = time.time_ns()
    assert not scan.unchanged(MemoryPaths(tmp_path, tmp_path / "none"), now, now)
