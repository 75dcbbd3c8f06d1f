"""A fresh memory for every test."""

from __future__ import annotations

import pytest

from tests.support import Memory


@pytest.fixture
def memory(tmp_path):
    return Memory(tmp_path / "state")
