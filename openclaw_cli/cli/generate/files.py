"""Every file that is made from the command tree, by its path in the repository."""

from __future__ import annotations

from openclaw_cli.cli.generate import bash, fish, pages, zsh
from openclaw_cli.cli.generate.tree import commands


def everything() -> dict[str, str]:
    """Return path and content of every completion and manual page."""
    known = commands()
    return {
        "completions/openclaw-cli.bash": bash.script(known),
        "completions/openclaw.bash": bash.SHORT,
        "completions/_openclaw-cli": zsh.script(known),
        "completions/openclaw-cli.fish": fish.script(known),
        "completions/openclaw.fish": fish.SHORT,
        **{f"man/man{page.section}/{page.file}": page.text for page in pages.all_pages(known)},
    }
