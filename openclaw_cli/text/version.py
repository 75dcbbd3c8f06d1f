"""The version of the rules of ``analyze``, known without loading them."""

from __future__ import annotations

ANALYZER_VERSION = "3"
"""Name of the rules: an index built under another version must be built again."""
