"""One process, measured: processor time, wall time and peak memory, as the kernel counts them.

The kernel counts the memory of the parent at the fork towards the child's peak, so the process
that measures stays small (some 18 MB, the least peak that it can tell): whatever is big is done in
processes of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Sample:
    """One run: named figures (``cpu`` and ``wall`` in seconds, ``peak`` in MB, others)."""

    figures: dict[str, float]
    out: bytes = field(default=b"", repr=False)
    err: bytes = field(default=b"", repr=False)


def process(argv: Sequence[str], env: dict[str, str], status: int = 0) -> Sample:
    """Run ``python ARGV`` to its end; RuntimeError when it ends with another ``status``."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, *argv], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env
        )
        _pid, ended, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(ended)
        out.seek(0)
        err.seek(0)
        sample = Sample(
            {
                "cpu": usage.ru_utime + usage.ru_stime,
                "wall": wall,
                "peak": usage.ru_maxrss * _PEAK_UNIT / 1e6,
            },
            out.read(),
            err.read(),
        )
    if child.returncode != status:
        raise RuntimeError(f"{argv} ended with {child.returncode}: {sample.err.decode()[-2000:]}")
    return sample


def medians(samples: Sequence[Sample]) -> dict[str, float]:
    """Return the median of every figure."""
    return {name: median(sample.figures[name] for sample in samples) for name in samples[0].figures}


def repeat(works: Sequence[Callable[[int], Sample]], runs: int) -> list[list[Sample]]:
    """Run the works in turn, once to warm up and then ``runs`` times; return each one's samples.

    In turn, so that what else the machine does falls on all of them alike. Long ones stop after
    three runs.
    """
    found: list[list[Sample]] = [[] for _ in works]
    began = time.perf_counter()
    for number in range(runs + 1):
        for work, samples in zip(works, found, strict=True):
            samples.append(work(number))
        if number >= 3 and time.perf_counter() - began > 40:
            break
    return [samples[1:] for samples in found]
