"""Presets of the torch.compile call: modes, backends, and stances of `torch.compiler.set_stance`.

`BACKENDS_ABOUT` describes torch's backends and `accelerator`; `SHIPPED_BACKENDS` describes the other built-in
backends.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.accelerator.backends import SHIPPED_BACKENDS
from core.base.decoder import toml_as
from core.base.machine import Environment
from core.base.words import NOT_RECORDED, agree, count, number
from core.job import MODES, STANCES, CompileJob
from core.sweep.model import Axis, AxisValue
from core.sweep.presets.preset import (
    Answer,
    BackendFact,
    ModeFact,
    Plan,
    Preset,
    Question,
    StanceFact,
    Stop,
    broken,
    calls_of,
    ended,
    faster,
    label,
    listed,
    quickest,
    reason,
    speed_words,
)
from core.sweep.store import SweepRow

DEFAULT, OVERHEAD = "default", "reduce-overhead"
ON_CPU = (
    "On a CPU, reduce-overhead changes no kernel. It sets triton.cudagraphs, which replays GPU launches; CPU kernels "
    "are plain function calls."
)
REORDERED = (
    "On a CPU, reduce-overhead replays nothing. But it sets triton.cudagraphs, and Inductor then reorders nodes for "
    "fewer partitions (triton.reorder_for_reducing_graph_partitions). C++ loops that become neighbours share a kernel, "
    "so the kernels differ."
)


def mode_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell for each mode that torch knows.

    Options are left out, since torch accepts either a mode or options.
    """
    names = tuple(name for name in MODES if not environment.modes or name in environment.modes)
    plain = replace(base.with_settings(backend="inductor", backend_code="", options=None), target="", rival=None)
    return Plan(plain, (Axis("mode", names),))


def mode_answer(question: Question) -> Answer:
    """Return the fastest mode, and the changes of each mode compared with the default mode.

    The changes are in passes, kernels and autotuning choices.
    """
    rows, done = question.rows, ended(question.rows)
    default = next((row for row in done if row.at == (DEFAULT,)), None)
    facts = tuple(mode_fact(row, default, question.environment) for row in rows)
    return Answer(
        sentence="; ".join(_mode_sentence(done, facts)) + "." if done else "",
        notes=_cpu_notes(question, facts),
        columns={
            "sets": tuple(sets_words(mode) for mode in facts),
            "changed against default": tuple(changed_words(mode) for mode in facts),
            "autotuning took": tuple(", ".join(f"{k}: {v}" for k, v in mode.chosen.items()) for mode in facts),
        },
        facts=facts,
    )


def mode_fact(row: SweepRow, default: SweepRow | None, environment: Environment | None) -> ModeFact:
    """Return a mode's settings, and its changes compared with the default mode."""
    sets = (
        environment.modes.get(row.at[0])
        if environment is not None and environment.modes and environment.torch == row.torch
        else None
    )
    if row.state != "done" or default is None:
        return ModeFact(row.at[0], sets, None)
    return ModeFact(
        name=row.at[0],
        sets=sets,
        same=_code_key(row) == _code_key(default),
        kernels_more=_beyond(row.kernel_names, default.kernel_names),
        kernels_less=_beyond(default.kernel_names, row.kernel_names),
        passes_more=_beyond(row.passes, default.passes),
        passes_less=_beyond(default.passes, row.passes),
        chosen=row.chosen,
        wrapper=row.made == default.made,
        generated=(row.generated or 0, default.generated or 0),
        skips=row.skips or 0,
        skipped=row.skipped,
    )


def _code_key(row: SweepRow) -> object:
    """Return a key that is equal for rows with the same kernels, passes and choices."""
    return row.made[0], row.passes, row.chosen


def _beyond(some: Sequence[str], baseline: Sequence[str]) -> tuple[str, ...]:
    return tuple((Counter(some) - Counter(baseline)).elements())


def sets_words(mode: ModeFact) -> str:
    """Return the options that a mode sets, as `name=value` texts."""
    if mode.sets is None:
        return "not recorded"
    return ", ".join(f"{name}={value}" for name, value in mode.sets.items()) or "nothing"


def changed_words(mode: ModeFact) -> str:
    """Return a mode's changes compared with the default mode, in words; empty if a run is not done."""
    if mode.same is None:
        return ""
    if mode.name == DEFAULT:
        return "–"
    if mode.same:
        return "nothing" if mode.wrapper else "no kernel, only the wrapper"
    kernels, before = mode.generated
    parts = [f"{count(kernels, 'generated kernel')} instead of {number(before)}"] if kernels != before else []
    for names, noun, words in (
        (mode.kernels_more, "kernel", "that default has not"),
        (mode.kernels_less, "kernel", "of default gone"),
        (mode.passes_more, "pass", "that default has not"),
        (mode.passes_less, "pass", "of default gone"),
    ):
        if names:
            parts.append(f"{noun} {words}: {listed(names)}")
    return "; ".join(parts) or "the code of kernels with the same names"


def _mode_sentence(done: tuple[SweepRow, ...], facts: tuple[ModeFact, ...]) -> list[str]:
    parts = []
    best = quickest([row for row in done if not row.disturbed])
    if best is not None and len(done) > 1:
        parts.append(f"{label(best)} is the fastest mode" + (f", {speed_words(best)}" if faster(best) else ""))
    elif any(row.compiled_s is not None for row in done):
        parts.append("No mode is clearly the fastest")
    same = [mode.name for mode in facts if mode.same and mode.name != DEFAULT]
    different = [mode.name for mode in facts if mode.same is False]
    if same:
        parts.append(f"{listed(same)} made the same kernels as default")
    if different:
        parts.append(f"{listed(different)} made different kernels")
    return parts or [f"{count(len(done), 'mode')} compiled this model"]


def _cpu_notes(question: Question, facts: tuple[ModeFact, ...]) -> tuple[str, ...]:
    """Return a note on reduce-overhead on a CPU, with torch's reason for skipping CUDA graphs."""
    overhead = next((overhead for overhead in facts if overhead.name == OVERHEAD and overhead.same is not None), None)
    if overhead is None or question.sweep.base.device != "cpu":
        return ()
    words = ON_CPU if overhead.same else REORDERED
    why = f", {overhead.skipped}" if overhead.skipped else ""
    return (f"{words} Torch skipped {count(overhead.skips, 'CUDA graph')}{why}." if overhead.skips else words,)


MODES_PRESET = Preset(
    "modes",
    "Modes",
    "What does each mode set, what does it change for this model, and is it faster?",
    mode_plan,
    mode_answer,
    fields=("mode",),
)


SIZES = (2, 3, 4)
# Stances that need compiled code to have an effect: their first call runs in the default stance.
PRIMED = ("eager_on_recompile", "fail_on_recompile")
FORCED = "force_backend=eager"
AFTER = " after the first call"
ABOUT = {
    "default": "compiles, and compiles again when a guard fails",
    "force_eager": "ignores all torch.compile",
    "eager_on_recompile": "reuses compiled code, and runs eagerly instead of recompiling",
    "fail_on_recompile": "reuses compiled code, and raises instead of recompiling",
    "eager_then_compile": "runs the first call eagerly, and compiles the second, with what it learned of the sizes",
    "aot_eager_then_compile": "compiles the first call with aot_eager, and the second with the backend",
    FORCED: "compiles with the backend eager instead of the requested one",
}


def stance_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell for each stance; the last cell forces the eager backend.

    Each cell has the job's calls if they differ in size, otherwise three calls with different batch sizes.
    """
    varied = replace(base, calls=calls_of(base, SIZES), sizes={}, marks=(), measure=False, target="", rival=None)
    named = {f"{name}{AFTER if name in PRIMED else ''}": _stance(name) for name in STANCES}
    forced: AxisValue = {"stance": "default", "primed": False, "force_backend": "eager"}
    values = (*named.values(), forced)
    return Plan(varied, (Axis("variant", values, (*named, FORCED)),))


def _stance(name: str) -> AxisValue:
    return {"stance": name, "primed": name in PRIMED, "force_backend": ""}


def stance_answer(question: Question) -> Answer:
    """Return how each call was executed in each stance, and how often each stance compiled."""
    facts = {row.at: stance_fact(row) for row in ended(question.rows)}
    width = max((len(stance.how) for stance in facts.values()), default=0)
    return Answer(
        sentence=_stance_sentence(tuple(facts.values())),
        notes=(_inputs_note(question.rows),) if facts else (),
        columns={
            "what it does": tuple(ABOUT.get(label(row).removesuffix(AFTER), "") for row in question.rows),
            **{
                f"call {index}": tuple(_cell(facts.get(row.at), index) for row in question.rows)
                for index in range(width)
            },
        },
        facts=tuple(facts.values()),
    )


def stance_fact(row: SweepRow) -> StanceFact:
    """Return how each call of a row was executed, with the compilations so far."""
    counted = itertools.accumulate(call.compilations or 0 for call in row.calls)
    return StanceFact(label(row), tuple(counted), tuple(call.how for call in row.calls))


def _cell(stance: StanceFact | None, index: int) -> str:
    if stance is None or index >= len(stance.how):
        return ""
    return stance.how[index] or NOT_RECORDED


def _stance_sentence(facts: tuple[StanceFact, ...]) -> str:
    if not facts:
        return ""
    totals: dict[int, list[str]] = {}
    for stance in facts:
        totals.setdefault(stance.compilations[-1] if stance.compilations else 0, []).append(_short(stance.name))
    parts = [f"{_times(total)} with {listed(names, 10)}" for total, names in sorted(totals.items(), reverse=True)]
    raised = [stance.name for stance in facts if "raised" in stance.how]
    calls = max(len(stance.how) for stance in facts)
    words = f"{count(calls, 'call')} of other sizes {agree(calls, 'compiles', 'compile')} {'; '.join(parts)}"
    return words + (f"; {listed([_short(name) for name in raised])} raises." if raised else ".")


def _short(name: str) -> str:
    return name.removesuffix(AFTER)


def _times(total: int) -> str:
    return {0: "nothing", 1: "once", 2: "twice"}.get(total, f"{number(total)} times")


def _inputs_note(rows: tuple[SweepRow, ...]) -> str:
    calls = next((row.calls for row in rows if row.calls), ())
    texts = "; ".join(call.inputs for call in calls)
    return f"The calls, in order: {texts}. A first call in the default stance is marked."


STANCES_PRESET = Preset(
    "stances",
    "Stances",
    "How does each stance run the same calls: compile, reuse, eager, or raise?",
    stance_plan,
    stance_answer,
    "calls",
)


FALLBACK = ("eager", "aot_eager", "inductor")
BACKENDS_ABOUT = toml_as(Path(__file__).with_name("backends.toml"), dict[str, str])
FOR_TESTS = "TESTING_ONLY"


def backend_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell per backend.

    Mode and options are left out, since only Inductor accepts them.
    """
    names = environment.backends or FALLBACK
    ordered = sorted(names, key=lambda name: (FOR_TESTS in name, name))
    plain = replace(base.with_settings(mode=None, options=None), target="", rival=None)
    return Plan(plain, (Axis("backend", tuple(ordered)),))


def backend_answer(question: Question) -> Answer:
    """Return how many backends run, whether their results equal eager's, and which backend is the fastest."""
    rows = question.rows
    facts = tuple(backend_fact(row, question.environment) for row in rows)
    done, failed = ended(rows), broken(rows)
    return Answer(
        sentence="; ".join(_backend_sentence(rows, done, failed)) + "." if done or failed else "",
        notes=_notes(facts),
        columns={
            "what it does": tuple(backend.does for backend in facts),
            "stops after": tuple(backend.stops for backend in facts),
            "cannot run here": tuple(backend.reason for backend in facts),
        },
        facts=facts,
    )


def backend_fact(row: SweepRow, environment: Environment | None) -> BackendFact:
    """Return the known facts about a row's backend."""
    entries = environment.entries if environment else ()
    entry = next((entry for entry in entries if entry.name == row.at[0]), None)
    shipped = SHIPPED_BACKENDS.get(row.at[0])
    return BackendFact(
        name=row.at[0],
        does=BACKENDS_ABOUT.get(row.at[0]) or (shipped.words if shipped else ""),
        stops=stop(row),
        runs=row.state == "done",
        reason=reason(row) if row in broken([row]) else "",
        tags=entry.tags if entry else (),
        place=entry.place if entry else "",
    )


def stop(row: SweepRow) -> Stop:
    """Return the last stage that a row's log contains; empty if it contains none."""
    if row.kernels or "inductor_post_grad_graph" in row.stages:
        return "code generation"
    if any(stage.startswith("aot_") for stage in row.stages):
        return "AOTAutograd"
    return "Dynamo" if "dynamo_output_graph" in row.stages else ""


def _backend_sentence(
    rows: tuple[SweepRow, ...], done: tuple[SweepRow, ...], failed: tuple[SweepRow, ...]
) -> list[str]:
    tried = len(done) + len(failed)
    so_far = " so far" if tried < len(rows) else ""
    among = (
        f"{number(len(done))} of {count(tried, 'backend')}{so_far} {agree(len(done), 'runs', 'run')} this model here"
    )
    unlike = [label(row) for row in done if row.results == "differs"]
    parts = [among]
    if failed:
        parts.append(f"{number(len(failed))} cannot")
    if unlike:
        parts.append(f"results differ from eager's with {listed(unlike)}")
    elif done and all(row.results in ("same", "other strides") for row in done):
        moved = [label(row) for row in done if row.results == "other strides"]
        parts.append("all results are eager's" + (f", with other strides from {listed(moved)}" if moved else ""))
    return parts + _speed(done)


def _speed(done: tuple[SweepRow, ...]) -> list[str]:
    """Return the fastest of the backends that are clearly faster than eager."""
    timed = [row for row in done if row.ratio is not None and not row.disturbed]
    ahead = [row for row in timed if faster(row)]
    if not timed:
        return []
    if not ahead:
        return ["none is clearly faster than eager"]
    best = quickest(ahead)
    return (
        [f"{label(best)} is the fastest, {speed_words(best)}"]
        if best is not None
        else [f"faster than eager are {listed([label(row) for row in ahead])}"]
    )


def _notes(facts: tuple[BackendFact, ...]) -> tuple[str, ...]:
    where = [
        f"{words}: {listed([backend.name for backend in facts if backend.runs and backend.stops == stage], 30)}."
        for stage, words in (
            ("Dynamo", "Only Dynamo's graph is in the log of"),
            ("AOTAutograd", "AOTAutograd's graphs too, and no generated code"),
            ("code generation", "Generated code"),
        )
        if any(backend.runs and backend.stops == stage for backend in facts)
    ]
    return tuple(where)


BACKENDS = Preset(
    "backends",
    "Backends",
    "What does each of torch's backends do with this model, where does it stop, and which run here?",
    backend_plan,
    backend_answer,
    fields=("backend",),
)
