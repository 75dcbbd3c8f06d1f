"""What a memory command brings along; the same for every kind of store."""

from __future__ import annotations

from openclaw_cli.environment import Environment

__all__ = ["Environment"]
