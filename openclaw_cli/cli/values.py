"""What the values of options must look like before any command sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import click

from openclaw_cli.errors import UsageError

#: The largest whole number that every reader of JSON keeps exactly.
_MOST = 2**53 - 1
#: Longer than any machine waits; the clock can add it to every time.
_MOST_SECONDS = 10**9
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]{1,3})?", re.IGNORECASE)


class Whole(click.IntRange):
    """A whole number in plain digits, from ``min`` to ``max`` or what JSON can hold.

    ``int`` would also take the digits of other scripts, blanks around them and 1_0 for 10.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; a default, which is one already, as it is."""
        if isinstance(value, str):
            if not _WHOLE.fullmatch(value):
                self.fail(f"{value!r} is not a whole number", param, ctx)
            low = -_MOST if self.min is None else int(self.min)
            high = _MOST if self.max is None else int(self.max)
            # The digits are counted first: the interpreter refuses to read very many.
            digits = value.lstrip("+-").lstrip("0") or "0"
            number = int(value) if len(digits) <= len(str(_MOST)) else None
            if number is None or (number > high and self.max is None):
                self.fail(f"{_short(value)} is not from {low} to {high}", param, ctx)
        return super().convert(value, param, ctx)


class Seconds(click.types.FloatParamType):
    """A number of seconds, 0 or more, in plain digits."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; anything else, infinity too, is refused."""
        number = float(value) if _DECIMAL.fullmatch(str(value)) else -1.0
        if not 0 <= number <= _MOST_SECONDS:
            self.fail(f"{value!r} is not a number of seconds from 0 to {_MOST_SECONDS}", param, ctx)
        return number


def _short(digits: str) -> str:
    return digits if len(digits) <= 40 else f"{digits[:40]}…"


def with_plain_digits(param: click.Parameter) -> click.Parameter:
    """Return a parameter; one that takes a whole number takes it as `Whole` does."""
    kind = param.type
    if isinstance(kind, click.IntRange):
        param.type = Whole(kind.min, kind.max, kind.min_open, kind.max_open, kind.clamp)
    return param


def refuse_swallowed(ctx: click.Context, command: click.Command, args: Sequence[str]) -> None:
    """Raise a usage error where an option's value is itself an option of the command.

    In ``--user --json`` a value was most likely forgotten; ``--user=--json`` says that it is meant.
    """
    params = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    known = {name: param for param in params for name in (*param.opts, *param.secondary_opts)}
    for name, value in _followed(args, known, interspersed=ctx.allow_interspersed_args):
        if value == "--" or (value[:1] == "-" and value.partition("=")[0] in known):
            meant = f"{name}={value}" if name.startswith("--") else f"{name}{value}"
            usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
            raise UsageError(
                f"{name} needs a value, and {value} is {_what(value)}",
                hint=f"give the value; if {value} is meant to be it, write {meant}",
                details={"usage": usage},
            )


def _what(value: str) -> str:
    return "the end of the options" if value == "--" else "an option"


def _followed(
    args: Sequence[str], known: dict[str, click.Option], *, interspersed: bool
) -> Iterator[tuple[str, str]]:
    """Yield each option whose value is the next word, and that word."""
    place = 0
    while place < len(args) and args[place] != "--":
        if args[place][:1] != "-" and not interspersed:
            return  # what follows belongs to a command of the group
        name = _takes_next(args[place], known)
        if name and place + 1 < len(args):
            yield name, args[place + 1]
            place += 1
        place += 1


def _takes_next(word: str, known: dict[str, click.Option]) -> str | None:
    """Return the option at the end of ``word`` (``--user``, ``-qo``) that wants one more word."""
    if word.startswith("--"):
        return word if word in known and _needs_value(known[word]) else None
    if not word.startswith("-"):
        return None
    for place, letter in enumerate(word[1:], 1):
        param = known.get(f"-{letter}")
        if param is not None and _needs_value(param):
            return f"-{letter}" if place == len(word) - 1 else None
    return None


def _needs_value(option: click.Option) -> bool:
    """A value that may be left out (``--plot``) is told from an option by the parser."""
    return not option.is_flag and not option.count and not (option.metavar or "").startswith("[")
