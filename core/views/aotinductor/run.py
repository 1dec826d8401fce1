"""AOTInductor in a run: the steps to a package and their results, and the job that makes a package."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from core.analysis import (
    AotiStory,
    PackagingStep,
    StepId,
    aoti_sentence,
    aoti_story,
    packaging_steps,
    step_with_problem,
    target_words,
)
from core.base import words as fmt
from core.job import CompileJob, DynamicDim, Packaging
from core.report import PackageRun, PackageText, Report
from core.views.aotinductor.export import ExportView, SizesView
from core.views.aotinductor.package import FILE_NAME, PackageCode, PackageRunView, PackageView
from core.views.aotinductor.times import PackageTimesView
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line, plain, prose

MOST_SOURCES = 8
STEPS: tuple[StepId, ...] = ("export", "package", "python", "c++")
FROM_PYTHON = """import torch

model = torch._inductor.aoti_load_package("{file}")
outputs = model(*inputs)
"""


class StepBox(NamedTuple):
    """A step to a package, with its time and its outcome as text."""

    step: PackagingStep
    figure: str
    outcome: str


@dataclass(frozen=True)
class AotInductorView:
    """The AOTInductor records of a run: export, package, its runs, times and sizes."""

    report: Report

    introduction = (
        "`torch.export` captures the whole model as one graph of aten ops, with ranges for the sizes that are dynamic. "
        "AOTInductor compiles it ahead of time to a package: one file with the code and the constants, which runs "
        "without the model's source and without Dynamo, from Python and from a program in C++."
    )
    call_note = "No model file and no Dynamo: the package holds the code and the constants."
    trials_help = "Each end of the range, and the sizes next to it, were tried with the program and with the package"
    no_package = "The model was not exported, so there is no package."
    no_run = "There is no package to run."
    no_sources = "The program's source was not recorded."
    step_ids = STEPS

    @property
    def title(self) -> str:
        """Result in a sentence, or that nothing was packaged."""
        if self.compiled_for:
            return "Nothing was run, so nothing was packaged."
        return prose(aoti_sentence(self.report), LONGEST_TEXT) if self.story else "The model was not packaged."

    @property
    def compiled_for(self) -> str:
        """Target that the code was compiled for instead of being run, in a sentence; empty for a run with calls."""
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
        """First failed step; the package without failures."""
        return step_with_problem(self._records) or "package"

    def step(self, name: str | None) -> StepId:
        """Return a step by its id; the first failed one if there is no such step."""
        return next((step for step in STEPS if step == name), self.first_step)

    @property
    def export(self) -> ExportView | None:
        """Export of the model; None if it was not requested."""
        export = self._records.export
        text = next((text for text in self.report.package_texts if text.part == "graph"), None)
        graph = PackageCode(text.name, "exported program", "python", text.text) if text else None
        return ExportView(export, graph) if export else None

    @property
    def sizes(self) -> SizesView | None:
        """Sizes that the package takes; None without an export."""
        export = self._records.export
        return SizesView(export, self._records.trials) if export else None

    @property
    def package(self) -> PackageView | None:
        """Contents of the package; None if the model was not exported."""
        package = self._records.package
        return PackageView(package, self.report.package_texts) if package else None

    @property
    def python(self) -> PackageRunView | None:
        """Package run from Python; None without a package."""
        return _run_view("Python", self._records.python)

    @property
    def python_code(self) -> str:
        """Code that runs the package from Python."""
        package = self._records.package
        file = package.file if package and package.file else FILE_NAME
        return FROM_PYTHON.format(file=one_line(file, LONGEST_NAME).replace('"', ""))

    @property
    def cpp(self) -> PackageRunView | None:
        """Package run by the program in C++; None without a package."""
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


def _box(step: PackagingStep) -> StepBox:
    per_call = step.id in ("python", "c++") and step.state == "done"
    figure = "" if step.seconds is None else fmt.duration_s(step.seconds) + (" a call" if per_call else "")
    return StepBox(step, figure, one_line(step.words, LONGEST_LINE))


def _run_view(user: str, run: PackageRun | None) -> PackageRunView | None:
    return PackageRunView(user, run) if run else None


def _source(text: PackageText) -> PackageCode:
    return PackageCode(text.name, one_line(text.name, LONGEST_NAME), text.language, text.text)


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """A run's job again, with a package of its model whose dimensions `dims` are dynamic."""

    before: CompileJob
    dims: tuple[DynamicDim, ...]

    @property
    def job(self) -> CompileJob:
        """Job that makes the package; in inference, since a package holds no backward."""
        job = self.before.with_settings(training=False) if self.before.training else self.before
        return replace(job, aoti=Packaging(self.dims))

    @property
    def caption(self) -> str:
        """Differences of the job from the run's."""
        if self.before.training:
            return "The same job in inference: a package holds what `forward` computes, and no backward."
        return "Runs the same job and packages its model. Compiling the C++ takes a minute or two."

    @property
    def command(self) -> str:
        """Command line that makes the same package."""
        model = self.before.model
        path = {"code": "model.py", "file": f"{model.value}:{model.name}"}.get(model.kind, model.value)
        dims = [word for dim in self.dims for word in ("--dim", dim.text)]
        inference = ["--no-training"] if self.before.training else []
        return shlex.join(["python", "-m", "core", "aoti", path, *dims, *inference, "--out", "package"])
