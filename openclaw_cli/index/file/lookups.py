"""``lookup.idx``: which documents have a content hash, and which stand in a slot.

Line 1 is ``{"format":2}``; then one line per key, ``["hash","3f2a…",[doc,…]]`` or
``["slot","scope\\u0000user\\u0000category\\u0000key",[doc,…]]``, documents ascending.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from openclaw_cli.index.file.lines import key_of
from openclaw_cli.index.file.runs import SortedRuns, grouped, line_of, place_in

_HEADER = b'{"format":2}\n'
#: As many lookups are held in memory: some 30 MB.
LOOKUPS_HELD = 250_000


def lookup_lines(
    lookups: Iterable[tuple[str, str, int]], runs: SortedRuns, limit: int = LOOKUPS_HELD
) -> Iterator[bytes]:
    """Yield the lines of the file, with line ends, from kind, text and ordinal in any order.

    Whenever ``limit`` of them are held they are put away in ``runs``, which are empty.
    """
    yield _HEADER
    held: list[bytes] = []
    for kind, text, ordinal in lookups:
        if len(held) >= limit:
            held.sort()
            runs.spill(held)
            held = []
        held.append(line_of(key_of(kind, text), ordinal))
    held.sort()
    lines: Iterable[bytes] = held
    if len(runs):
        runs.spill(held)
        lines = runs.merged()
    for key, places in grouped(lines):
        yield b"%b[%b]]\n" % (key, b",".join([b"%d" % place_in(place) for place in places]))
