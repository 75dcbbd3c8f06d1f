"""The filter options of a command line as the filters of the memory layer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from openclaw_cli.cli.context import Invocation
from openclaw_cli.cli.source import check_argument
from openclaw_cli.clock import parse_when
from openclaw_cli.errors import UsageError

if TYPE_CHECKING:
    from openclaw_cli.memory.filters import Filters


#: The languages that texts are told apart by; a record may name any other by its own code.
LANGUAGES = (
    *("am", "ar", "bn", "bo", "de", "el", "en", "es", "fr", "gu", "he", "hi", "hy", "it", "ja"),
    *("ka", "km", "kn", "ko", "lo", "ml", "my", "or", "pa", "pt", "ru", "si", "ta", "te", "th"),
    *("und", "zh"),
)


def moment(invocation: Invocation, text: str | None, option: str) -> datetime | None:
    """Return the time that an option names, counted from the command's present."""
    return None if text is None else parse_when(text, invocation.clock.now(), option=option)


def words(given: Sequence[str] | None, option: str) -> tuple[str, ...]:
    """Return the values of a repeatable option as Unicode, else raise `InvalidTextError`."""
    return tuple(check_argument(word, option) for word in given or ())


def build_filters(
    invocation: Invocation,
    *,
    category: list[str] | None,
    scope: Sequence[str] | None,
    user: list[str] | None,
    tag: list[str] | None,
    language: list[str] | None,
    period: tuple[str | None, str | None],
    pending: bool = False,
) -> Filters:
    """Return the filters that the options name; ``period`` is ``--since`` and ``--until``."""
    from openclaw_cli.memory.filters import Filters

    return Filters(
        category=tuple(category or ()),
        scope=tuple(scope or ()),
        user=words(user, "--user"),
        tag=words(tag, "--tag"),
        language=tuple(map(_language, language or ())),
        since=moment(invocation, period[0], "--since"),
        until=moment(invocation, period[1], "--until"),
        pending=pending,
    )


def _language(code: str) -> str:
    """Return a language as the index names it: ``zh`` for zh-CN, ZH and zh_CN.UTF-8."""
    name = code.strip().replace("_", "-").partition("-")[0].lower()
    if not (name.isascii() and name.isalpha() and len(name) in (2, 3)):
        raise UsageError(
            f"--language: {code!r} is no language code",
            hint=f"codes have two or three letters; known are {', '.join(LANGUAGES)}",
        )
    return name
