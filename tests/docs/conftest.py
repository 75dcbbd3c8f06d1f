"""The prepared store, made once a process."""

from __future__ import annotations

import pytest

from tests.docs import prepared


@pytest.fixture(scope="session")
def _prepared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("prepared")


@pytest.fixture
def prepared_store(hermetic, _prepared_folder):
    """The folder of the prepared store; for reading only."""
    if not (_prepared_folder / "export.json").exists():
        prepared.build(_prepared_folder)
    return _prepared_folder
