"""Comparison of two runs: all differences as values."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.comparison.compilations import CompilationComparison, compare_compilations
from core.analysis.comparison.figures import (
    Figure,
    PhasePair,
    TimeComparison,
    figures,
    phase_pairs,
    time_comparison,
)
from core.analysis.comparison.matching import (
    MatchedPair,
    OptionDifference,
    RunSide,
    SourceDifference,
    breaks,
    option_differences,
    recompiles,
    source_differences,
)
from core.analysis.dynamo.failures import failure_sentence, failures
from core.analysis.results import results
from core.analysis.verdict import side_words
from core.job.options import OPTIONS
from core.report import GraphBreak, Recompile, Report

# Options of a job that don't change its eager call.
OF_THE_COMPILER = frozenset(option.name for option in OPTIONS if not option.eager)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Full comparison of two runs; `left` and `right` describe the runs.

    `sources` is None if a log does not contain the code. `failures` and `results` describe each run in words.
    """

    left: str
    right: str
    options: tuple[OptionDifference, ...]
    sources: tuple[SourceDifference, ...] | None
    figures: tuple[Figure, ...]
    compilations: tuple[CompilationComparison, ...]
    breaks: tuple[MatchedPair[GraphBreak], ...]
    recompiles: tuple[MatchedPair[Recompile], ...]
    phases: tuple[PhasePair, ...]
    times: TimeComparison | None
    failures: tuple[str, str]
    results: tuple[str, str]

    def figure(self, name: str) -> Figure:
        """Return the figure of this name; both values are None if neither run has it."""
        return next((figure for figure in self.figures if figure.name == name), Figure(name, None, None))


def compare_runs(left: RunSide, right: RunSide) -> RunComparison:
    """Compare the right run with the left run."""
    left_report, right_report = left.report, right.report
    options, sources = option_differences(left_report.setting, right_report.setting), source_differences(left, right)
    return RunComparison(
        side_words(left_report),
        side_words(right_report),
        options,
        sources,
        figures(left_report, right_report),
        compare_compilations(left, right),
        breaks(left_report, right_report),
        recompiles(left_report, right_report),
        phase_pairs(left_report, right_report),
        time_comparison(left_report, right_report, same_eager(left_report, right_report, options, sources)),
        (_failure_words(left_report), _failure_words(right_report)),
        (_outcome(left_report), _outcome(right_report)),
    )


def same_eager(
    left: Report,
    right: Report,
    options: tuple[OptionDifference, ...],
    sources: tuple[SourceDifference, ...] | None,
) -> bool:
    """Return True if eager does the same work in both runs: same code, inputs and machine.

    False if a job or the code is not recorded.
    """
    comparable = left.setting.job is not None and right.setting.job is not None and sources is not None
    differing = {
        difference.name for difference in options if not difference.name.startswith(("options.", "dynamo.", "rival."))
    }
    return comparable and not sources and not differing - OF_THE_COMPILER - {"model"}


def _failure_words(report: Report) -> str:
    if report.error is not None:
        return f"failed while {report.error.stage}: {report.error.type}"
    return failure_sentence(failures(report))


def _outcome(report: Report) -> str:
    result = results(report)
    return result.outcome if result is not None else ""
