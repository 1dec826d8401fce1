"""AOTInductor records of a run: export, package, calls, times, as text and for display.

`packaging_steps`, `package_tree` and `call_cost` are for display.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.interval import Interval, median_ratio
from core.analysis.speed import quartiles
from core.report import (
    Export,
    Package,
    PackagedFile,
    PackagedKind,
    PackageRun,
    PackageTimes,
    PackageUser,
    RangeTrial,
    Report,
    SideTimes,
)

# Timed sides in display order, each with its name.
SIDES = {"eager": "eager", "compiled": "compiled", "python": "the package from Python", "c++": "the package from C++"}
KINDS: dict[PackagedKind, str] = {
    "library": "shared library",
    "wrapper": "C++ wrapper",
    "kernels": "kernels' source",
    "binary": "compiled kernel",
    "object": "object file",
    "weights": "constants",
    "metadata": "metadata",
    "other": "other file",
}
CHECKED = "AOTI_RUNTIME_CHECK_INPUTS=1"
# Size check, by its message in the generated code.
CHECKED_FROM = re.compile(r"expected it to be >= (\d+)")
StepId = Literal["export", "package", "python", "c++"]
StepState = Literal["done", "failed", "not reached"]
CALLS: dict[PackageUser, str] = {
    "python": "torch._inductor.aoti_load_package(…)",
    "c++": "torch::inductor::AOTIModelPackageLoader",
}
# Most levels of folders in the tree.
MOST_DEEP = 12  #: nested folders of a package in the tree
# Torch's messages end with many lines of advice; the first line names the error.
LONGEST_SAID = 240  #: characters of torch's first line about a package


@dataclass(frozen=True, slots=True)
class SideTime:
    """Seconds per call of one side: median and quartiles.

    `faster` is the speedup over eager with its bounds; None for eager itself and with too few samples.
    """

    side: str
    median_s: float
    quartiles_s: tuple[float, float]
    samples: int
    faster: Interval | None = None


@dataclass(frozen=True, slots=True)
class AotiStory:
    """AOTInductor records of a run; None, or empty for `trials`, if the log has no such record."""

    export: Export | None = None
    package: Package | None = None
    python: PackageRun | None = None
    cpp: PackageRun | None = None
    times: PackageTimes | None = None
    trials: tuple[RangeTrial, ...] = ()

    @property
    def problem(self) -> str:
        """Stage of the first failure: `export`, `compile`, `load`, `call` or `build`; empty without a failure."""
        if self.export is not None and self.export.problem:
            return "export"
        if self.package is not None and self.package.problem and not self.package.files:
            return "compile"
        return next((run.stage for run in (self.python, self.cpp) if run is not None and run.problem), "")


def aoti_story(report: Report) -> AotiStory | None:
    """Return the AOTInductor records of a run; None if AOTInductor was not requested."""
    if not report.exports:
        return None
    runs = {run.user: run for run in report.package_runs}
    return AotiStory(
        export=report.exports[-1],
        package=report.packages[-1] if report.packages else None,
        python=runs.get("python"),
        cpp=runs.get("c++"),
        times=report.package_times[-1] if report.package_times else None,
        trials=report.range_trials,
    )


def side_times(times: SideTimes) -> tuple[SideTime, ...]:
    """Return the times of all timed sides: first the sides of `SIDES` in that order, then all others."""
    order = dict.fromkeys((*SIDES, *times.sides))
    timed = [(side, samples) for side in order if (samples := times.steady(side))]
    return tuple(_side_time(side, samples, times.steady("eager")) for side, samples in timed)


def _side_time(side: str, samples: tuple[float, ...], eager: tuple[float, ...]) -> SideTime:
    low, middle, high = quartiles(samples)
    comparable = side != "eager" and len(samples) == len(eager)
    return SideTime(side, middle, (low, high), len(samples), median_ratio(eager, samples) if comparable else None)


def same_as_eager(run: PackageRun | None) -> bool | None:
    """Return True if all outputs of the package equal eager's, False if one differs, None if undecided."""
    if run is None or run.problem or not run.differences:
        return None
    outcomes = [difference.same for difference in run.differences]
    return False if False in outcomes else None if None in outcomes else True


def first_text_line(text: str) -> str:
    """Return the first line that has text."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


@dataclass(frozen=True, slots=True)
class PackagingStep:
    """A step of packaging: call, state, seconds and record, None if the step was not reached.

    `seconds` is the time of the export or compilation, or the median of a call; for a failed run, the load time.
    None if not recorded.
    """

    id: StepId
    title: str
    call: str
    state: StepState
    seconds: float | None
    record: Export | Package | PackageRun | None


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of a package's tree: a file, or a folder (`file` is None) with the bytes of its files."""

    name: str
    depth: int
    bytes: int
    file: PackagedFile | None

    @property
    def kind(self) -> str:
        """Kind of the file in words; empty for a folder."""
        return KINDS[self.file.kind] if self.file else ""


@dataclass(frozen=True, slots=True)
class CallCost:
    """A call of the library from Python compared with C++.

    `more_s` is the difference of the medians in seconds, `ratio` the time ratio with its bounds.
    """

    more_s: float
    ratio: Interval

    @property
    def seen(self) -> bool:
        """True if the interval of `ratio` is clearly above or below 1."""
        return self.ratio.apart


def packaging_steps(story: AotiStory) -> tuple[tuple[PackagingStep, ...], ...]:
    """Return the steps in three columns: export, package, and the runs from Python and C++."""
    last = _run_step("python", story.python, story), _run_step("c++", story.cpp, story)
    return (_export_step(story.export),), (_package_step(story.package),), last


def step_with_problem(story: AotiStory) -> StepId | None:
    """Return the id of the first failed step; None without failures."""
    steps = (step for column in packaging_steps(story) for step in column)
    return next((step.id for step in steps if step.state == "failed"), None)


def _export_step(export: Export | None) -> PackagingStep:
    title, call = "Export", "torch.export.export(…)"
    if export is None:
        return PackagingStep("export", title, call, "not reached", None, None)
    if export.problem:
        return PackagingStep("export", title, call, "failed", export.seconds or None, export)
    return PackagingStep("export", title, call, "done", export.seconds, export)


def _package_step(package: Package | None) -> PackagingStep:
    title, call = "Package", "torch._inductor.aoti_compile_and_package(…)"
    if package is None:
        return PackagingStep("package", title, call, "not reached", None, None)
    return PackagingStep("package", title, call, "done" if package.files else "failed", package.seconds, package)


def _run_step(user: PackageUser, run: PackageRun | None, story: AotiStory) -> PackagingStep:
    title = "Python" if user == "python" else "C++"
    if run is None:
        return PackagingStep(user, title, CALLS[user], "not reached", None, None)
    if run.problem:
        return PackagingStep(user, title, CALLS[user], "failed", run.load_s, run)
    state: StepState = "failed" if same_as_eager(run) is False else "done"
    timed = {time.side: time.median_s for time in side_times(story.times)} if story.times else {}
    return PackagingStep(user, title, CALLS[user], state, timed.get(user), run)


def first_line(text: str) -> str:
    """Return the first line with text, cut if it is long."""
    line = first_text_line(text)
    return line[:LONGEST_SAID] + ("…" if len(line) > LONGEST_SAID else "")


def call_cost(times: SideTimes | None) -> CallCost | None:
    """Return the additional cost of a call from Python over C++.

    None if not timed in the same rounds, with too few samples, or if the ratio is not measurable.
    """
    if times is None:
        return None
    python, cpp = times.steady("python"), times.steady("c++")
    measured = median_ratio(python, cpp) if python and cpp else None
    ratio = None if measured is None or measured.wide else measured
    medians_s = {time.side: time.median_s for time in side_times(times)}
    return CallCost(medians_s["python"] - medians_s["c++"], ratio) if ratio else None


def ran_outside(trials: Sequence[RangeTrial]) -> tuple[RangeTrial, ...]:
    """Return the calls with out-of-range sizes that only the package's input checks reject."""
    return tuple(
        trial for trial in trials if not (trial.inside or trial.package or trial.skipped) and bool(trial.checked)
    )


def package_tree(files: Sequence[PackagedFile]) -> tuple[TreeRow, ...]:
    """Return the files of a package below their folders.

    A folder with only one subfolder is merged with it into one row. Each folder has the bytes of all its files.
    """
    return tuple(_branch([(tuple(filter(None, file.name.split("/", MOST_DEEP))), file) for file in files], 0))


def _branch(files: Sequence[tuple[tuple[str, ...], PackagedFile]], depth: int) -> list[TreeRow]:
    below: dict[str, list[tuple[tuple[str, ...], PackagedFile]]] = {}
    rows: list[TreeRow] = []
    for path, file in files:
        if len(path) < 2:
            rows.append(TreeRow("/".join(path) or file.name, depth, file.bytes, file))
        else:
            below.setdefault(path[0], []).append((path[1:], file))
    for name, inside in below.items():
        while len({path[0] for path, _ in inside}) == 1 and all(len(path) > 1 for path, _ in inside):
            name, inside = f"{name}/{inside[0][0][0]}", [(path[1:], file) for path, file in inside]
        rows.append(TreeRow(f"{name}/", depth, sum(file.bytes for _, file in inside), None))
        rows.extend(_branch(inside, depth + 1))
    return rows
