"""Presets that look for better settings: which changes a job gets, how the sweep grows, and what it says."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, Environment, JobError, Model, Runner, Store, Sweep
from core.analysis.interval import Interval
from core.base.machine import ConfigOption
from core.sweep.model import AxisValue, cells
from core.sweep.presets import GOALS, PRESETS, Answer, Question, answer, search_plan
from core.sweep.presets.preset import RecipeFact, TriedFact
from core.sweep.presets.race import PAIRS
from core.sweep.runner import SweepRunner, new_sweep
from core.sweep.store import SweepCall, SweepRow
from tests.support.engines import PromptEngine

MLP = CompileJob(Model("sample", "mlp"))
KNOWN = ("max_autotune", "cpp_wrapper", "freezing", "memory_planning", "cpp.min_chunk_size")
HERE = Environment(
    torch="2.13.0",
    modes={"max-autotune": {"max_autotune": True}},
    options=(
        *(ConfigOption("inductor", name, "False") for name in KNOWN),
        ConfigOption("inductor", "pattern_matcher", "True"),
        ConfigOption("dynamo", "inline_inbuilt_nn_modules", "True"),
        ConfigOption("dynamo", "prepare_freezing", "False"),
    ),
    cpus=8,
)
NEVER = Interval(0.99, 1.0, 1.01)


def planned(name: str, base: CompileJob = MLP) -> Sweep:
    plan = PRESETS[name].plan(base, HERE)
    return new_sweep(plan.base, plan.axes, name)


def labels(sweep: Sweep) -> tuple[str, ...]:
    return sweep.axes[0].named()


def grown(sweep: Sweep, rows: tuple[SweepRow, ...]) -> Sweep:
    """The sweep with the cells that its preset adds."""
    more = PRESETS[sweep.preset].more
    assert more is not None
    added = more(Question(sweep, rows))
    axis = sweep.axes[0]
    longer = replace(
        axis,
        values=(*axis.values, *(value for _, value in added)),
        labels=(*axis.named(), *(label for label, _ in added)),
    )
    return replace(sweep, axes=(longer,))


def row(label: str, gains: dict[str, float]) -> SweepRow:
    """A cell's row, on a machine where each named change multiplies the speed, and code is as its changes."""
    changes = label.split(",")[0].split(" + ")
    gain = 1.0
    for name in changes:
        gain *= gains.get(name, 1.0)
    return SweepRow(
        (label,),
        state="done",
        results="same",
        code="default" if gain == 1.0 else "+".join(changes),
        compiled_s=1e-3 / gain,
        compiled_quartiles_s=(0.99e-3 / gain, 1.01e-3 / gain),
        compiled_peak_bytes=round(1e6 / gain),
        against=Interval(gain * 0.99, gain, gain * 1.01) if "timed" in label else None,
        calls=(SweepCall("", 0.1, 2.0 / gain),),
        took_s=2.0,
    )


def raced(sweep: Sweep, gains: dict[str, float]) -> tuple[Sweep, Answer]:
    """The whole sweep on such a machine, and its answer."""
    while True:
        rows = tuple(row(label, gains) for label in labels(sweep))
        longer = grown(sweep, rows)
        if longer == sweep:
            return sweep, answer(Question(sweep, rows, HERE))
        sweep = longer


def test_a_job_gets_the_changes_that_this_torch_and_this_machine_have() -> None:
    assert labels(planned("faster")) == (
        "default, timed", "freezing", "max-autotune", "frozen max-autotune", "cpp wrapper", "half of the threads",
        "1 thread", "channels last", "larger loops in a thread", "modules not inlined", "static shapes",
    )  # fmt: skip
    training = planned("faster", replace(MLP, training=True))
    assert not {"freezing", "frozen max-autotune"} & {*labels(training)}
    one = planned("faster", replace(MLP, conditions=replace(MLP.conditions, threads=1)))
    assert not {"1 thread", "half of the threads"} & {*labels(one)}
    tuned = planned("faster", MLP.with_settings(options={"max_autotune": True}))
    assert "max-autotune" not in labels(tuned)


def test_cells_are_jobs_with_these_settings_and_only_timed_ones_are_timed() -> None:
    sweep, _ = raced(planned("faster"), {"freezing": 1.3, "1 thread": 1.2, "cpp wrapper": 0.9})
    jobs = {cell.at[0]: cell.job for cell in cells(sweep)}
    assert {name: (jobs[name].measure, jobs[name].rival) for name in ("default, timed", "freezing")} == {
        "default, timed": (True, MLP.compile),
        "freezing": (False, None),
    }
    assert jobs["freezing, timed"].measure
    assert jobs["freezing, timed"].compile.options == {"freezing": True}
    # Dynamo's setting is one of the whole process.
    assert jobs["freezing, timed"].conditions.dynamo == {"prepare_freezing": True}
    assert jobs["freezing, timed"].rival is None
    assert jobs["cpp wrapper, timed"].rival == MLP.compile
    assert (jobs["1 thread, timed"].conditions.threads, jobs["1 thread, timed"].rival) == (1, None)
    pair = jobs["freezing + 1 thread, pair 1"]
    assert (pair.measure, pair.rival, pair.repairs) == (
        True,
        None,
        (
            ("set_config:dynamo:prepare_freezing:True",),
            ("set_threads:1",),
            ("own_call:model",),
            ("compile_with:model:options:freezing:True",),
        ),
    )
    assert (pair.memory, pair.numerics) == (True, "results")
    assert not any(jobs[f"freezing + 1 thread, pair {number}"].memory for number in range(2, PAIRS + 1))
    assert jobs["default, pair 1"].repairs == ()


def test_options_take_those_of_the_jobs_mode_with_them() -> None:
    sweep = planned("faster", MLP.with_settings(mode="max-autotune"))
    job = next(cell.job for cell in cells(sweep) if cell.at == ("freezing",))
    assert job.compile.mode is None
    assert job.compile.options == {"max_autotune": True, "freezing": True}


def test_changes_that_hold_in_pairs_are_advised_as_code() -> None:
    sweep, found = raced(planned("faster"), {"freezing": 1.3, "1 thread": 1.2})
    assert "Freezing" not in found.sentence
    assert (
        found.sentence
        == "With freezing and 1 thread, a call is 1.56× (1.56–1.56) faster, in 8 pairs of fresh processes."
    )
    assert found.code.splitlines() == [
        "torch._dynamo.config.prepare_freezing = True",
        "torch.set_num_threads(1)",
        "model = torch.compile(model, options={'freezing': True})",
    ]
    assert found.notes == (
        "Its first call takes 1.28 s, and 2.00 s by default.",
        "Its peak memory is 641 kB, and 1.00 MB by default.",
        "Its results are those of eager.",
    )
    recipe, *tried = found.facts
    assert isinstance(recipe, RecipeFact)
    assert tried[:2] == [
        TriedFact("freezing", Interval(1.3 * 0.99 / 1.01, 1.3, 1.3 * 1.01 / 0.99), "faster"),
        TriedFact("max-autotune", None, "the default's code: nothing to measure"),
    ]
    assert (recipe.changes, recipe.pairs) == (("freezing", "1 thread"), PAIRS)
    outcomes = dict(zip(labels(sweep), found.columns["what came of it"], strict=True))
    assert outcomes["max-autotune"] == "the default's code: nothing to measure"
    assert outcomes["freezing, timed"] == "faster"
    assert "max-autotune, timed" not in outcomes


def test_a_model_that_nothing_helps_gets_no_advice() -> None:
    sweep, found = raced(planned("faster"), {"cpp wrapper": 0.8})
    assert found.sentence == "Nothing that was tried makes a call clearly faster."
    assert found.code == ""
    assert not any(isinstance(fact, RecipeFact) for fact in found.facts)
    outcomes = dict(zip(labels(sweep), found.columns["what came of it"], strict=True))
    assert outcomes["cpp wrapper, timed"] == "slower"


@pytest.mark.parametrize(("goal", "change"), [("first-call", "no pattern matcher"), ("memory", "memory planning")])
def test_first_calls_and_memory_are_measured_by_each_run(goal: str, change: str) -> None:
    sweep, found = raced(planned(GOALS[goal].name), {change: 1.5})  # type: ignore[index]
    assert not any("timed" in label for label in labels(sweep))
    assert found.sentence.startswith(f"With {change}, the ")
    jobs = {cell.at[0]: cell.job for cell in cells(sweep)}
    assert {(job.memory, job.conditions.caches) for label, job in jobs.items() if not label.endswith("pair 1")} == {
        (True, "objects") if goal == "memory" else (False, "cold")
    }


def test_a_script_is_refused_since_its_calls_are_not_timed() -> None:
    with pytest.raises(JobError, match="not timed"):
        planned("faster", CompileJob(Model("file", "/work/train.py", "")))


def test_other_results_than_by_default_are_no_gain() -> None:
    sweep = planned("faster")
    rows = tuple(
        replace(row(label, {"freezing": 2.0}), results="differs" if label == "freezing" else "same")
        for label in labels(sweep)
    )
    assert "freezing, timed" not in labels(grown(sweep, rows))
    outcomes = answer(Question(sweep, rows, HERE)).columns["what came of it"]
    assert outcomes[1] == "other results than by default: differs"


def test_what_was_not_timed_for_want_of_time_is_named() -> None:
    gains = {"freezing": 0.9, "max-autotune": 0.8, "cpp wrapper": 0.7}
    sweep, found = raced(planned("faster").limited(30.0), gains)
    assert labels(sweep) == (
        *("default, timed", "freezing", "max-autotune", "frozen max-autotune"),
        *("freezing, timed", "max-autotune, timed", "frozen max-autotune, timed"),
    )
    assert found.sentence == "Nothing that was timed makes a call clearly faster."
    assert found.notes[0].startswith("Not timed, for want of time: cpp wrapper, half of the threads, 1 thread")
    assert [fact.change for fact in found.facts if isinstance(fact, TriedFact)] == [
        *("freezing", "max-autotune", "frozen max-autotune"),
    ]


def test_a_search_that_timed_nothing_says_so() -> None:
    sweep, found = raced(planned("faster").limited(10.0), {"freezing": 1.3})
    assert labels(sweep) == ("default, timed", "freezing")
    assert found.sentence == "No change was timed: the time was up. Give the search more time."


def test_cells_that_a_search_may_add_are_checked_when_it_starts(tmp_path: Path) -> None:
    sweeps = SweepRunner(Runner(Store(tmp_path), PromptEngine()), poll_s=0.001)
    limited = planned("faster", CompileJob(Model("code", "model = abs\ninputs = (1,)\n"))).limited(10.0)
    with pytest.raises(JobError, match="threads"):
        sweeps.start(replace(limited, pool={**limited.pool, "no threads": {"threads": -1}}))


def test_a_sweep_grows_until_its_preset_asks_for_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[tuple[str, AxisValue], ...]] = [
        (("more", {"threads": 2}), ("again", {"threads": 3})),
        (("last", {"threads": 4}),),
        (),
    ]
    monkeypatch.setitem(PRESETS, "faster", replace(PRESETS["faster"], more=lambda question: asked[len(seen(question))]))
    engine = PromptEngine()
    sweeps = SweepRunner(Runner(Store(tmp_path), engine), poll_s=0.001)
    begun = planned("faster", CompileJob(Model("code", "model = abs\ninputs = (1,)\n")))
    sweep = sweeps.start(begun)
    sweeps.wait(sweep.id)
    stored = sweeps.store.open(sweep.id)
    assert labels(stored)[len(labels(begun)) :] == ("more", "again", "last")
    assert len(engine.started) == len(stored.runs) == len(labels(stored))
    assert [run.job().conditions.threads for run in engine.started[-3:]] == [2, 3, 4]  # type: ignore[union-attr]
    assert sweeps.standing(stored).state == "done"


def seen(question: Question) -> list[str]:
    """The rounds that a sweep has grown by."""
    return [name for name in ("more", "last") if (name,) in {row.at for row in question.rows}]


def test_lower_precision_is_tried_only_if_allowed_and_may_differ() -> None:
    job = replace(MLP, device="cpu")
    name = "matmuls of fewer bits"
    assert name not in labels(planned("faster", job))
    plan = search_plan("call", job, HERE, allows_precision=True)
    sweep = new_sweep(plan.base, plan.axes, "faster")
    assert name in labels(sweep)
    rows = tuple(
        replace(row(label, {name: 2.0}), results="differs" if name in label else "same") for label in labels(sweep)
    )
    assert f"{name}, timed" in labels(grown(sweep, rows))


def test_a_file_that_compiles_its_model_is_searched_by_edits_of_its_call(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("import torch\nmodel = torch.compile(torch.nn.Linear(2, 2))\ninputs = (torch.ones(1, 2),)\n")
    sweep = planned("faster", CompileJob(Model("file", str(path))))
    jobs = {cell.at[0]: cell.job for cell in cells(sweep)}
    assert jobs["freezing"].repairs == (
        ("set_config:dynamo:prepare_freezing:True",),
        ("compile_with:model:options:freezing:True",),
    )
    assert jobs["1 thread"].repairs == (("set_threads:1",),)


def test_other_backends_have_no_settings_to_search() -> None:
    with pytest.raises(JobError, match="only settings of inductor"):
        planned("faster", MLP.with_settings(backend="eager"))


def test_eager_is_named_where_it_is_faster_and_nothing_helps() -> None:
    sweep = planned("faster")
    slow = replace(row("default, timed", {}), eager_s=1e-3, ratio=Interval(0.5, 0.5, 0.5), claim="slower")
    rows = (slow, *(row(label, {}) for label in labels(sweep)[1:]))
    assert "Without torch.compile, a call is 2.00× (2.00–2.00) faster." in answer(Question(sweep, rows, HERE)).notes
