"""What these tests share with those that stop the program."""

from __future__ import annotations

from tests.crash.conftest import boot, folder, laboratory, record, records

__all__ = ["boot", "folder", "laboratory", "record", "records"]
