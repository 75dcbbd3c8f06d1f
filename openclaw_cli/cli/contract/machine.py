"""The ``data`` of the commands about this machine: models, configuration, schemas."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from openclaw_cli.cli.contract.common import Count, Failed, Name, Place

Value = str | int | float | bool | None


class Model(TypedDict):
    """An embedding model on this machine; ``sha256`` is that of its graph."""

    name: Name
    dimensions: Place
    languages: list[str]
    origin: str
    path: str
    bytes: Count
    sha256: str
    licence: str | None
    authors: str | None
    source: str | None


class CheckedModel(Model):
    """A model with what a check of its files has found."""

    ok: bool
    problem: str | None


class Models(TypedDict):
    """The embedding models on this machine."""

    models: list[Model]
    total: Count


class CheckedModels(TypedDict):
    """The models with what is wrong with them."""

    models: list[CheckedModel]
    total: Count
    failed: list[Failed]


class Values(TypedDict):
    """Values by their keys; ``key`` and ``value`` where one key was asked for."""

    values: dict[str, Value]
    key: NotRequired[Name]
    value: NotRequired[Value]


class Setting(TypedDict):
    """A setting in force; ``origin`` with --origin."""

    key: Name
    value: Value
    doc: str
    origin: NotRequired[str]


class Settings(TypedDict):
    """Every setting in force."""

    path: str
    items: list[Setting]
    total: Count


class Validated(TypedDict):
    """A configuration without faults; those with faults end as an error."""

    path: str
    exists: bool
    problems: list[dict[str, Any]]


class KeyInfo(TypedDict):
    """What a key of the configuration may hold."""

    key: Name
    type: str
    default: Value
    expected: str
    environment: str | None
    doc: str


class Keys(TypedDict):
    """What the configuration may hold."""

    items: list[KeyInfo]
    total: Count


class SchemaInfo(TypedDict):
    """A command and the name of its document."""

    command: Name
    schema: Name


class Schemas(TypedDict):
    """The documents that commands print."""

    items: list[SchemaInfo]
    total: Count


class Fault(TypedDict):
    """One thing that is wrong, and where."""

    path: str
    reason: Name


class Examined(TypedDict):
    """The outcome of one check, of an agent or of the whole state directory."""

    name: Name
    agent: str | None
    ok: bool
    state: Literal["ok", "fixable", "damaged"]
    detail: str
    fixed: bool
    hint: str | None
    faults: list[Fault]


class Diagnosis(TypedDict):
    """Every check, and how many were found to be what."""

    checks: list[Examined]
    counts: dict[str, Count]


class Completion(TypedDict):
    """The completion of a shell: where it was installed."""

    shell: Name
    installed: NotRequired[Any]
    note: NotRequired[str | None]
