"""Types that documents of several commands share."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

# What JSON Schema says beyond a type stands beside it as pairs of keyword and value.

#: A moment in UTC, as 2026-11-30T14:34:34.848Z.
Time = Annotated[
    str, ("format", "date-time"), ("pattern", r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
]
Count = Annotated[int, ("minimum", 0)]
Place = Annotated[int, ("minimum", 1)]
#: From 0, forgotten, to 1, as if just learnt.
Share = Annotated[float, ("minimum", 0), ("maximum", 1)]
Name = Annotated[str, ("minLength", 1)]
Sha256 = Annotated[str, ("pattern", "^[0-9a-f]{64}$")]
Scope = Literal["user", "agent"]


class Picture(TypedDict):
    """The file into which charts were drawn."""

    path: str
    bytes: Count
    sha256: Sha256


class Failed(TypedDict):
    """One item that failed while others were done: which one (id, line or path) and why."""

    reason: str
    id: NotRequired[str]
    line: NotRequired[Place | None]
    path: NotRequired[str]
    code: NotRequired[str]


class Warned(TypedDict):
    """Something worth knowing although the command succeeded."""

    code: Name
    message: Name
    path: NotRequired[str]


class Problem(TypedDict):
    """One thing that is wrong in a configuration."""

    key: str
    message: str
    line: int | None


class Error(TypedDict):
    """Why a command failed: a stable code, what is wrong and where, and what to do next."""

    code: Name
    message: Name
    hint: NotRequired[Name]
    path: NotRequired[str]
    usage: NotRequired[str]
    problems: NotRequired[list[Problem]]
    missing: NotRequired[list[str]]
    line: NotRequired[int]
    data: NotRequired[dict[str, Any]]
