"""A package that AOTInductor made, as it is looked at: the way to it, what is in it, and what its calls cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.aoti import KINDS, AotiStory, first_said, results_of_run, same_as_eager, side_times
from core.analysis.interval import Interval, median_ratio
from core.base.words import bytes_, count
from core.report import Export, Package, PackagedFile, PackageRun, PackageTimes, PackageUser, RangeTrial

StepId = Literal["export", "package", "python", "c++"]
StepState = Literal["done", "failed", "not reached"]
CALLS: dict[PackageUser, str] = {
    "python": "torch._inductor.aoti_load_package(…)",
    "c++": "torch::inductor::AOTIModelPackageLoader",
}
# Folders below each other that a tree tells apart.
MOST_DEEP = 12
# Torch ends a message with advice of many lines; the first says what happened.
LONGEST_SAID = 240


@dataclass(frozen=True, slots=True)
class PackagingStep:
    """One step of the way: what is called, how long it took (None where it did not), and what came of it."""

    id: StepId
    title: str
    call: str
    state: StepState
    seconds: float | None
    words: str


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A line of a package's tree: a file, or a folder (`file` is None) with all that is in it."""

    name: str
    depth: int
    bytes: int
    file: PackagedFile | None

    @property
    def kind(self) -> str:
        """What a file is, in words; empty for a folder."""
        return KINDS[self.file.kind] if self.file else ""


@dataclass(frozen=True, slots=True)
class CallCost:
    """A call of the same library from Python beside one from C++: seconds more by the medians, and how many times as
    long it takes, with its bounds.
    """

    more_s: float
    ratio: Interval

    @property
    def seen(self) -> bool:
        """Whether there is a difference to claim."""
        return self.ratio.apart


def packaging_steps(story: AotiStory) -> tuple[tuple[PackagingStep, ...], ...]:
    """The way, column by column: the export, the package, and those who run it."""
    last = _run_step("python", story.python, story), _run_step("c++", story.cpp, story)
    return (_export_step(story.export),), (_package_step(story.package),), last


def step_with_problem(story: AotiStory) -> StepId | None:
    """The first step that failed; None where all went well."""
    steps = (step for column in packaging_steps(story) for step in column)
    return next((step.id for step in steps if step.state == "failed"), None)


def _export_step(found: Export | None) -> PackagingStep:
    title, call = "Export", "torch.export.export(…)"
    if found is None:
        return PackagingStep("export", title, call, "not reached", None, "not recorded")
    if found.problem:
        return PackagingStep("export", title, call, "failed", found.seconds or None, first_line(found.problem))
    dims = f", {count(len(found.dims), 'dynamic dimension')}" if found.dims else ""
    return PackagingStep("export", title, call, "done", found.seconds, f"{count(found.nodes, 'op')}{dims}")


def _package_step(found: Package | None) -> PackagingStep:
    title, call = "Package", "torch._inductor.aoti_compile_and_package(…)"
    if found is None:
        return PackagingStep("package", title, call, "not reached", None, "not reached")
    if not found.files:
        return PackagingStep("package", title, call, "failed", found.seconds, first_line(found.problem))
    words = f"{bytes_(found.bytes)}, {count(len(found.files) + found.left_out, 'file')}"
    return PackagingStep("package", title, call, "done", found.seconds, words)


def _run_step(user: PackageUser, run: PackageRun | None, story: AotiStory) -> PackagingStep:
    title = "Python" if user == "python" else "C++"
    if run is None:
        return PackagingStep(user, title, CALLS[user], "not reached", None, "not reached")
    if run.problem:
        return PackagingStep(user, title, CALLS[user], "failed", run.load_s, first_line(run.problem))
    state: StepState = "failed" if same_as_eager(run) is False else "done"
    timed = {one.side: one.median_s for one in side_times(story.times)} if story.times else {}
    return PackagingStep(user, title, CALLS[user], state, timed.get(user), results_of_run(run))


def first_line(text: str) -> str:
    """The first line that says something, cut where it is long."""
    line = first_said(text)
    return line[:LONGEST_SAID] + ("…" if len(line) > LONGEST_SAID else "")


def call_cost(times: PackageTimes | None) -> CallCost | None:
    """What a call from Python costs beyond one from C++; None where they were not timed in the same rounds."""
    if times is None:
        return None
    python, cpp = (times.sides.get(side, ())[times.warm_up :] for side in ("python", "c++"))
    found = median_ratio(python, cpp) if python and cpp else None
    ratio = None if found is None or found.wide else found
    medians_s = {one.side: one.median_s for one in side_times(times)}
    return CallCost(medians_s["python"] - medians_s["c++"], ratio) if ratio else None


def ran_outside(trials: Sequence[RangeTrial]) -> tuple[RangeTrial, ...]:
    """The calls with sizes outside of their range that the package took as it is loaded by default, and refuses where
    it checks its inputs.
    """
    return tuple(
        trial for trial in trials if not (trial.inside or trial.package or trial.skipped) and bool(trial.checked)
    )


def package_tree(files: Sequence[PackagedFile]) -> tuple[TreeRow, ...]:
    """The files of a package below their folders, each folder with the bytes of all that is in it; folders that hold
    one folder alone are one line.
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
