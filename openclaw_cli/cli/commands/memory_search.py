"""``memory search``: find memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.filters import build_filters
from openclaw_cli.cli.options import Category, Language, Scope, Since, Tag, Until, User
from openclaw_cli.cli.source import check_argument
from openclaw_cli.cli.view import View, short_id
from openclaw_cli.result import Result

EXAMPLES = (
    'openclaw memory search "which editor does the user like"',
    "openclaw memory search 部署 --mode lexical --since 30d",
    'openclaw memory search "deploy 脚本" --top-k 3 --explain',
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_UNAVAILABLE)


def command(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    top_k: Annotated[
        int | None,
        typer.Option(
            "--top-k", "-k", metavar="N", min=1, max=1000, help="At most so many [default: 10]."
        ),
    ] = None,
    mode: Annotated[
        Literal["hybrid", "lexical", "dense"] | None,
        typer.Option("--mode", help="Ask words, vectors, or both [default: hybrid]."),
    ] = None,
    fusion: Annotated[
        Literal["relative", "rrf"] | None,
        typer.Option("--fusion", help="How both become one list [default: relative]."),
    ] = None,
    category: Category = None,
    scope: Scope = None,
    user: User = None,
    tag: Tag = None,
    language: Language = None,
    since: Since = None,
    until: Until = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how each score came about.")
    ] = False,
    touch: Annotated[
        bool, typer.Option("--touch", help="Record in each hit that it was recalled.")
    ] = False,
    level: Annotated[
        Literal["l0", "l1", "l2"],
        typer.Option("--level", help="Show the summary, the overview or the full text."),
    ] = "l0",
) -> Result:
    """Find memories by words and by meaning.

    Words are found in every language; meaning needs a model that reads the language of the
    query. Defaults come from memory.retrieval in the configuration. Nothing is written unless
    --touch is given. No hit is no failure.
    """
    from openclaw_cli.memory.requests import SearchRequest

    invocation = current(ctx)
    filters = build_filters(
        invocation,
        category=category,
        scope=scope,
        user=user,
        tag=tag,
        language=language,
        period=(since, until),
    )
    request = SearchRequest(
        query=check_argument(query, "QUERY"),
        top_k=top_k,
        mode=mode,
        fusion=fusion,
        filters=filters,
        explain=explain,
        level=level,
        touch=touch,
    )
    chosen = mode or invocation.config.text("memory.retrieval.mode")
    return invocation.memory(embeds=chosen != "lexical").search(request)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show the hits, best first; only ids when quiet."""
    results = data["results"]
    if view.quiet:
        yield from (hit["id"] for hit in results)
        return
    if view.verbose or any("explain" in hit for hit in results):
        yield from _about_query(data, view)
    if not results:
        yield "nothing found"
    for hit in results:
        yield from _headline(hit, view)
        yield from view.block(_shown_text(hit), 4)
        if hit.get("explain"):
            for line in view.block(_explanation(hit["explain"]), 4):
                yield view.style(line, "dim")


def _headline(hit: dict[str, Any], view: View) -> Iterator[str]:
    return view.words(
        [
            (f"{hit['rank']:>2}", "bold"),
            (f"{hit['score']:.3f}", ""),
            (hit["category"], ""),
            (view.when(hit["createdAt"]), ""),
            (short_id(hit["id"]), "cyan"),
        ]
    )


def _shown_text(hit: dict[str, Any]) -> str:
    for level in ("l2", "l1"):
        if hit.get(level):
            return str(hit[level])
    return str(hit["l0"])


def _explanation(explain: dict[str, Any]) -> str:
    lexical, dense = explain.get("lexical"), explain.get("dense")
    parts = [
        f"words: rank {lexical['rank'] or '-'}, bm25 {lexical['score']:.3f}"
        if lexical
        else "words: none",
        f"meaning: rank {dense['rank'] or '-'}, cosine {dense['cosine']:.3f} ({dense['model']})"
        if dense
        else "meaning: none",
        f"fused {explain['fused']:.4f}",
        f"retrievability {explain['retrievability']:.2f}",
        f"final {explain['final']:.4f}",
    ]
    return " | ".join(parts)


def _about_query(data: dict[str, Any], view: View) -> Iterator[str]:
    spaces = "; ".join(
        f"{space['model']} asked" if space["used"] else f"{space['model']}: {space['reason']}"
        for space in data["spaces"]
    )
    elapsed = data.get("elapsedMs")
    yield from view.pairs(
        [
            ("mode", data["mode"]),
            ("languages", ", ".join(data["languages"])),
            ("models", spaces),
            ("time", f"{elapsed:.0f} ms" if elapsed is not None else ""),
        ]
    )
