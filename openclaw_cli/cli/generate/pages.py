"""Which manual pages there are, and what stands in each."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

from openclaw_cli import __version__
from openclaw_cli.cli import registry
from openclaw_cli.cli.commands.config_get import show
from openclaw_cli.cli.generate import roff
from openclaw_cli.cli.generate.tree import Argument, Command, Option, group_options
from openclaw_cli.cli.manual import MANUAL
from openclaw_cli.config_keys import GENERAL, KEYS, UNUSED, Key

_FURTHER = ("openclaw(1)", "openclaw-store(5)", "openclaw-config(5)", "openclaw-json(7)")


class Page(NamedTuple):
    """A manual page: its name and section, and its text for ``man``."""

    name: str
    section: int
    text: str

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.{self.section}"


def all_pages(commands: tuple[Command, ...]) -> list[Page]:
    """Return every page."""
    return [
        _page("openclaw", 1, registry.SUMMARY, _root(commands)),
        # The same again: under the short name there may be another program's page.
        _page("openclaw-cli", 1, registry.SUMMARY, _root(commands)),
        *(_page(_name(c.path), 1, c.summary, _command(c)) for c in commands),
        _page("openclaw-store", 5, "What lies on disk.", roff.body(_text("store"))),
        _page("openclaw-config", 5, "What the configuration may hold.", _config()),
        _page("openclaw-json", 7, "What --json prints.", _json(commands)),
    ]


def _text(name: str) -> str:
    folder = files("openclaw_cli.cli.generate") / "texts"
    return (folder / f"{name}.txt").read_text(encoding="utf-8")


def _name(path: str) -> str:
    return f"openclaw-{path.replace(' ', '-')}"


def _page(name: str, section: int, summary: str, lines: list[str]) -> Page:
    said = summary.rstrip(".")
    said = said if said.startswith(("What --", "FSRS")) else said[0].lower() + said[1:]
    head = [roff.section("NAME"), roff.named(name, said)]
    others = [other for other in _FURTHER if other != f"{name}({section})"]
    see = ["." + _reference(other, "," * (other != others[-1]))[1:] for other in others]
    end = [roff.section("SEE ALSO"), *see]
    text = "\n".join([*head, *lines, *end])
    return Page(name, section, f"{roff.title(name, section, __version__)}{text}\n")


def _reference(page: str, after: str = "") -> str:
    name, _, rest = page.partition("(")
    return f".BR {roff.escaped(name)} ({rest}{after}"


def _root(commands: tuple[Command, ...]) -> list[str]:
    out = [
        roff.section("SYNOPSIS"),
        "\\fBopenclaw\\fR [\\fIoption\\fR ...] \\fIcommand\\fR [\\fIargument\\fR ...]",
        roff.section("DESCRIPTION"),
        *roff.body(_text("root")),
        roff.section("COMMANDS"),
    ]
    for command in commands:
        out += [".TP", _reference(f"{_name(command.path)}(1)"), roff.plain(command.summary)]
    out += [roff.section("OPTIONS"), "Every command takes them, before or after its name."]
    out += _options(group_options(""))
    out += [roff.section("ENVIRONMENT"), *roff.body(_text("environment"))]
    return [*out, *_exits(registry.EXIT_MEANINGS), *roff.body(_text("files"))]


def _command(command: Command) -> list[str]:
    own = [option for option in command.options if not option.everywhere]
    common = [option for option in command.options if option.everywhere]
    usage = [roff.escaped(argument.metavar) for argument in command.arguments]
    out = [
        roff.section("SYNOPSIS"),
        " ".join(
            [f"\\fBopenclaw {roff.escaped(command.path)}\\fR", "[\\fIoption\\fR ...]", *usage]
        ),
        roff.section("DESCRIPTION"),
    ]
    doc = inspect.cleandoc(command.source.module.command.__doc__ or "")
    for place, paragraph in enumerate(doc.split("\n\n")):
        out += [*([".PP"] if place else []), *map(roff.plain, paragraph.split("\n"))]
    if command.arguments:
        out += [roff.section("ARGUMENTS"), *_arguments(command.arguments)]
    if own:
        out += [roff.section("OPTIONS"), *_options(own)]
    names = ", ".join(f"\\fB{roff.escaped(option.names[-1])}\\fR" for option in common)
    out += [roff.section("GLOBAL OPTIONS"), f"{names}: see", _reference("openclaw(1)", ".")]
    entry = MANUAL[command.path]
    out += [roff.section("FILES"), roff.plain(f"Reads {entry.reads}."), ".br"]
    out += [roff.plain(f"Writes {entry.writes}.")]
    out += [roff.section("EXAMPLES"), *roff.example(command.source.module.EXAMPLES)]
    meanings = {code: registry.EXIT_MEANINGS[code] for code in sorted(command.source.exits)}
    return [*out, *_exits(meanings)]


def _arguments(arguments: tuple[Argument, ...]) -> Iterator[str]:
    for argument in arguments:
        yield from roff.item(
            f"\\fI{roff.escaped(argument.metavar)}\\fR", [roff.plain(argument.summary)]
        )


def _options(options: tuple[Option, ...] | list[Option]) -> Iterator[str]:
    for option in options:
        names = ", ".join(f"\\fB{roff.escaped(name)}\\fR" for name in option.names)
        value = f" \\fI{roff.escaped(option.metavar)}\\fR" if option.metavar else ""
        yield from roff.item(names + value, [roff.plain(" ".join(option.summary.split()))])


def _exits(meanings: dict[int, str]) -> list[str]:
    out = [roff.section("EXIT STATUS")]
    for code, meaning in meanings.items():
        out += roff.item(f"\\fB{code}\\fR", [roff.plain(meaning)])
    return out


def _json(commands: tuple[Command, ...]) -> list[str]:
    out = [*roff.body(_text("json")), *_exits(registry.EXIT_MEANINGS), roff.section("DATA")]
    out += [roff.line("What stands in *data*, command by command.")]
    for command in commands:
        schema = f"openclaw.{command.path.replace(' ', '.')}/1"
        term = f"\\fB{roff.escaped(command.path)}\\fR  ({roff.escaped(schema)})"
        out += roff.item(term, [roff.plain(MANUAL[command.path].data)])
    return out


def _config() -> list[str]:
    out = roff.body(_text("config"))
    used = [key for key in KEYS.values() if not key.doc.startswith(UNUSED)]
    unused = [key for key in KEYS.values() if key.doc.startswith(UNUSED)]
    out += [roff.section("KEYS"), *(line for key in used for line in _key(key))]
    out += [
        roff.section("GENERAL FORMS"),
        "They set several keys at once; the particular key wins.",
    ]
    for name, targets in GENERAL.items():
        out += roff.item(f"\\fB{roff.escaped(name)}\\fR", [roff.plain(", ".join(targets))])
    out += [roff.section("KEYS WITHOUT EFFECT"), "They are checked, and not used by this version."]
    return [*out, *(line for key in unused for line in _key(key))]


def _key(key: Key) -> list[str]:
    default = show(key.default)
    said = key.doc.removeprefix(UNUSED)
    said = f"{said[0].upper()}{said[1:]}"
    values = f"It holds {key.expected}; the default is {default}."
    lines = [roff.plain(said), roff.plain(values)]
    if key.env:
        lines.append(f"The variable \\fB{roff.escaped(key.env)}\\fR overrides it.")
    return roff.item(f"\\fB{roff.escaped(key.name)}\\fR", lines)
