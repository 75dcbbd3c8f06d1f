"""Generations: the link shows a whole one, readers keep theirs, leftovers are swept."""

from __future__ import annotations

import os

import pytest

from openclaw_cli.errors import StorageError
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.store import fsio, generations
from openclaw_cli.store.newfile import NewFile


@pytest.fixture
def paths(tmp_path):
    found = MemoryPaths(tmp_path, tmp_path / "memory")
    fsio.make_folder(found.root)
    return found


def publish(paths, content):
    number, folder = generations.prepare(paths)
    with NewFile(folder / "config.json") as target:
        target.write(content)
    generations.publish(paths, number)
    return number


def test_there_is_none_before_the_first(paths):
    assert generations.open_current(paths) is None


def test_a_reader_keeps_its_generation_while_the_link_is_switched(paths):
    publish(paths, b"one")
    reader = generations.open_current(paths)
    publish(paths, b"two")
    assert reader.read("config.json") == b"one"
    assert generations.open_current(paths).read("config.json") == b"two"


def test_half_made_generations_are_swept_and_numbers_rise(paths):
    first = publish(paths, b"one")
    abandoned, _folder = generations.prepare(paths)
    assert abandoned == first + 1
    second = publish(paths, b"two")
    generations.sweep(paths)
    assert os.listdir(paths.generations) == [str(second)]


@pytest.mark.parametrize("target", ["generations/7", "../elsewhere", "generations/x"])
def test_a_link_that_leads_nowhere_is_no_generation(paths, target):
    generations.switch_link(paths.index, target)
    assert generations.open_current(paths) is None


def test_a_folder_in_place_of_the_link_is_a_clear_error(paths):
    paths.index.mkdir()
    number, _folder = generations.prepare(paths)
    with pytest.raises(StorageError, match="not a symbolic link"):
        generations.publish(paths, number)
