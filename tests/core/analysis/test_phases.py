"""Compile time: every instant is given to one phase, whatever threads do beside it."""

import random
from itertools import pairwise

import pytest

from core.analysis.durations import PhaseTotal, compile_seconds, compile_time_s, parallel_totals, phase_totals
from core.report import Phase, Report, Setting

S = 1_000_000.0
THREADED = Report(
    Setting(),
    phases=(
        Phase("load", "0/0", 0, 10 * S, 0),
        Phase("file", "0/0", 1 * S, 5 * S, 2, thread=1),
        Phase("wait", "0/0", 2 * S, 9 * S, 1),
        Phase("file", "0/0", 3 * S, 8 * S, 3, thread=2),
        Phase("load", "1/0", 20 * S, 21 * S, 0),
        Phase("left open", "1/0", 20 * S, None, 1),
    ),
)
NOTHING = Report(Setting())


def test_threads_are_one_union_and_their_sum_is_distinguished() -> None:
    assert phase_totals(THREADED) == (
        PhaseTotal("file", 2, total_s=7.0, self_s=7.0, threads=2, threads_s=9.0),
        PhaseTotal("load", 2, total_s=11.0, self_s=3.0, threads=1, threads_s=11.0),
        PhaseTotal("wait", 1, total_s=7.0, self_s=1.0, threads=1, threads_s=7.0),
    )


def test_what_ran_in_parallel_is_what_several_threads_did_at_once() -> None:
    totals = phase_totals(THREADED)
    assert [total.name for total in parallel_totals(totals)] == ["file"]
    assert parallel_totals(phase_totals(THREADED, "1/0")) == ()


def test_one_compilation_has_the_time_that_is_its_own() -> None:
    assert phase_totals(THREADED, "1/0") == (PhaseTotal("load", 1, 1.0, 1.0, 1, 1.0),)
    assert compile_seconds(THREADED) == {"0/0": 10.0, "1/0": 1.0}
    assert compile_time_s(THREADED) == 11.0


def test_a_phase_inside_one_of_its_own_name_counts_once() -> None:
    inside = (Phase("pass", "0/0", 0, 4 * S, 0), Phase("pass", "0/0", 1 * S, 2 * S, 1))
    assert phase_totals(Report(Setting(), phases=inside)) == (PhaseTotal("pass", 2, 4.0, 4.0, 1, 4.0),)


def test_a_phase_without_a_length_has_one_thread() -> None:
    (total,) = phase_totals(Report(Setting(), phases=(Phase("a", "0/0", 5.0, 5.0, 0),)))
    assert (total.count, total.total_s, total.threads, total.threads_s) == (1, 0.0, 1, 0.0)


def test_without_phases_there_is_no_time() -> None:
    assert phase_totals(NOTHING) == ()
    assert compile_seconds(NOTHING) == {}
    assert compile_time_s(NOTHING) == 0.0


@pytest.mark.parametrize("seed", range(25))
def test_own_times_add_up_to_the_time_in_which_anything_was_open(seed: int) -> None:
    chance = random.Random(seed)
    spans = _tree(chance, 0.0, 1000 * S, 0, "0/0") + _tree(chance, 1500 * S, 1800 * S, 0, "1/0")
    spans += [_beside(chance, thread) for thread in range(1, 6)]
    phases = tuple(sorted(spans, key=lambda phase: (phase.start_us, -phase.depth)))
    wall_s = _union_s(phases)
    report = Report(Setting(), phases=phases)
    totals = phase_totals(report)

    assert sum(total.self_s for total in totals) == pytest.approx(wall_s)
    assert sum(compile_seconds(report).values()) == pytest.approx(wall_s)
    for compilation, seconds in compile_seconds(report).items():
        assert sum(total.self_s for total in phase_totals(report, compilation)) == pytest.approx(seconds)
    for total in totals:
        members = [phase for phase in phases if phase.name == total.name]
        assert total.total_s == pytest.approx(_union_s(members))
        assert -1e-9 <= total.self_s <= total.total_s + 1e-9 <= wall_s + 2e-9
        assert total.threads_s >= total.total_s - 1e-9


def _tree(chance: random.Random, start_us: float, end_us: float, depth: int, compilation: str) -> list[Phase]:
    """A span with spans inside it, none of which overlap."""
    found = [Phase(chance.choice("abc"), compilation, start_us, end_us, depth)]
    cuts = sorted(chance.uniform(start_us, end_us) for _ in range(2 * chance.randint(0, 3))) if depth < 4 else []
    for low_us, high_us in list(pairwise(cuts))[::2]:
        found += _tree(chance, low_us, high_us, depth + 1, compilation)
    return found


def _beside(chance: random.Random, thread: int) -> Phase:
    start_us = chance.uniform(0, 1900 * S)
    return Phase(chance.choice("cd"), "0/0", start_us, start_us + chance.uniform(0, 300 * S), 3 + thread, thread)


def _union_s(phases: tuple[Phase, ...] | list[Phase]) -> float:
    covered_us, reached_us = 0.0, float("-inf")
    for phase in sorted(phases, key=lambda phase: phase.start_us):
        assert phase.end_us is not None
        covered_us += max(0.0, phase.end_us - max(reached_us, phase.start_us))
        reached_us = max(reached_us, phase.end_us)
    return covered_us / S
