"""Manual pages from plain text with a little markup, in the macros that every ``man`` knows.

A line is ``# SECTION``, ``## Subsection``, ``: term`` with its text indented by two blanks on the
lines after it, an example indented by four blanks, or running text; an empty line ends a
paragraph. ``*bold*`` and ``_italic_`` stand at the borders of words.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

#: The day that every page carries, so that the same program makes the same bytes.
DATE = "2026-11-30"
_WIDTH = 76
_STYLED = re.compile(
    r"(?<![\w*])\*(\S|\S[^*\n]*?\S)\*(?![\w*])|(?<![\w_])_(\S|\S[^_\n]*?\S)_(?![\w_])"
)


def title(name: str, section: int, version: str) -> str:
    """Return the first lines of a page."""
    head = f'.TH {escaped(name.upper())} {section} {DATE} "openclaw {version}" "OpenClaw"'
    return f'.\\" Made from the command tree by: make docs\n{head}\n.nh\n.ad l\n'


def escaped(text: str) -> str:
    """Return a text in which nothing is markup of the page."""
    found = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return found.replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")


def line(text: str) -> str:
    """Return a line of running text; one that begins like a request of the page is none."""
    parts, place = [], 0
    for match in _STYLED.finditer(text):
        font, inner = ("B", match[1]) if match[1] is not None else ("I", match[2])
        parts += [escaped(text[place : match.start()]), f"\\f{font}{escaped(inner)}\\fR"]
        place = match.end()
    return _wrapped("".join([*parts, escaped(text[place:])]))


def plain(text: str) -> str:
    """Return a line that has no markup of ours: what the program itself says."""
    return _wrapped(escaped(text))


def named(name: str, summary: str) -> str:
    """Return the line that tells the name of a page and what it is about."""
    return _wrapped(f"{escaped(name)} \\- {escaped(summary)}")


def _wrapped(text: str) -> str:
    """Return a text in lines as short as the checkers of pages like them."""
    lines = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(map(_guarded, lines))


def _guarded(text: str) -> str:
    """Return a line that is no request of the page, whatever it begins with."""
    return f"\\&{text}" if text.startswith((".", "\\(aq")) else text


def section(name: str) -> str:
    """Return the heading of a section."""
    return f".SH {_quoted(escaped(name))}"


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text


def item(term: str, text: Iterable[str]) -> list[str]:
    """Return a term, in markup of the page, and what is said about it."""
    return [".TP", term, *text]


def example(lines: Iterable[str]) -> list[str]:
    """Return lines shown as they are."""
    return [".nf", ".RS 4", *(_guarded(escaped(line)) for line in lines), ".RE", ".fi"]


def body(text: str) -> list[str]:
    """Return the lines of a page for a text with markup."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        while lines:
            lines = _taken(lines, out)
    return out


def _taken(lines: list[str], out: list[str]) -> list[str]:
    """Turn the beginning of a block into lines of the page; return the rest."""
    first = lines[0]
    if first.startswith("## "):
        out.append(f".SS {_quoted(escaped(first[3:]))}")
        return lines[1:]
    if first.startswith("# "):
        out.append(section(first[2:]))
        return lines[1:]
    if first.startswith("    "):
        count = _while(lines, "    ")
        out += _paragraph(out) + example(held[4:] for held in lines[:count])
        return lines[count:]
    if first.startswith(": "):
        count = 1 + _while(lines[1:], "  ")
        out += item(line(first[2:]), (line(held.strip()) for held in lines[1:count]))
        return lines[count:]
    count = max(
        1, next((n for n, held in enumerate(lines) if held.startswith((": ", "#"))), len(lines))
    )
    out += _paragraph(out) + [line(held) for held in lines[:count]]
    return lines[count:]


def _paragraph(out: list[str]) -> list[str]:
    """Return what begins a paragraph; a section has begun one already."""
    return [] if not out or out[-1].startswith((".SH", ".SS")) else [".PP"]


def _while(lines: list[str], start: str) -> int:
    return next((n for n, held in enumerate(lines) if not held.startswith(start)), len(lines))
