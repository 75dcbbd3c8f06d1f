"""Fresh sessions for every test."""

from __future__ import annotations

import pytest

from tests.session.support import Sessions


@pytest.fixture
def sessions(tmp_path):
    return Sessions(tmp_path / "state")
