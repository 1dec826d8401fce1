"""The aspects of two runs, and the number of differences in each."""

from __future__ import annotations

from collections.abc import Callable

from core.analysis.comparison import CompilationComparison, RunComparison
from core.base import words as fmt

SUMMARY, SOURCE, GRAPHS, KERNELS = "summary", "source", "graphs", "kernels"
GUARDS, BREAKS, PHASES, SPEED = "guards", "breaks and recompiles", "compile time", "speed"
# Aspects of one compilation, which the header selects.
OF_ONE = (GRAPHS, KERNELS, GUARDS)

Pair = CompilationComparison | None


def _sources(found: RunComparison, _: Pair) -> int:
    return len(found.sources or ())


def _graphs(_: RunComparison, pair: Pair) -> int:
    return sum(not graph.same for graph in pair.graphs if graph.left and graph.right) if pair else 0


def _kernels(_: RunComparison, pair: Pair) -> int:
    if pair is None or pair.kernels is None:
        return 0
    return sum(not one.both or bool(one.differs) for one in pair.kernels.pairs)


def _guards(_: RunComparison, pair: Pair) -> int:
    found = pair.guards if pair else None
    return max(len(found.only_left), len(found.only_right)) if found else 0


def _breaks(found: RunComparison, _: Pair) -> int:
    return sum(not one.both for one in found.breaks) + sum(not one.both for one in found.recompiles)


def _none(found: RunComparison, _: Pair) -> int:
    return 0


ASPECTS: dict[str, Callable[[RunComparison, Pair], int]] = {
    SUMMARY: _none,
    SOURCE: _sources,
    GRAPHS: _graphs,
    KERNELS: _kernels,
    GUARDS: _guards,
    BREAKS: _breaks,
    PHASES: _none,
    SPEED: _none,
}


def aspect_label(aspect: str, found: RunComparison, pair: Pair) -> str:
    """Return an aspect's name and its number of differences: "kernels · 3"."""
    differing = ASPECTS[aspect](found, pair) if aspect in ASPECTS else 0
    return f"{aspect} · {fmt.number(differing)}" if differing else aspect
