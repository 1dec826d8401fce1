"""python -m benchmarks.truth [--measure] [SAMPLE|FILE …]: compare our numbers with torch's alone.

Each model is compiled twice: by Compileboard, whose report has the numbers on the pages, and by
`benchmarks.witness`, which does not use Compileboard. Both numbers must be equal, or ours must be a bound of
the witness's exact count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.homes import PROJECT, compile_environment, temporary_home
from core import CompileJob, LocalEngine, Model, Report, Run, Runner, Store, open_report, sample, samples, verdict
from core.analysis.durations import compile_seconds

EVENT = re.compile(r'^V[^\n]*"chromium_event": [^\n]*\n((?:\t[^\n]*\n)+)', re.MULTILINE)
Found = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A number from both sources.

    `bound` is True if the shown number may be larger than the counted one; `why` names other reasons for a difference.
    """

    what: str
    shown: float | None
    counted: float | None
    bound: bool = False
    why: str = ""

    @property
    def verdict(self) -> str:
        """The verdict as text: `same`, `bound` with its slack, `DIFFERENT` with `why`, or `not recorded`."""
        if self.shown is None or self.counted is None:
            return "not recorded"
        if self.shown == self.counted:
            return "same"
        if self.bound and self.shown > self.counted:
            return f"bound, {(self.shown / self.counted - 1) if self.counted else float('inf'):.2%} above"
        return f"DIFFERENT{f': {self.why}' if self.why else ''}"

    def line(self, model: str) -> str:
        """Return a line of the table."""
        return f"| {model} | {self.what} | {_text(self.shown)} | {_text(self.counted)} | {self.verdict} |"


def main() -> int:
    """Print the table; the exit code is 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--training", action="store_true")
    arguments = parser.parse_args()
    names = arguments.models or [entry.name for entry in samples()]
    different = 0
    print("| model | number | shown | counted by torch alone | |\n|---|---|---|---|---|")
    with temporary_home() as home:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        for name in names:
            for row in rows(Runner(store, engine), name, arguments.training, arguments.measure):
                different += row.verdict.startswith("DIFFERENT")
                print(row.line(Path(name).stem), flush=True)
        engine.close()
    return int(different > 0)


def rows(runner: Runner, name: str, training: bool, measure: bool) -> Iterator[Row]:
    """Yield a row for each number of one model."""
    path = Path(name).resolve() if name.endswith(".py") else sample(name).path
    model = Model("file", str(path)) if name.endswith(".py") else Model("sample", name)
    run = runner.wait(runner.submit(CompileJob(model, measure=measure, training=training or None)))
    report = open_report(run)
    figures = witness(path, training, measure)
    yield from counts(report, figures)
    yield from work_rows(report, figures)
    yield from guard_rows(report, figures)
    yield from traffic_rows(report, figures)
    counted = sum(schedule["flops"] for schedule in figures["schedules"])
    yield Row("FLOPs of library calls", library_flops(report), counted)
    yield Row("compile time (ms)", round(1e3 * sum(compile_seconds(report).values())), round(1e3 * union_s(run)))
    if measure and figures.get("speed"):
        yield speed_row(report, figures)


def witness(path: Path, training: bool, measure: bool) -> Found:
    """Return the model's figures from torch alone; exits if the witness fails."""
    options = [*(["--training"] if training else []), *(["--speed"] if measure else [])]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.witness", str(path), *options],
        cwd=PROJECT,
        env={**compile_environment(), "PYTHONPATH": os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"the witness of {path} failed: {done.stderr[-2000:]}")
    figures: Found = json.loads(done.stdout)
    return figures


def counts(report: Report, figures: Found) -> Iterator[Row]:
    shown = verdict(report)
    yield Row("graphs", shown.graphs, figures["graphs"])
    yield Row("graph breaks (places)", shown.breaks, len(figures["breaks"]))
    yield Row("recompiles", shown.recompiles, figures["recompiles"])


def work_rows(report: Report, figures: Found) -> Iterator[Row]:
    """Yield rows of ops, views, kernel calls and generated kernels, for each frame's newest compilation."""
    shown = verdict(report).work
    newest = set({frame(graph["compile_id"]): graph["compile_id"] for graph in figures["lowered"]}.values())
    lowered = [graph for graph in figures["lowered"] if graph["compile_id"] in newest]
    codes = [code["kernels"] for code in figures.get("codes", ()) if code["compile_id"] in newest]
    yield Row("ops", shown.ops, sum(graph["ops"] for graph in lowered) if lowered else None)
    yield Row("views", shown.views, sum(graph["views"] for graph in lowered))
    yield Row("kernel calls", shown.calls, sum(sum(kernels.values()) for kernels in codes))
    yield Row(
        "generated kernels",
        generated(report, newest),
        sum(name.isidentifier() for kernels in codes for name in kernels),
    )


def frame(compile_id: str) -> str:
    return compile_id.rpartition("/")[0]


def generated(report: Report, newest: set[str]) -> int:
    return sum(
        not kernel.extern
        for compilation in report.compilations
        if compilation.id in newest
        for kernel in compilation.kernels
    )


def guard_rows(report: Report, figures: Found) -> Iterator[Row]:
    """Yield rows of guards; if a compilation restarted, only its last guards count."""
    last = dict(figures["guards"])
    shown = {compilation.id: len(compilation.guards) for compilation in report.compilations if compilation.guards}
    yield Row("guards", sum(shown.values()), sum(last.values()))
    yield Row("compilations with other guards", sum(shown.get(key) != last.get(key) for key in {*shown, *last}), 0)


def traffic_rows(report: Report, figures: Found) -> Iterator[Row]:
    """Yield rows of the bytes before and after fusion, summed over the nodes of all graphs."""
    schedules = [schedule for compilation in report.compilations for schedule in compilation.schedules]
    by_id = sorted(
        figures["schedules"], key=lambda schedule: [int(part) for part in re.findall(r"\d+", schedule["compile_id"])]
    )
    for side in ("before", "after"):
        shown = sum(node.bytes_accessed for schedule in schedules for node in getattr(schedule, side))
        exact = sum(node["bytes"] for schedule in by_id for node in schedule[side].values())
        bounded = any(node["bounded"] for schedule in by_id for node in schedule[side].values())
        yield Row(
            f"bytes {side} fusion", shown, exact, bound=True, why="the count is a bound itself" if bounded else ""
        )


def library_flops(report: Report) -> int:
    kernels = (kernel for compilation in report.compilations for kernel in compilation.kernels)
    return sum(kernel.flops or 0 for kernel in kernels)


def union_s(run: Run) -> float:
    """Return the seconds in which any phase was open, from the raw log; overlapping spans count once."""
    log = run.log_path()
    assert log is not None
    events = [json.loads(text.replace("\t", "")) for text in EVENT.findall(log.read_text(errors="replace"))]
    open_since, depth, total = 0.0, 0, 0.0
    for event in sorted((event for event in events if event.get("ph") in ("B", "E")), key=lambda event: event["ts"]):
        if event["ph"] == "B":
            open_since = event["ts"] if depth == 0 else open_since
            depth += 1
        elif depth:
            depth -= 1
            total += event["ts"] - open_since if depth == 0 else 0.0
    return total / 1e6


def speed_row(report: Report, figures: Found) -> Row:
    """Return the row of the speedup, compared with the median ratio by `torch.utils.benchmark`.

    A ratio within our interval counts as the same.
    """
    shown = verdict(report).speed
    pairs = zip(figures["speed"]["eager"], figures["speed"]["compiled"], strict=True)
    ratio = statistics.median(eager / compiled for eager, compiled in pairs)
    if shown is None or shown.interval is None:
        return Row("eager / compiled", None, ratio)
    low, middle, high = shown.interval.low, shown.interval.middle, shown.interval.high
    return Row("eager / compiled", middle, middle if low <= ratio <= high else ratio, why=f"{low:.3g} to {high:.3g}")


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


if __name__ == "__main__":
    sys.exit(main())
