"""The source of the package as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "openclaw_cli"


def _walk(tree: ast.AST, for_types: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not for_types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from _walk(node, for_types)


@dataclass(frozen=True)
class Module:
    """One module: its name below the package ("" for the package itself) and its source."""

    name: str
    path: Path

    @cached_property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def part(self) -> str:
        """The first name below the package: the layer, or the leaf module itself."""
        return self.name.partition(".")[0]

    def imports(self, *, for_types: bool = True) -> Iterator[str]:
        """Yield every imported module by full name, those inside functions included.

        ``for_types=False`` leaves out what only type checkers import.
        """
        for node in _walk(self.tree, for_types):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"relative import in {self.path}"
                yield str(node.module)
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        """Yield every call with the dotted text of what is called."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield ast.unparse(node.func), node

    def names(self) -> Iterator[str]:
        """Yield the dotted text of every attribute that is used."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute):
                yield ast.unparse(node)


def _modules() -> list[Module]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found.append(Module(".".join(parts), path))
    return found


@pytest.fixture(scope="session")
def modules() -> list[Module]:
    found = _modules()
    assert len(found) > 40, "the package was not found"
    return found
