"""``python -m tests.bench``: measure, compare with the floors of the same run, print one table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from tests.bench.bench import Bench
from tests.bench.floors import CORES
from tests.bench.measure import medians
from tests.bench.rows import ROWS, SIZES, Row
from tests.bench.stores import ROOT, Stores, source


def _selected(only: str, sizes: list[int]) -> Iterable[tuple[Row, int]]:
    for row in ROWS:
        if any(part in row.name for part in only.split(",")):
            for size in row.sizes:
                if size in sizes or size not in SIZES:
                    yield row, size


_HEADER = (
    f"{'row':<17}{'records':>8}{'runs':>5}{'CPU ms':>9}{'wall ms':>9}{'peak MB':>9}"
    "  goal                               measured"
)


def _text(line: dict) -> str:
    figures = line["figures"]
    head = (
        f"{line['row']:<17}{line['records'] or '-':>8}{line['runs']:>5}{figures['cpu'] * 1e3:>9.1f}"
        f"{figures['wall'] * 1e3:>9.1f}{figures['peak']:>9.1f}"
    )
    if "goal" not in line:
        return head
    of = f" x {line['of']}" if line["of"] else ""
    sign = "≥" if line["least"] else "≤"
    goal = f"{line['quantity']} {sign} {line['goal']:g}{of}"
    return f"{head}  {goal:<35}{line['measured']:<9.4g}{'' if line['reached'] else 'MISSED'}"


def _about() -> dict[str, str]:
    processor = platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((x.partition(": ")[2] for x in lines if x[:10] == "model name"), processor)
    return {
        "date": date.today().isoformat(),
        "machine": f"{processor}, {CORES} cores; {platform.platform(terse=True)}",
        "python": platform.python_version(),
        "texts": source().name if source().is_relative_to(ROOT) else str(source()),
        "load at the start": f"{os.getloadavg()[0]:.1f}",
        "quantities": "medians; cpu: processor seconds of the whole process, wall: its seconds,"
        " peak: MB; rate, cpu_rate: records a second of wall and processor time",
    }


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", default="", help="rows whose name contains one of: a,b,c")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="records: a,b,c")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--stores", type=Path, default=ROOT / ".bench")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """Measure what is chosen and print it; a missed goal is marked and is no failure."""
    options = _arguments(argv)
    bench = Bench(Stores(options.stores))
    about = _about()
    print("\n".join(f"{name}: {value}" for name, value in about.items()))
    print(_HEADER)
    lines = []
    for row, size in _selected(options.only, [int(size) for size in options.sizes.split(",")]):
        for line in bench.measure(row, size, options.runs):
            print(_text(line), flush=True)
            lines.append(line)
    measured = {
        name: {"runs": len(samples), **medians(samples)} for name, samples in bench.samples.items()
    }
    for name in filter(measured.__contains__, bench.floors):
        figures = measured[name]
        print(_text({"row": name, "records": 0, "runs": figures["runs"], "figures": figures}))
    if "F3" in measured:
        about["F3"] = bench.samples["F3"][0].out.decode()
        print(f"F3 at its best: [[texts, tokens] a batch, [threads, side by side]] = {about['F3']}")
    if options.json is not None:
        options.json.write_text(
            json.dumps({**about, "rows": lines, "works": measured}, indent=1), encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
