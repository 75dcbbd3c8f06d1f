from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from openclaw_cli.index.file.checksum import full_digest, sample_digest, sample_digest_of
from openclaw_cli.store import files

MIB = 1 << 20
WHOLE = 8 * MIB


@pytest.mark.parametrize("size", [0, 1, 70_000, WHOLE, WHOLE + 1, 20_000_003])
def test_a_mapped_file_bytes_and_a_view_of_them_have_the_same_checksum(
    tmp_path: Path, size: int
) -> None:
    content = np.random.default_rng(size).bytes(size)
    path = tmp_path / "m.f32"
    path.write_bytes(content)
    expected = sample_digest(content)
    assert sample_digest(files.mapped(path)) == expected
    assert sample_digest(memoryview(content)) == expected
    assert sample_digest_of(path) == expected
    assert full_digest(files.mapped(path)) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("size", [1, 70_000, WHOLE])
def test_every_byte_of_up_to_8_mib_counts(size: int) -> None:
    content = bytearray(np.random.default_rng(1).bytes(size))
    clean = sample_digest(bytes(content))
    for position in {0, size // 2, *range(0, size, 700_001), size - 1}:
        content[position] ^= 1
        assert sample_digest(bytes(content)) != clean
        content[position] ^= 1
    assert sample_digest(bytes(content)) == clean


@pytest.mark.parametrize("size", [WHOLE + 1, 50_000_000])
def test_both_ends_of_a_big_file_count_to_the_byte(size: int) -> None:
    content = bytearray(size)
    clean = sample_digest(memoryview(content))
    for position in (0, 1, 65_535, size - 65_536, size - 2, size - 1):
        content[position] ^= 1
        assert sample_digest(memoryview(content)) != clean
        content[position] ^= 1


@pytest.mark.parametrize("size", [WHOLE + 1, 50_000_000])
def test_damage_of_a_256th_of_a_big_file_is_found_wherever_it_is(size: int) -> None:
    content = bytearray(size)
    clean = sample_digest(memoryview(content))
    part = size // 256
    for start in range(0, size - part, part // 3):
        sound = content[start : start + part]
        content[start : start + part] = b"\1" * part
        assert sample_digest(memoryview(content)) != clean
        content[start : start + part] = sound


def test_blocks_that_changed_places_are_found() -> None:
    content = np.random.default_rng(3).bytes(12 * MIB)
    swapped = content[: 4 * MIB] + content[8 * MIB :] + content[4 * MIB : 8 * MIB]
    assert sample_digest(swapped) != sample_digest(content)


@pytest.mark.parametrize("size", [0, 1, 1000, WHOLE, WHOLE + 1, 2 * WHOLE])
def test_a_file_of_zeros_that_is_longer_or_shorter_is_another_one(size: int) -> None:
    digests = {sample_digest(bytes(size + more)) for more in range(4)}
    assert len(digests) == 4


def test_one_changed_bit_anywhere_changes_the_full_digest() -> None:
    content = bytearray(WHOLE + MIB)
    clean = full_digest(bytes(content))
    for position in range(0, len(content), 1_234_567):
        content[position] ^= 1
        assert full_digest(bytes(content)) != clean
        content[position] ^= 1
