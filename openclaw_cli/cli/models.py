"""The embedding models of the catalog as items of a command's data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openclaw_cli.cli.context import Invocation
from openclaw_cli.config_keys import NO_OPENAI
from openclaw_cli.result import Warning

if TYPE_CHECKING:
    from openclaw_cli.embed.catalog import Catalog, ModelInfo

_PROBLEMS = {
    "missing": "cannot be read",
    "length": "has another length",
    "different": "has another SHA-256",
}


def open_catalog(invocation: Invocation) -> Catalog:
    """Return the shipped models and those in the state directory."""
    from openclaw_cli.embed.catalog import Catalog

    return Catalog(invocation.state.models)


def problems(catalog: Catalog) -> tuple[Warning, ...]:
    """Return a warning for every folder that holds no usable model."""
    return tuple(
        Warning("unusable-model", problem.message, problem.path) for problem in catalog.problems
    )


def unavailable(invocation: Invocation, catalog: Catalog) -> list[Warning]:
    """Return warnings when the configuration names a provider or a model that is not there."""
    config = invocation.config
    path = str(config.path)
    found = []
    if config.text("memory.embedding.provider") == "openai":
        found.append(Warning("unavailable", f"memory.embedding.provider: {NO_OPENAI}", path))
    wanted = config.optional_text("memory.embedding.localModel")
    if wanted is not None and wanted not in {model.name for model in catalog.models}:
        message = f"memory.embedding.localModel: there is no embedding model {wanted!r}"
        found.append(Warning("unavailable", message, path))
    return found


def describe(model: ModelInfo) -> dict[str, Any]:
    """Return a model as an item of JSON data; ``sha256`` is that of its graph."""
    return {
        "name": model.name,
        "dimensions": model.dimensions,
        "languages": list(model.languages),
        "origin": model.origin,
        "path": str(model.directory),
        "bytes": sum(file.bytes for file in model.files),
        "sha256": model.digest,
        "licence": model.licence,
        "authors": model.authors,
        "source": model.source,
    }


def check(model: ModelInfo) -> dict[str, Any]:
    """Return the item of a model with what a full check of its files found."""
    from openclaw_cli.embed.catalog import verify

    found = verify(model).problems
    problem = "; ".join(f"{bad.path} {_PROBLEMS[bad.kind]}" for bad in found)
    return {**describe(model), "ok": not found, "problem": problem or None}
