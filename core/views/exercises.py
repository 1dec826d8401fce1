"""Exercises: the checks of a solution, torch's hints about it, and the progress; texts are Markdown.

Each solution is a run, so the progress is computed from the stored runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from core.analysis.findings import findings
from core.analysis.memory import saved_bytes
from core.analysis.repairs.offers import newest_reasons
from core.analysis.results import ending_words, results, results_words
from core.analysis.work import distinct_kernels, frame_of
from core.base import words as fmt
from core.base.errors import CompileboardError
from core.graph.fx import source_path
from core.job import CompileJob
from core.job.gallery import BY_NAME, EXERCISES, Exercise
from core.report import Report
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import open_report
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, plain, prose
from core.views.texts import line_in

OUTSIDE = ("eager", "mixed", "raised")
EQUAL = ("same", "other strides")
# Findings without advice for a solution: its checks say it, or only speed matters.
SAID_BY_CHECKS = ("results differ", "not compiled", "graph breaks", "first call")
CAPTURED = "dynamo_output_graph"
CAPTURED_NEGATIONS = ("operator.neg", "torch.neg", "neg", "negative", "torch.negative")
NEGATION = "torch.ops.aten.neg.default"
MOST_HINTS = 6  #: messages of torch about a solution of an exercise


@dataclass(frozen=True, slots=True)
class ExerciseCheck:
    """The result of a check: a sentence with this run's numbers, and the page with the evidence."""

    passed: bool
    sentence: str
    page: str


def _calls(report: Report, wanted: int) -> ExerciseCheck:
    compared, made = results(report), len(report.calls)
    if made != wanted:
        words = f"{fmt.count(made, 'call')} made, {fmt.number(wanted)} expected: keep the calls of the exercise"
        return ExerciseCheck(False, f"{words}.", "overview")
    if compared is None:
        return ExerciseCheck(False, "No result was compared with eager.", "overview")
    if compared.outcome in EQUAL:
        calls = f" in all {fmt.number(made)} calls" if made > 1 else ""
        return ExerciseCheck(True, f"Results equal those of the original code in eager{calls}.", "numerics")
    verb = "differ from" if compared.outcome == "differs" else "cannot be compared with"
    return ExerciseCheck(
        False, f"Results {verb} those of the original code in eager: {prose(results_words(compared))}.", "numerics"
    )


def _captured_ops(report: Report, least: int) -> ExerciseCheck:
    newest = {
        frame_of(compilation): graph
        for compilation in report.compilations
        for graph in compilation.graphs
        if graph.stage == CAPTURED
    }
    graphs = newest.values()
    ops = sum(sum(graph.targets.values()) for graph in graphs)
    outside = sum(call.how in OUTSIDE for call in report.calls)
    if not ops:
        return ExerciseCheck(False, "No op was compiled.", "compilations")
    if outside:
        return ExerciseCheck(False, f"{fmt.count(outside, 'call')} ran partly or wholly in eager.", "recompiles")
    captured = f"{fmt.count(ops, 'op')} captured in {fmt.count(len(graphs), 'graph')}"
    if ops < least:
        words = f"{captured}, and the task needs {fmt.number(least)}: compute the results in the model"
        return ExerciseCheck(False, f"{words}.", "fx_graph")
    return ExerciseCheck(True, f"Every call ran compiled code: {captured}.", "fx_graph")


def _graph_breaks(report: Report, most: int) -> ExerciseCheck:
    breaks = report.graph_breaks
    if len(breaks) <= most:
        accepted = ": `fullgraph=True` would accept the model" if report.compilations else ""
        return ExerciseCheck(True, f"No graph break{accepted}.", "graph_breaks")
    line = line_in(breaks[0].stack, source_path(report))
    at = f" at line {fmt.number(line)}" if line is not None else ""
    reason = prose(breaks[0].reason, LONGEST_TEXT)
    return ExerciseCheck(False, f"{fmt.count(len(breaks), 'graph break')}. The first{at}: {reason}.", "graph_breaks")


def _recompiles(report: Report, most: int) -> ExerciseCheck:
    reasons = newest_reasons(report.recompiles)
    counted = fmt.count(len(reasons), "recompile")
    if len(reasons) <= most:
        allowed = f", at most {fmt.number(most)}" if most else ""
        return ExerciseCheck(True, f"{counted}{allowed}.", "recompiles")
    guard = code(reasons[-1].reason, LONGEST_LINE)
    return ExerciseCheck(False, f"{counted}, at most {fmt.number(most)}. Last failed guard: {guard}.", "recompiles")


def _kernels(report: Report, most: int) -> ExerciseCheck:
    kernels = [kernel for compilation in report.compilations for kernel in compilation.kernels]
    names = ", ".join(code(name, LONGEST_NAME) for name in dict.fromkeys(kernel.name for kernel in kernels))
    counted = distinct_kernels(kernels)
    passed = 0 < counted <= most
    return ExerciseCheck(
        passed, f"{fmt.count(counted, 'kernel')}, at most {fmt.number(most)}{names and f': {names}'}.", "kernels"
    )


def _saved_bytes(report: Report, most: int) -> ExerciseCheck:
    partitions = [partition for compilation in report.compilations for partition in compilation.partitions]
    saved = sum(saved_bytes(partition.kept or partition.saved, "activation") for partition in partitions)
    words = f"{fmt.bytes_(saved)} of activations saved for the backward, at most {fmt.bytes_(most)}"
    return ExerciseCheck(bool(partitions) and saved <= most, f"{words}." if partitions else "No backward.", "partition")


def _backend_calls(report: Report, wanted: int) -> ExerciseCheck:
    calls = sum(len(compilation.invocations) for compilation in report.compilations)
    words = f"{fmt.count(calls, 'call')} of the backend, {fmt.number(wanted)} expected"
    return ExerciseCheck(calls == wanted, f"{words}.", "backend")


def _executions(report: Report, wanted: int) -> ExerciseCheck:
    times = sum(total.calls for total in report.ran)
    words = f"{fmt.count(times, 'execution')} of the callable that it returned, {fmt.number(wanted)} expected"
    return ExerciseCheck(times == wanted, f"{words}.", "backend")


def _removed_negations(report: Report, wanted: int) -> ExerciseCheck:
    captured = _calls_of(report, CAPTURED, CAPTURED_NEGATIONS)
    left = _calls_of(report, "inductor_post_grad_graph", (NEGATION,))
    words = f"The model has {fmt.count(captured, 'negation')}, the lowered graph {fmt.number(left)}"
    return ExerciseCheck(captured >= wanted and not left, f"{words}; {fmt.number(wanted)} to remove.", "passes")


def _calls_of(report: Report, stage: str, targets: Iterable[str]) -> int:
    """Return the number of calls of these targets in all graphs of a stage."""
    graphs = [graph for compilation in report.compilations for graph in compilation.graphs if graph.stage == stage]
    return sum(graph.targets.get(target, 0) for graph in graphs for target in targets)


# By the names in `core.job.gallery`, in the order in which they are shown.
CHECKS: dict[str, Callable[[Report, int], ExerciseCheck]] = {
    "calls": _calls,
    "captured_ops": _captured_ops,
    "graph_breaks": _graph_breaks,
    "recompiles": _recompiles,
    "kernels": _kernels,
    "saved_bytes": _saved_bytes,
    "backend_calls": _backend_calls,
    "executions": _executions,
    "removed_negations": _removed_negations,
}


@dataclass(frozen=True)
class AttemptView:
    """A solution that was checked: its exercise, and the status and the report of its run."""

    exercise: Exercise
    status: Status
    report: Report | None

    @cached_property
    def checks(self) -> tuple[ExerciseCheck, ...]:
        """The results of all checks; for a failed run, only the reason of the failure."""
        if self._failed or self.report is None:
            frames = self.report.error.frames if self.report is not None and self.report.error is not None else ()
            words = prose(self._failed or "The run recorded nothing", LONGEST_TEXT)
            line = f"line {fmt.number(frames[-1].line)}" if frames else ""
            at = f" at {line}" if line not in words else ""
            return (ExerciseCheck(False, f"{words}{at}.", "overview"),)
        return tuple(CHECKS[name](self.report, limit) for name, limit in self.exercise.checks.items())

    @property
    def _failed(self) -> str:
        return ending_words(self.status.state, self.status.reason, self.report)

    @property
    def solved(self) -> bool:
        """True if the run has ended and all checks passed."""
        return not self.status.live and all(check.passed for check in self.checks)

    @property
    def title(self) -> str:
        """The outcome in a sentence."""
        if self.solved:
            return "Solved."
        if self._failed or self.report is None:
            return "Not yet: the run failed, so nothing was checked."
        failed = sum(not check.passed for check in self.checks)
        return f"Not yet: {fmt.number(failed)} of {fmt.count(len(self.checks), 'check')} failed."

    @cached_property
    def torch_hints(self) -> tuple[str, ...]:
        """Messages about the solution: an error of several lines, hints for graph breaks, advice of findings."""
        if self.report is None:
            return ()
        error = self.report.error
        hints = [plain(error.message, LONGEST_TEXT)] if error and "\n" in error.message.strip() else []
        hints += [prose(hint, LONGEST_TEXT) for item in self.report.graph_breaks for hint in item.hints]
        advice = (item for item in findings(self.report) if not item.rule.startswith(SAID_BY_CHECKS))
        hints += [f"{prose(item.title)} {prose(item.advice)}" for item in advice]
        return tuple(dict.fromkeys(hints))[:MOST_HINTS]


@dataclass(frozen=True, slots=True)
class ExerciseView:
    """An exercise and its attempts, newest first; `solved` is True if an attempt passes all checks."""

    exercise: Exercise
    attempts: tuple[Run, ...]
    solved: bool

    changed_after: ClassVar[str] = "The code below was changed after this check."
    no_code: ClassVar[str] = (
        "This server does not run visitors' code, so a solution cannot be checked here. Its owner can allow it with "
        "`COMPILEBOARD_ALLOW_CODE=1`."
    )

    @staticmethod
    def of_runs(runs: Iterable[tuple[Run, Status]], is_solution: Callable[[Run], bool]) -> dict[str, ExerciseView]:
        """Return all exercises by their names, in order, with the attempts among these runs."""
        attempts: dict[str, list[Run]] = {row.name: [] for row in EXERCISES}
        titles = ExerciseView.titles()
        for run, status in runs:
            exercise = _exercise_of_run(run) if status.title in titles and status.state != "damaged" else None
            if exercise is not None:
                attempts[exercise.name].append(run)
        return {
            row.name: ExerciseView(row, tuple(attempts[row.name]), any(map(is_solution, attempts[row.name])))
            for row in EXERCISES
        }

    @staticmethod
    def titles() -> frozenset[str]:
        """Return the titles of runs that are attempts."""
        return frozenset(row.job("").title() for row in EXERCISES)

    @staticmethod
    def is_solution(run: Run) -> bool:
        """Return True if a run has ended and passes the checks of its exercise."""
        exercise = _exercise_of_run(run)
        try:
            return exercise is not None and AttemptView(exercise, run.status(), open_report(run)).solved
        except CompileboardError:
            return False

    @staticmethod
    def progress(views: Collection[ExerciseView]) -> str:
        """Return the number of solved exercises as a sentence."""
        solved = sum(view.solved for view in views)
        return f"{fmt.number(solved)} of {fmt.count(len(views), 'exercise')} solved."

    @property
    def state(self) -> Literal["solved", "tried", "not tried"]:
        """Progress on the exercise: solved, tried (it has attempts), or not tried."""
        return "solved" if self.solved else "tried" if self.attempts else "not tried"

    @property
    def caption(self) -> str:
        """The topic and the state."""
        return f"{self.exercise.topic} · {self.state}"

    @property
    def checked_with(self) -> str:
        """The call of torch.compile that checks a solution."""
        backward = ", forward and backward" if self.exercise.training else ""
        call = code(self.exercise.compile.as_call())
        return f"Checked with {call}{backward}, against the original code in eager."

    def hints_left(self, shown: int) -> str:
        """Return the number of hints that are not shown yet."""
        return f"{fmt.count(len(self.exercise.hints) - shown, 'hint')} left"

    def is_tried_by(self, job: CompileJob | None) -> bool:
        """Return True if a job checks a solution of this exercise."""
        return job is not None and self.exercise.is_checked_by(job)

    def attempt(self, status: Status, report: Report | None) -> AttemptView:
        """Return an attempt by the status and the report of its run."""
        return AttemptView(self.exercise, status, report)


def _exercise_of_run(run: Run) -> Exercise | None:
    """Return the exercise of a run that checks a solution; None for other runs and unreadable jobs."""
    try:
        job = run.job()
    except CompileboardError:
        return None
    exercise = BY_NAME.get(job.exercise) if job is not None else None
    return exercise if exercise is not None and job is not None and exercise.is_checked_by(job) else None
