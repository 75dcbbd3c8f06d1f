"""The one table of memory categories: scope, merge strategy, initial stability, names."""

from __future__ import annotations

from typing import Literal, NamedTuple

from openclaw_cli.errors import UsageError

Strategy = Literal["overwrite", "latest-wins", "append", "no-merge"]


class Category(NamedTuple):
    """One kind of memory; ``stability`` is the default initial stability in days."""

    name: str
    scopes: tuple[str, ...]
    strategy: Strategy
    stability: float


CATEGORIES: dict[str, Category] = {
    category.name: category
    for category in (
        Category("profile", ("user",), "overwrite", 180.0),
        Category("preference", ("user",), "latest-wins", 60.0),
        Category("event", ("user",), "no-merge", 14.0),
        Category("lesson", ("agent",), "append", 60.0),
        Category("pattern", ("agent",), "latest-wins", 60.0),
        Category("case", ("agent",), "no-merge", 30.0),
        # The stability of an insight comes from its evidence; this is for one without any.
        Category("insight", ("user", "agent"), "latest-wins", 180.0),
    )
}


def category_of(name: str) -> Category:
    """Return the category called ``name``; `UsageError` lists those that exist."""
    found = CATEGORIES.get(name)
    if found is None:
        raise UsageError(
            f"unknown category {name[:60]!r}", hint="categories are " + ", ".join(CATEGORIES)
        )
    return found


def scope_for(category: Category, scope: str | None) -> str:
    """Return the scope a record of ``category`` goes to; `UsageError` when ``scope`` cannot be."""
    if scope is None:
        return category.scopes[0]
    if scope not in category.scopes:
        raise UsageError(
            f"a {category.name} belongs to scope {' or '.join(category.scopes)}, not {scope!r}",
            hint="leave --scope out, or choose another --category",
        )
    return scope
