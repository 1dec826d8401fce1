"""Preset `rewrites`: which rewrites are turned off, what is timed, and what it says of them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core import CompileJob, Environment, JobError, Model, Sweep
from core.analysis.interval import Interval
from core.base.machine import ConfigOption
from core.sweep.model import AxisValue, cells
from core.sweep.presets import PRESETS, Answer, Question, answer
from core.sweep.presets.preset import TriedFact
from core.sweep.presets.race import heat_of
from core.sweep.runner import new_sweep
from core.sweep.store import SweepRow

MLP = CompileJob(Model("sample", "mlp"))
KNOWN = ("max_fusion_size", "split_reductions", "cpp.simdlen", "disabled_passes")
HERE = Environment(
    torch="2.13.0",
    modes={"max-autotune": {"max_autotune": True}},
    options=tuple(ConfigOption("inductor", name, "") for name in KNOWN),
)
PASSES = ("remove_noop_ops", "my_pass", "view_to_reshape")
OFF = tuple(f"without {name}" for name in PASSES)
# Name of the rewrite → the call's time without it, over the time with it.
Effects = dict[str, float]
BOUND = 1.01


def planned(base: CompileJob = MLP) -> Sweep:
    plan = PRESETS["rewrites"].plan(base, HERE)
    return new_sweep(plan.base, plan.axes, "rewrites")


def row(label: str, effects: Effects, joint: dict[tuple[str, ...], float]) -> SweepRow:
    """A cell's row, on a machine where each rewrite has an effect, and code is as the rewrites that count."""
    heat = heat_of(label.removeprefix("without "))
    off = [name for name in heat.changes if name in effects]
    gain = joint.get(heat.changes, 1.0)
    for name in off:
        gain /= effects[name]
    return SweepRow(
        (label,),
        state="done",
        results="same",
        code="+".join(off) or "default",
        passes=tuple(name for name in PASSES if name not in heat.changes or name == "view_to_reshape"),
        compiled_s=10e-3,
        against=Interval(gain / BOUND, gain, gain * BOUND) if heat.stage == "timed" else None,
    )


def ended(effects: Effects, joint: dict[tuple[str, ...], float] | None = None) -> tuple[Sweep, Answer]:
    """The whole sweep on such a machine, and its answer."""
    sweep, rows = ended_rows(effects, joint)
    return sweep, answer(Question(sweep, rows))


def ended_rows(
    effects: Effects, joint: dict[tuple[str, ...], float] | None = None, base: CompileJob = MLP
) -> tuple[Sweep, tuple[SweepRow, ...]]:
    """The whole sweep on such a machine, and its rows."""
    sweep = planned(base)
    while True:
        rows = tuple(row(label, effects, joint or {}) for label in sweep.axes[0].named())
        more = PRESETS["rewrites"].more
        assert more is not None
        added = more(Question(sweep, rows))
        if not added:
            return sweep, rows
        sweep = longer(sweep, added)


def longer(sweep: Sweep, added: tuple[tuple[str, AxisValue], ...]) -> Sweep:
    axis = sweep.axes[0]
    labels, values = zip(*added, strict=True)
    return replace(sweep, axes=(replace(axis, values=(*axis.values, *values), labels=(*axis.named(), *labels)),))


def test_the_rules_that_this_torch_has_come_first_and_then_the_passes_that_changed_a_graph() -> None:
    rules = ("without fusion", "without split reductions", "without vector code")
    assert planned().axes[0].named() == ("default, timed", *rules)
    sweep, _ = ended({})
    assert sweep.axes[0].named()[4:] == (
        *OFF,
        "without remove_noop_ops + my_pass + fusion + split reductions + vector code",
    )
    jobs = {cell.at[0]: cell.job for cell in cells(sweep)}
    assert jobs["without fusion"].compile.options == {"max_fusion_size": 1}
    assert jobs["without my_pass"].compile.options == {"disabled_passes": "MY_PASS"}
    assert not jobs["without my_pass"].measure


def test_each_rewrite_with_code_of_its_own_is_timed_beside_the_unchanged_job_in_two_processes() -> None:
    sweep, _ = ended({"fusion": 1.3})
    jobs = {cell.at[0]: cell.job for cell in cells(sweep)}
    timed = [label for label in jobs if "timed" in label]
    assert timed == ["default, timed", "without fusion, timed 1", "without fusion, timed 2"]
    assert all(jobs[label].measure and jobs[label].rival == MLP.compile for label in timed)


def test_rewrites_that_save_that_cost_and_that_change_nothing() -> None:
    sweep, found = ended({"fusion": 1.3, "my_pass": 0.9, "split reductions": 1.0})
    assert found.sentence == "Of a call of 10.0 ms, fusion saves 3.00 ms and my_pass costs 1.00 ms."
    outcomes = {fact.change: fact.outcome for fact in found.facts if isinstance(fact, TriedFact)}
    assert outcomes == {
        "remove_noop_ops": "the same code without it",
        "my_pass": "costs 1.00 ms",
        "view_to_reshape": "it ran all the same: torch does not turn it off",
        "fusion": "saves 3.00 ms",
        "split reductions": "no difference seen",
        "vector code": "the same code without it",
    }
    words = dict(zip(sweep.axes[0].named(), found.columns["what came of it"], strict=True))
    assert words["default, timed"] == "the default against itself: noise"
    assert words["without my_pass"] == "costs 1.00 ms"
    assert found.notes == ()


def test_rewrites_that_depend_on_each_other_are_named() -> None:
    _, found = ended({"fusion": 1.3, "my_pass": 1.2}, {("my_pass", "fusion"): 1.25})
    assert found.notes == (
        "my_pass and fusion depend on each other: without both, a call is 0.801× (0.793–0.809) as fast, and 0.641× "
        "would be expected.",
    )


@pytest.mark.parametrize(
    ("code", "effects", "joint", "note"),
    [
        (
            # `my_pass` undoes what `remove_noop_ops` does.
            lambda off: "slow" if "my_pass" in off and "remove_noop_ops" not in off else "default",
            {"my_pass": 1.2},
            1.0,
            "remove_noop_ops and my_pass depend on each other: without both, a call is 1.00× (0.990–1.01) as fast, and "
            "0.833× would be expected.",
        ),
        (
            # Each does the work of the other.
            lambda off: "other" if {"my_pass", "remove_noop_ops"} <= {*off} else "default",
            {},
            0.8,
            "remove_noop_ops and my_pass depend on each other: without both, a call is 0.800× (0.792–0.808) as fast, "
            "and 1.00× would be expected.",
        ),
    ],
)
def test_rewrites_that_change_nothing_alone_are_found_beside_the_ones_they_depend_on(
    code: Callable[[tuple[str, ...]], str], effects: Effects, joint: float, note: str
) -> None:
    sweep, both = planned(), ("remove_noop_ops", "my_pass")
    more = PRESETS["rewrites"].more
    assert more is not None

    def made(label: str) -> SweepRow:
        off = heat_of(label.removeprefix("without ")).changes
        plain = row(label, {} if off == both else effects, {both: joint})
        return replace(plain, code=code(off))

    while added := more(Question(sweep, rows := tuple(map(made, sweep.axes[0].named())))):
        sweep = longer(sweep, added)
    assert answer(Question(sweep, rows)).notes == (note,)
    timed = [label for label in sweep.axes[0].named() if "timed 1" in label]
    assert timed == [*(f"without {name}, timed 1" for name in effects), f"without {' + '.join(both)}, timed 1"]


def test_a_pass_that_changes_a_graph_only_without_another_is_tried_too() -> None:
    sweep = planned()
    more = PRESETS["rewrites"].more
    assert more is not None
    rows = [row(label, {}, {}) for label in (*sweep.axes[0].named(), *OFF)]
    rows[-1] = replace(rows[-1], passes=(*rows[-1].passes, "instead"))
    assert [label for label, _ in more(Question(sweep, tuple(rows)))] == ["without instead"]


def test_an_effect_that_one_process_alone_shows_is_no_claim() -> None:
    sweep = planned()
    rows = [
        row(label, {"fusion": 1.3}, {}) for label in ("default, timed", "without fusion", "without fusion, timed 1")
    ]
    unlike = replace(row("without fusion, timed 2", {"fusion": 1.3}, {}), against=Interval(0.98, 1.0, 1.03))
    found = answer(Question(sweep, (*rows, unlike)))
    assert [fact.outcome for fact in found.facts if isinstance(fact, TriedFact)] == ["no difference seen"]


def test_without_any_effect_the_answer_says_so() -> None:
    _, found = ended({})
    assert found.sentence == "No rewrite makes a call clearly faster or slower."


def test_a_job_whose_times_are_not_measurable_has_compiled_cells_alone_and_says_so() -> None:
    sweep = planned()
    rows = [replace(row(label, {"fusion": 1.3}, {}), against=None) for label in (*sweep.axes[0].named(), *OFF)]
    more = PRESETS["rewrites"].more
    assert more is not None
    assert more(Question(sweep, tuple(rows))) == ()
    found = answer(Question(sweep, tuple(rows)))
    assert found.sentence == "No rewrite was timed: the times of the unchanged job are not measurable here."


def test_a_pass_without_which_the_model_fails_has_torchs_reason() -> None:
    rows = [
        row("default, timed", {}, {}),
        replace(row("without my_pass", {}, {}), state="failed", error="KeyError: 'buf0'"),
    ]
    found = answer(Question(planned(), tuple(rows)))
    assert [fact.outcome for fact in found.facts if isinstance(fact, TriedFact)] == ["without it: KeyError: 'buf0'"]


def test_a_mode_becomes_options_and_own_disabled_passes_stay_off() -> None:
    base = planned(MLP.with_settings(mode="max-autotune")).base
    assert (base.compile.mode, base.compile.options) == (None, {"max_autotune": True})
    own = planned(MLP.with_settings(options={"disabled_passes": "STABLE_SORT"}))
    more = PRESETS["rewrites"].more
    assert more is not None
    rows = tuple(row(label, {}, {}) for label in own.axes[0].named())
    (_, fields), *_ = more(Question(own, rows))
    assert isinstance(fields, dict)
    assert fields["options.disabled_passes"] == "STABLE_SORT,REMOVE_NOOP_OPS"


def test_files_that_compile_their_model_themselves_are_refused() -> None:
    code = "import torch\nmodel = torch.compile(torch.nn.Linear(2, 2))\ninputs = (torch.randn(2, 2),)\n"
    with pytest.raises(JobError, match="calls torch.compile itself"):
        planned(CompileJob(Model("code", code)))
