"""What is within a budget, over it, undecided or not recorded: recorded runs, and samples with a known slowdown."""

import random
from dataclasses import replace

import pytest

from core.analysis.budget import LEAST_RUNS, Judgement, Standing, judge, read_budget
from core.analysis.comparison.matching import RunSide
from core.report import Alternative, Call, Difference, Load, Phase, SideTimes
from tests.support.logs import recorded_side
from tests.support.places import TRACES

COUNTS = "[at-most]\ngraph-breaks = 0\nrecompiles = 0\nkernels = 9\n"
SLOWER = '[more-than-baseline]\ncompiled-call = "2 %"\n'


def side(scenario: str) -> RunSide:
    return recorded_side(TRACES / scenario / "trace.log")


def timed(seed: int, slowdown: float = 1.0, load: Load | None = None) -> RunSide:
    """The recorded run with 60 pairs of samples: 1 % of noise, and a compiled call that is slower by a factor."""
    rng = random.Random(seed)
    eager, compiled = ([rng.gauss(seconds, seconds / 100) for _ in range(60)] for seconds in (2e-3, 1e-3 * slowdown))
    recorded = side("measured")
    return replace(
        recorded,
        report=replace(
            recorded.report, timing=SideTimes({"eager": tuple(eager), "compiled": tuple(compiled)}, load=load)
        ),
    )


def interleaved(slowdown: float) -> RunSide:
    """The recorded run with a baseline that was timed interleaved in the same process, with 1 % of noise."""
    rng = random.Random(3)
    run_s, baseline_s = ([rng.gauss(seconds, seconds / 100) for _ in range(60)] for seconds in (1e-3 * slowdown, 1e-3))
    recorded = side("measured")
    job = {**(recorded.report.setting.job or {}), "rival_code": "model = None"}
    rival = Alternative({}, times=SideTimes({"compiled": tuple(run_s), "alternative": tuple(baseline_s)}))
    setting = replace(recorded.report.setting, job=job)
    return replace(recorded, report=replace(recorded.report, setting=setting, rival=rival))


def compiled_in(*seconds: float) -> list[RunSide]:
    """Runs that compiled for so long."""
    recorded = side("transformer_block")
    phases = [(Phase("entire_frame_compile", "0/0", 0.0, value * 1e6, depth=0),) for value in seconds]
    return [replace(recorded, report=replace(recorded.report, phases=each)) for each in phases]


def standings(judgements: tuple[Judgement, ...]) -> dict[str, Standing]:
    return {judgement.name: judgement.standing for judgement in judgements}


def test_counts_are_held_against_their_limits_with_the_lines_that_count() -> None:
    judgements = judge(read_budget(COUNTS), [side("graph_break_zoo")])
    assert standings(judgements) == {"graph breaks": "over", "recompiles": "within", "kernels": "within"}
    breaks = judgements[0]
    assert (breaks.limit, breaks.value, len(breaks.culprits)) == ("at most 0", "5", 5)
    second = breaks.culprits[1]
    assert (second.place and second.place.short, second.reason) == ("model.py:25", "Data-dependent branching")


def test_the_worst_of_several_runs_counts() -> None:
    runs = [side("recompile_zoo"), side("transformer_block")]
    assert standings(judge(read_budget(COUNTS), runs))["recompiles"] == "over"


def test_only_what_the_baseline_has_not_counts_against_it() -> None:
    budget = read_budget("[more-than-baseline]\ngraph-breaks = 0\nkernels = 0\nrecompiles = '10 %'\n")
    same = judge(budget, [side("graph_break_zoo")], [side("graph_break_zoo")])
    assert standings(same) == {"graph breaks": "within", "kernels": "within", "recompiles": "within"}
    more = judge(budget, [side("graph_break_zoo")], [side("foreign")])
    assert (more[0].name, more[0].value, more[0].standing) == ("graph breaks", "2 → 5", "over")
    assert len(more[0].culprits) == 5


def test_without_a_baseline_what_is_relative_to_it_is_undecided() -> None:
    (judgement,) = judge(read_budget(SLOWER), [timed(1)])
    assert (judgement.standing, judgement.reason) == ("undecided", "there is no baseline (--baseline)")


@pytest.mark.parametrize("seed", range(20))
def test_a_call_that_is_five_percent_slower_is_found(seed: int) -> None:
    (judgement,) = judge(read_budget(SLOWER), [timed(seed, 1.05)], [timed(seed + 1_000)])
    assert judgement.standing == "over", judgement


@pytest.mark.parametrize("seed", range(20))
def test_a_call_that_is_as_fast_is_never_blamed(seed: int) -> None:
    (judgement,) = judge(read_budget(SLOWER), [timed(seed)], [timed(seed + 1_000)])
    assert judgement.standing != "over", judgement


@pytest.mark.parametrize(
    ("slowdown", "standing", "value"),
    [
        (1.0, "within", "0.997× (0.988–1.00) the baseline's time, interleaved"),
        (1.05, "over", "1.05× (1.04–1.05) the baseline's time, interleaved"),
    ],
)
def test_a_baseline_that_was_timed_interleaved_decides(slowdown: float, standing: Standing, value: str) -> None:
    (judgement,) = judge(read_budget(SLOWER), [interleaved(slowdown)], [side("measured")])
    assert (judgement.standing, judgement.value) == (standing, value)


def test_interleaved_samples_that_scatter_decide_nothing() -> None:
    scattered = interleaved(1.0)
    rival = Alternative({}, times=SideTimes({"compiled": (1e-3, 1e-1) * 30, "alternative": (1e-1, 1e-3) * 30}))
    run = replace(scattered, report=replace(scattered.report, rival=rival))
    (judgement,) = judge(read_budget(SLOWER), [run], [side("measured")])
    assert judgement.standing == "undecided", judgement


def test_several_runs_of_a_side_are_judged_by_all_their_samples() -> None:
    (alone,) = judge(read_budget(SLOWER), [timed(1, 1.2)], [timed(2)])
    (joined,) = judge(read_budget(SLOWER), [timed(1, 1.2), timed(3, 1.0)], [timed(2), timed(4)])
    assert (alone.standing, joined.standing) == ("over", "undecided")


@pytest.mark.parametrize(
    ("limit", "load", "standing"),
    [
        ("1.5 ms", None, "within"),
        ("1 ms", None, "undecided"),
        ("0.9 ms", None, "over"),
        ("0.9 ms", Load(others=0.9), "undecided"),
    ],
)
def test_a_call_is_over_a_limit_in_seconds_only_with_its_whole_interval(
    limit: str, load: Load | None, standing: Standing
) -> None:
    (judgement,) = judge(read_budget(f'[at-most]\ncompiled-call = "{limit}"'), [timed(1, load=load)])
    assert judgement.standing == standing, judgement


@pytest.mark.parametrize(("least", "standing"), [(1.5, "within"), (2.0, "undecided"), (2.5, "over")])
def test_a_speedup_is_too_small_only_with_its_whole_interval(least: float, standing: Standing) -> None:
    (judgement,) = judge(read_budget(f"[at-least]\nspeedup = {least}"), [timed(1)])
    assert judgement.standing == standing, judgement


@pytest.mark.parametrize(
    ("seconds", "standing"),
    [
        ([1.0], "within"),
        ([3.0], "undecided"),
        ([3.0] * LEAST_RUNS, "over"),
        ([3.0] * (LEAST_RUNS - 1) + [1.0], "undecided"),
    ],
)
def test_a_compile_time_is_over_only_in_enough_runs(seconds: list[float], standing: Standing) -> None:
    (judgement,) = judge(read_budget('[at-most]\ncompile-time = "2 s"'), compiled_in(*seconds))
    assert judgement.standing == standing, judgement


def test_a_compile_time_is_compared_with_the_longest_of_the_baseline() -> None:
    budget = read_budget('[more-than-baseline]\ncompile-time = "20 %"')
    (over,) = judge(budget, compiled_in(*[1.3] * 5), compiled_in(*[1.0] * 5))
    (once,) = judge(budget, compiled_in(1.3), compiled_in(1.0))
    assert (over.standing, once.standing) == ("over", "undecided")
    assert (once.value, once.reason) == ("1.00 s → 1.30 s", "1 run; --repeat 5 gives an interval")


@pytest.mark.parametrize(("same", "standing"), [(True, "within"), (False, "over"), (None, "undecided")])
def test_results_must_be_those_of_eager(same: bool | None, standing: Standing) -> None:
    recorded = side("transformer_block")
    call = Call(0, "", 1.0, 1.0, (Difference("result", same),))
    run = replace(recorded, report=replace(recorded.report, calls=(call,)))
    (judgement,) = judge(read_budget('results = "same"'), [run])
    assert judgement.standing == standing, judgement


def test_what_was_not_recorded_is_not_within_a_budget() -> None:
    text = '[at-most]\ncompiled-call = "1 s"\nmemory-at-the-peak = "1 GB"\nkernels = 3\n[at-least]\nspeedup = 1\n'
    judgements = judge(read_budget(text), [side("refused")])
    assert standings(judgements) == {
        "run": "over",
        "compiled call": "not recorded",
        "memory at the peak": "not recorded",
        "kernels": "not recorded",
        "speedup": "not recorded",
    }
    assert all(judgement.failed for judgement in judgements)
