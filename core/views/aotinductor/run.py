"""AOTInductor page: packaging steps, results, times, and the job that makes a package."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from core.analysis.aoti import (
    SIDES,
    AotiStory,
    CallCost,
    PackagingStep,
    SideTime,
    StepId,
    aoti_story,
    call_cost,
    first_text_line,
    packaging_steps,
    same_as_eager,
    side_times,
    step_with_problem,
)
from core.analysis.interval import NOT_MEASURABLE, Interval
from core.analysis.verdict import target_words
from core.base import words as fmt
from core.base.errors import JobError
from core.base.machine import PROGRAM
from core.job import BATCH, CompileJob, DynamicDim, Packaging
from core.job.arguments import tensor_sizes
from core.report import PackageRun, PackageText, PackageTimes, Report
from core.views.aotinductor.package import (
    FILE_NAME,
    ExportView,
    PackageCode,
    PackageRunView,
    PackageView,
    Read,
    SizesView,
    export_lines,
    narrower_ranges,
    package_lines,
    run_lines,
    step_words,
    trial_words,
)
from core.views.blocks import (
    Beside,
    Blocks,
    Code,
    Column,
    Data,
    Drawn,
    Heading,
    InLine,
    Listing,
    PageBlock,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line, plain, prose, sentence
from core.views.speedup import ratio_words
from core.views.verdict import WHILE_MEASURED, disturbed_words

# Parts that the page draws: forms, the steps with the panel of one, a chart, and code.
ASK, ASK_AGAIN, WAY, PANEL, TIMES = "ask", "ask-again", "way", "panel", "package-times"
PYTHON, SOURCES = "from-python", "sources"
MOST_SOURCES = 8  #: sources of the program that runs a package
MOST_OFFERED = 60  #: dimensions offered to be dynamic
STEPS: tuple[StepId, ...] = ("export", "package", "python", "c++")
FROM_PYTHON = """import torch

model = torch._inductor.aoti_load_package("{file}")
outputs = model(*inputs)
"""
CALL_NOTE = "No model file and no Dynamo: the package holds the code and the constants."
NO_PACKAGE = "The model was not exported, so there is no package."
NO_SOURCES = "The program's source was not recorded."
NAMES = {"eager": "eager", "compiled": "compiled", "python": "package, Python", "c++": "package, C++"}


def aotinductor(report: Report, read: Read) -> Iterator[PageBlock]:
    """Yield the packaging of a run's model: steps, times, accepted sizes, and each step's result."""
    view = AotInductorView(report)
    yield Title(spans(view.title), "" if view.compiled_for else GLOSSARY["package"])
    if view.compiled_for or view.story is None:
        yield from paragraph(view.compiled_for or view.introduction)
        yield Drawn(ASK)
        return
    steps = Table("steps", STEP_COLUMNS, [box for column in view.steps for box in column])
    yield Drawn(WAY, (steps,))
    if view.package is not None:
        sizes = view.sizes
        yield Beside(tuple(view.time_blocks), (Heading("Sizes"), *(sizes.blocks if sizes else ())), shares=(6, 5))
    yield Drawn(PANEL, tuple(block for step in STEPS for block in view.panel(step, read)))
    yield InLine((Data("aotinductor", view.story),))
    yield Drawn(ASK_AGAIN)


class StepBox(NamedTuple):
    """A packaging step, with its time and its outcome as text."""

    step: PackagingStep
    figure: str
    outcome: str


@dataclass(frozen=True)
class AotInductorView:
    """The AOTInductor records of a run: export, package, its runs, times and sizes."""

    report: Report

    introduction = (
        "`torch.export` captures the whole model as one graph of aten ops, with ranges for dynamic sizes. AOTInductor "
        "compiles the graph ahead of time into a package: one file with the code and the constants. The package runs "
        "from Python and from C++, without Dynamo and without the model's source."
    )

    @property
    def title(self) -> str:
        """Result in a sentence, or a note that nothing was packaged."""
        if self.compiled_for:
            return "Nothing was run, so nothing was packaged."
        return prose(aoti_sentence(self.report), LONGEST_TEXT) if self.story else "The model was not packaged."

    @property
    def compiled_for(self) -> str:
        """Sentence with the target if the code was compiled for it and not run; otherwise empty."""
        target = target_words(self.report)
        return f"The code was {target}." if target else ""

    @cached_property
    def story(self) -> AotiStory | None:
        """Records of the run; None if AOTInductor was not requested."""
        return aoti_story(self.report)

    @property
    def export_failed(self) -> bool:
        """True if torch did not export the model."""
        return self._records.problem == "export"

    @property
    def steps(self) -> tuple[tuple[StepBox, ...], ...]:
        """Steps by column: export, package, and the package's users."""
        return tuple(tuple(map(_box, column)) for column in packaging_steps(self._records))

    @property
    def first_step(self) -> StepId:
        """First failed step; the package step if no step failed."""
        return step_with_problem(self._records) or "package"

    def step(self, name: str | None) -> StepId:
        """Return a step by its id; `first_step` for an unknown id."""
        return next((step for step in STEPS if step == name), self.first_step)

    def panel(self, step: StepId, read: Read) -> Iterator[PageBlock]:
        """Yield the result of a step."""
        match step:
            case "export":
                yield from self.export.blocks(read) if self.export else ()
            case "package":
                yield from self.package.blocks(read) if self.package else paragraph(NO_PACKAGE, "quiet")
            case "python":
                code = Drawn(PYTHON, (Listing("from Python", Code(self.python_code)),), (self.python_code,))
                yield Beside((code, *paragraph(CALL_NOTE, "quiet")), _results(self.python))
            case "c++":
                sources = tuple(source.block("runner", read) for source in self.cpp_sources)
                left = (Drawn(SOURCES, sources, (self.cpp_sources,)),) if sources else paragraph(NO_SOURCES, "quiet")
                build = self.cpp.build_blocks if self.cpp else ()
                yield Beside(tuple(left), (*_results(self.cpp), *build), shares=(3, 2))

    @property
    def time_blocks(self) -> Iterator[PageBlock]:
        """The time of each side, and its speedup over eager; the reason if nothing was timed."""
        yield Heading("Time per call")
        if self.times is None:
            yield from paragraph(self.not_timed, "quiet")
            return
        yield Drawn(TIMES, of=(self.times.bars,))
        yield self.times.table
        yield from paragraph(self.times.method, "quiet")

    @property
    def export(self) -> ExportView | None:
        """Export of the model; None if it was not requested."""
        export = self._records.export
        text = next((text for text in self.report.package_texts if text.part == "graph"), None)
        graph = PackageCode(text.name, "exported program", "python", text.text) if text else None
        return ExportView(export, graph) if export else None

    @property
    def sizes_now(self) -> dict[str, int]:
        """Sizes of the input dimensions of the first call, the batch first; empty if unreadable."""
        first = next(iter(self.report.calls), None)
        try:
            sizes = tensor_sizes(first.inputs) if first else {}
        except JobError:
            return {}
        return {BATCH: next(iter(sizes.values())), **dict(list(sizes.items())[:MOST_OFFERED])} if sizes else {}

    @property
    def sizes(self) -> SizesView | None:
        """Sizes that the package takes; None without an export."""
        export = self._records.export
        return SizesView(export, self._records.trials) if export else None

    @property
    def package(self) -> PackageView | None:
        """Contents of the package; None if the log has no record of packaging."""
        package = self._records.package
        return PackageView(package, self.report.package_texts) if package else None

    @property
    def python(self) -> PackageRunView | None:
        """Run of the package from Python; None if the log has no such run."""
        return _run_view("Python", self._records.python)

    @property
    def python_code(self) -> str:
        """Code that runs the package from Python."""
        package = self._records.package
        file = package.file if package and package.file else FILE_NAME
        return FROM_PYTHON.format(file=one_line(file, LONGEST_NAME).replace('"', ""))

    @property
    def cpp(self) -> PackageRunView | None:
        """Run of the package by the C++ program; None if the log has no such run."""
        return _run_view("The program in C++", self._records.cpp)

    @property
    def cpp_sources(self) -> list[PackageCode]:
        """Sources of the program in C++, with its build files."""
        texts = [text for text in self.report.package_texts if text.part == "runner"]
        return [_source(text) for text in texts[:MOST_SOURCES]]

    @property
    def times(self) -> PackageTimesView | None:
        """Times per call; None if nothing was timed."""
        records = self._records
        times = (
            PackageTimesView(records.times, {"python": records.python, "c++": records.cpp}) if records.times else None
        )
        return times if times and times.sides else None

    @property
    def not_timed(self) -> str:
        """Reason why nothing was timed."""
        times = self._records.times
        return plain(f"Not timed: {times.reason}." if times and times.reason else "Nothing was timed.")

    @property
    def _records(self) -> AotiStory:
        return self.story or AotiStory()


def _results(run: PackageRunView | None) -> Blocks:
    return tuple(run.blocks if run else paragraph("There is no package to run.", "quiet"))


def _box(step: PackagingStep) -> StepBox:
    per_call = step.id in ("python", "c++") and step.state == "done"
    figure = "" if step.seconds is None else fmt.duration_s(step.seconds) + (" a call" if per_call else "")
    return StepBox(step, figure, one_line(step_words(step), LONGEST_LINE))


def _run_view(user: str, run: PackageRun | None) -> PackageRunView | None:
    return PackageRunView(user, run) if run else None


def _source(text: PackageText) -> PackageCode:
    return PackageCode(text.name, one_line(text.name, LONGEST_NAME), text.language, text.text)


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """A job that packages the model of the job `before`.

    `bounds` has the lower and upper bound of each dynamic dimension; None stands for torch's default.
    """

    dims_help: ClassVar[str] = (
        "Input dimensions that are dynamic in the package, each a `torch.export.Dim` with bounds. `0.1` is dimension 1 "
        "of argument 0. `batch` is dimension 0 of the first tensor, and of every tensor with the same size there."
    )
    bound_help: ClassVar[str] = "Empty: torch's default bound. Torch reports a bound that the model narrows."
    command_title: ClassVar[str] = (
        "In a terminal (`--out` is the folder for the package, a C++ program and its build files):"
    )

    before: CompileJob
    bounds: Mapping[str, tuple[int | None, int | None]]

    @staticmethod
    def bounds_of(job: CompileJob) -> dict[str, tuple[int | None, int | None]]:
        """Return the bounds of each dimension that is dynamic in a job's package."""
        return {dim.at: (dim.least, dim.most) for dim in job.aoti.dims} if job.aoti else {}

    @staticmethod
    def names(job: CompileJob, sizes: Iterable[str]) -> list[str]:
        """Return the dimensions to choose from, without duplicates.

        The dynamic dimensions of the job's package come first, then the batch and the dimensions in `sizes`.
        """
        return list(dict.fromkeys([*PackageRequest.bounds_of(job), BATCH, *sizes]))

    @property
    def dims(self) -> tuple[DynamicDim, ...]:
        """Dynamic dimensions with their bounds."""
        return tuple(DynamicDim(name, least, most) for name, (least, most) in self.bounds.items())

    @property
    def job(self) -> CompileJob:
        """Job that makes the package, in inference, since a package has no backward."""
        job = self.before.with_settings(training=False) if self.before.training else self.before
        return replace(job, aoti=Packaging(self.dims))

    @property
    def caption(self) -> str:
        """Differences between the job that packages the model and the run's job."""
        if self.before.training:
            return "The same job in inference: a package holds what `forward` computes, and no backward."
        return "Runs the same job and packages its model. Compiling the C++ code takes a minute or two."

    @property
    def command(self) -> str:
        """Command line that makes the same package."""
        model = self.before.model
        path = {"code": "model.py", "file": f"{model.value}:{model.name}"}.get(model.kind, model.value)
        words = [*PROGRAM, "aoti", path, *(word for dim in self.dims for word in ("--dim", dim.text))]
        return shlex.join([*words, *(["--no-training"] if self.before.training else []), "--out", "package"])


class SideBar(NamedTuple):
    """Median seconds per call of a timed side, with the quartiles.

    `side` is `eager`, `compiled`, `python` or `c++`; `name` is its display name.
    """

    side: str
    name: str
    median_s: float
    quartiles_s: tuple[float, float]


@dataclass(frozen=True, slots=True)
class PackageTimesView:
    """Seconds per call of all timed sides; `runs` are the package's runs by side."""

    times: PackageTimes
    runs: Mapping[str, PackageRun | None]

    @property
    def sides(self) -> tuple[SideTime, ...]:
        """Timed sides, eager first; empty if nothing was timed."""
        return side_times(self.times)

    @property
    def bars(self) -> list[SideBar]:
        """Bar of each side, the first side last, since charts draw bars from the bottom up."""
        return [SideBar(side.side, _name(side), side.median_s, side.quartiles_s) for side in reversed(self.sides)]

    @property
    def table(self) -> Table[SideTime]:
        """Time per call of each side, its speedup over eager, and the package's load and first-call times."""
        runs = self.runs
        return Table(
            "times",
            (
                *TIME_COLUMNS,
                Column("load", lambda side: run.load_s if (run := runs.get(side.side)) else None, fmt.duration_s),
                Column("first call", lambda side: run.call_s if (run := runs.get(side.side)) else None, fmt.duration_s),
            ),
            self.sides,
        )

    @property
    def method(self) -> str:
        """Sentences on the sampling, and on the cost of a call from Python compared with one from C++."""
        return " ".join(filter(None, (_sampling_words(self.times), _cost_words(call_cost(self.times)))))


def _name(side: SideTime) -> str:
    """Return the display name of a side; a side without one keeps its name in the log."""
    return NAMES.get(side.side) or one_line(side.side, LONGEST_NAME)


def _quartiles(side: SideTime) -> str:
    low_s, high_s = side.quartiles_s
    return f"{fmt.duration_s(low_s)} to {fmt.duration_s(high_s)}"


def _speedup_words(side: SideTime) -> str:
    """Return the speedup over eager; only its bounds if the difference is not significant."""
    if side.faster is None or side.faster.apart or side.faster.wide:
        return ratio_words(side.faster)
    return f"none seen ({fmt.number(side.faster.low)}–{fmt.number(side.faster.high)}×)"


def _sampling_words(times: PackageTimes) -> str:
    """Describe the sampling, and the machine's other load if it disturbed the samples."""
    rounds = max(map(len, times.sides.values())) - times.warm_up
    threads = f" on {fmt.count(times.threads, 'thread')}" if times.threads else ""
    timed = f", timed by {plain(times.clock, LONGEST_LINE)}" if times.clock else ""
    disturbed = disturbed_words([times.load], WHILE_MEASURED)
    return (
        f"Interleaved, {fmt.count(rounds, 'round')} of {fmt.count(times.calls_per_sample, 'call')} each{threads} after "
        f"{fmt.count(times.warm_up, 'round')} of warm-up{timed}. The brackets hold the ratio with 99 % confidence."
        + (f" {sentence(disturbed)}" if disturbed else "")
    )


def _cost_words(cost: CallCost | None) -> str:
    """Return a sentence that compares a call from Python with one from C++; empty if `cost` is None."""
    if cost is None:
        return ""
    low, high = fmt.number(cost.ratio.low), fmt.number(cost.ratio.high)
    if not cost.seen:
        return f"Between Python and C++ no difference is seen (the ratio is between {low} and {high})."
    more = f"{fmt.duration_s(abs(cost.more_s))} {'more' if cost.more_s > 0 else 'less'}"
    return (
        f"The same library takes {fmt.number(cost.ratio.middle)} times as long from Python ({low} to {high}), "
        f"{more} a call."
    )


STEP_COLUMNS: tuple[Column[StepBox], ...] = (
    Column("step", lambda box: box.step.title),
    Column("state", lambda box: box.step.state),
    Column("time", lambda box: box.figure),
    Column("outcome", lambda box: box.outcome),
)
TIME_COLUMNS: tuple[Column[SideTime], ...] = (
    Column("", _name),
    Column("a call", lambda side: side.median_s, fmt.duration_s),
    Column("quartiles", _quartiles),
    Column("eager over it", lambda side: None if side.side == "eager" else _speedup_words(side)),
)


def aoti_sentence(report: Report) -> str:
    """Return the AOTInductor result in one sentence; empty if AOTInductor was not requested."""
    story = aoti_story(report)
    if story is None:
        return ""
    export, package = story.export, story.package
    if export is not None and export.problem:
        return f"torch.export did not export the model: {first_text_line(export.problem)}"
    if package is None:
        return "The model was exported, and the log ends before its package."
    if not package.files:
        return f"AOTInductor made no package: {first_text_line(package.problem)}"
    summary = f"A package of {fmt.bytes_(package.bytes)}, {fmt.count(package.left_out + len(package.files), 'file')}"
    return f"{summary}: {_run_outcomes(story)}."


def _run_outcomes(story: AotiStory) -> str:
    runs = [("Python", story.python), ("C++", story.cpp)]
    same = [name for name, run in runs if same_as_eager(run)]
    parts = [f"equal to eager from {' and from '.join(same)}"] if same else []
    parts += [f"results from {name} differ from eager's" for name, run in runs if same_as_eager(run) is False]
    parts += [f"{name} did not run it ({run.stage})" for name, run in runs if run is not None and run.problem]
    return ", ".join(parts) or "not run"


def aoti_lines(report: Report) -> Iterator[str]:
    """Yield all AOTInductor records of the run, one per line."""
    story = aoti_story(report)
    if story is None:
        return
    if story.export is not None:
        yield from export_lines(story.export)
    for trial in story.trials:
        yield f"  {trial_words(trial)}"
    yield from narrower_ranges(story.trials)
    if story.package is not None:
        yield from package_lines(story.package)
    for run in filter(None, (story.python, story.cpp)):
        yield from run_lines(run)
    if story.times is not None:
        yield from _time_lines(story.times)


def _time_lines(times: PackageTimes) -> Iterator[str]:
    if times.reason:
        yield f"not timed: {times.reason}"
    if disturbed := disturbed_words([times.load], WHILE_MEASURED):
        yield f"  {disturbed}"
    for side_time in side_times(times):
        low, high = side_time.quartiles_s
        name = SIDES.get(side_time.side, side_time.side)
        yield (
            f"  {name}: {fmt.duration_s(side_time.median_s)} ({fmt.duration_s(low)}–{fmt.duration_s(high)})"
            f"{_against_eager(side_time.faster)}"
        )


def _against_eager(faster: Interval | None) -> str:
    """Return the speedup over eager in words, without the ratio if it is unclear; empty for None."""
    if faster is None:
        return ""
    if faster.wide:
        return f", against eager {NOT_MEASURABLE}"
    if not faster.apart:
        return f", no difference from eager seen ({fmt.number(faster.low)}–{fmt.number(faster.high)}×)"
    return f", {fmt.ratio(faster.middle)} as fast as eager ({fmt.number(faster.low)}–{fmt.number(faster.high)})"
