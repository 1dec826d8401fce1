"""AOTInductor package for display: its build steps, its files, and the cost of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.aoti import KINDS, AotiStory, first_text_line, results_of_run, same_as_eager, side_times
from core.analysis.interval import Interval, median_ratio
from core.base.words import bytes_, count
from core.report import Export, Package, PackagedFile, PackageRun, PackageTimes, PackageUser, RangeTrial

StepId = Literal["export", "package", "python", "c++"]
StepState = Literal["done", "failed", "not reached"]
CALLS: dict[PackageUser, str] = {
    "python": "torch._inductor.aoti_load_package(…)",
    "c++": "torch::inductor::AOTIModelPackageLoader",
}
# Most levels of folders in the tree.
MOST_DEEP = 12
# Torch ends a message with advice of many lines; the first says what happened.
LONGEST_SAID = 240


@dataclass(frozen=True, slots=True)
class PackagingStep:
    """A build step: call, seconds (None if it did not run), and outcome."""

    id: StepId
    title: str
    call: str
    state: StepState
    seconds: float | None
    words: str


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

    `more_s` are the additional seconds of the medians, `ratio` the time ratio with its bounds.
    """

    more_s: float
    ratio: Interval

    @property
    def seen(self) -> bool:
        """True if a difference is claimed."""
        return self.ratio.apart


def packaging_steps(story: AotiStory) -> tuple[tuple[PackagingStep, ...], ...]:
    """Return the steps by column: export, package, and its users."""
    last = _run_step("python", story.python, story), _run_step("c++", story.cpp, story)
    return (_export_step(story.export),), (_package_step(story.package),), last


def step_with_problem(story: AotiStory) -> StepId | None:
    """Return the first failed step; None without failures."""
    steps = (step for column in packaging_steps(story) for step in column)
    return next((step.id for step in steps if step.state == "failed"), None)


def _export_step(export: Export | None) -> PackagingStep:
    title, call = "Export", "torch.export.export(…)"
    if export is None:
        return PackagingStep("export", title, call, "not reached", None, "not recorded")
    if export.problem:
        return PackagingStep("export", title, call, "failed", export.seconds or None, first_line(export.problem))
    dims = f", {count(len(export.dims), 'dynamic dimension')}" if export.dims else ""
    return PackagingStep("export", title, call, "done", export.seconds, f"{count(export.nodes, 'op')}{dims}")


def _package_step(package: Package | None) -> PackagingStep:
    title, call = "Package", "torch._inductor.aoti_compile_and_package(…)"
    if package is None:
        return PackagingStep("package", title, call, "not reached", None, "not reached")
    if not package.files:
        return PackagingStep("package", title, call, "failed", package.seconds, first_line(package.problem))
    words = f"{bytes_(package.bytes)}, {count(len(package.files) + package.left_out, 'file')}"
    return PackagingStep("package", title, call, "done", package.seconds, words)


def _run_step(user: PackageUser, run: PackageRun | None, story: AotiStory) -> PackagingStep:
    title = "Python" if user == "python" else "C++"
    if run is None:
        return PackagingStep(user, title, CALLS[user], "not reached", None, "not reached")
    if run.problem:
        return PackagingStep(user, title, CALLS[user], "failed", run.load_s, first_line(run.problem))
    state: StepState = "failed" if same_as_eager(run) is False else "done"
    timed = {time.side: time.median_s for time in side_times(story.times)} if story.times else {}
    return PackagingStep(user, title, CALLS[user], state, timed.get(user), results_of_run(run))


def first_line(text: str) -> str:
    """Return the first line with text, cut if it is long."""
    line = first_text_line(text)
    return line[:LONGEST_SAID] + ("…" if len(line) > LONGEST_SAID else "")


def call_cost(times: PackageTimes | None) -> CallCost | None:
    """Return the additional cost of a call from Python over C++; None if not timed in the same rounds."""
    if times is None:
        return None
    python, cpp = (times.sides.get(side, ())[times.warm_up :] for side in ("python", "c++"))
    measured = median_ratio(python, cpp) if python and cpp else None
    ratio = None if measured is None or measured.wide else measured
    medians_s = {time.side: time.median_s for time in side_times(times)}
    return CallCost(medians_s["python"] - medians_s["c++"], ratio) if ratio else None


def ran_outside(trials: Sequence[RangeTrial]) -> tuple[RangeTrial, ...]:
    """Return the calls with out-of-range sizes that the package accepts by default, and rejects with input checks."""
    return tuple(
        trial for trial in trials if not (trial.inside or trial.package or trial.skipped) and bool(trial.checked)
    )


def package_tree(files: Sequence[PackagedFile]) -> tuple[TreeRow, ...]:
    """Return the files of a package below their folders; folders with only one subfolder are merged into one row.

    Each folder has the bytes of all its files.
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
