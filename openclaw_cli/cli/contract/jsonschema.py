"""JSON Schemas (draft 2020-12) made of the types of the contract."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from openclaw_cli import errors
from openclaw_cli.cli import registry
from openclaw_cli.cli.contract.common import Error, Failed, Warned
from openclaw_cli.cli.contract.table import CONTRACTS, Contract

DRAFT = "https://json-schema.org/draft/2020-12/schema"
#: The document of a failure before it is known which command is meant.
NO_COMMAND = "error"

Schema = dict[str, Any]

_PLAIN: dict[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}


def all_schemas() -> Iterator[tuple[str, Schema]]:
    """Yield the name (``memory.search``) and the schema of every document."""
    for path, contract in CONTRACTS.items():
        yield path.replace(" ", "."), _of_command(path, contract)
    known: dict[str, Schema] = {}
    title = "A failure before a command is known."
    yield NO_COMMAND, _whole(NO_COMMAND, 1, title, [_failure(known)], known)


def _of_command(path: str, contract: Contract) -> Schema:
    name = path.replace(" ", ".")
    known: dict[str, Schema] = {}
    data = _of(contract.data, known)
    if contract.each_agent:
        data = {"anyOf": [data, _of_agents(data, known)]}
    success = _object(
        {
            "schema": {},
            "ok": {"const": True},
            "data": data,
            "warnings": {"type": "array", "items": _of(Warned, known)},
        }
    )
    forms = [success, _failure(known)]
    title = registry.COMMANDS[path]
    schema = _whole(name, contract.version, title, forms, known)
    if contract.printed is not None:
        schema["anyOf"].append(_of(contract.printed, known))
    if contract.item is not None:
        schema["$comment"] = f"--jsonl prints one #/$defs/{contract.item.__name__} a line."
        _of(contract.item, known)
    return {**schema, "$defs": dict(sorted(known.items()))}


def _whole(
    name: str, version: int, title: str, forms: list[Schema], known: dict[str, Schema]
) -> Schema:
    """Return the schema of a document that has one of several forms and names itself."""
    for form in forms:
        form["properties"]["schema"] = {"const": f"openclaw.{name}/{version}"}
    return {
        "$schema": DRAFT,
        "$id": f"urn:openclaw:{name}:{version}",
        "title": title,
        "anyOf": forms,
        "$defs": known,
    }


def _failure(known: dict[str, Schema]) -> Schema:
    error = _of(Error, known)
    known["Error"]["properties"]["code"]["examples"] = sorted(_codes(errors.OpenclawError))
    return _object({"schema": {}, "ok": {"const": False}, "error": error})


def _codes(kind: type[errors.OpenclawError]) -> set[str]:
    """Return the codes of a class of errors and of those below it in the one tree."""
    return {kind.code}.union(
        *(_codes(below) for below in kind.__subclasses__() if below.__module__ == errors.__name__)
    )


def _of_agents(data: Schema, known: dict[str, Schema]) -> Schema:
    """Return the schema of the data of several agents: each with its name, or why it has none."""
    named = {"allOf": [data, _object({"agent": {"type": "string", "minLength": 1}})]}
    return _object(
        {
            "agents": {"type": "array", "items": named},
            "skipped": {"type": "array", "items": {"type": "string"}},
            "failed": {"type": "array", "items": _of(Failed, known)},
        }
    )


def _object(properties: dict[str, Schema], optional: frozenset[str] = frozenset()) -> Schema:
    """Return the schema of an object; fields that are not named may be there as well."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


def _of(kind: Any, known: dict[str, Schema]) -> Schema:
    """Return the schema of a type; those of objects join ``known`` and are referred to."""
    if is_typeddict(kind):
        name = kind.__name__
        if name not in known:
            known[name] = {}
            known[name] |= _of_fields(kind, known)
        return {"$ref": f"#/$defs/{name}"}
    origin = get_origin(kind)
    return dict(_PLAIN[kind]) if origin is None else _of_form(origin, get_args(kind), known)


def _of_form(origin: Any, parts: tuple[Any, ...], known: dict[str, Schema]) -> Schema:
    if origin is Annotated:
        return _of(parts[0], known) | dict(parts[1:])
    if origin is NotRequired:
        return _of(parts[0], known)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is list:
        return {"type": "array", "items": _of(parts[0], known)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(parts[1], known)}
    if origin in (Union, UnionType):
        return _of_union([_of(part, known) for part in parts])
    raise TypeError(f"no JSON Schema for {origin}")


def _of_union(forms: list[Schema]) -> Schema:
    if all(set(form) == {"type"} for form in forms):
        return {"type": [form["type"] for form in forms]}
    return {"anyOf": forms}


def _of_fields(kind: Any, known: dict[str, Schema]) -> Schema:
    hints = get_type_hints(kind, include_extras=True)
    optional = frozenset(
        name
        for name, hint in hints.items()
        if get_origin(hint) is NotRequired or name in kind.__optional_keys__
    )
    described = {"description": kind.__doc__} if (kind.__doc__ or "").strip() else {}
    fields = {name: _of(hint, known) for name, hint in hints.items()}
    return described | _object(fields, optional)
