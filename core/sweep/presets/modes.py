"""Modes: the settings of each mode of `torch.compile`, and their effect on this model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from core.base.machine import Environment
from core.base.words import count, number
from core.job import MODES, CompileJob
from core.sweep.model import Axis
from core.sweep.presets.preset import (
    Answer,
    ModeFact,
    Plan,
    Preset,
    Question,
    ended,
    faster,
    label,
    listed,
    quickest,
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


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a cell for each mode that torch knows; a mode excludes options."""
    names = tuple(name for name in MODES if not environment.modes or name in environment.modes)
    plain = replace(base.with_settings(backend="inductor", backend_code="", options=None), target="", rival=None)
    return Plan(plain, (Axis("mode", names),))


def answer(question: Question) -> Answer:
    """Return the fastest mode, and each mode's changes in passes, kernels and choices compared with the default."""
    rows, done = question.rows, ended(question.rows)
    default = next((row for row in done if row.at == (DEFAULT,)), None)
    facts = tuple(fact(row, default, question.environment) for row in rows)
    return Answer(
        sentence="; ".join(_sentence(done, facts)) + "." if done else "",
        notes=_cpu_notes(question, facts),
        columns={
            "sets": tuple(sets_words(mode) for mode in facts),
            "changed against default": tuple(changed_words(mode) for mode in facts),
            "autotuning took": tuple(", ".join(f"{k}: {v}" for k, v in mode.chosen.items()) for mode in facts),
        },
        facts=facts,
    )


def fact(row: SweepRow, default: SweepRow | None, environment: Environment | None) -> ModeFact:
    """Return a mode's settings and their effects."""
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
    """Return the options of a mode as handwritten code."""
    if mode.sets is None:
        return "not recorded"
    return ", ".join(f"{name}={value}" for name, value in mode.sets.items()) or "nothing"


def changed_words(mode: ModeFact) -> str:
    """Return a mode's changes, in words."""
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


def _sentence(done: tuple[SweepRow, ...], facts: tuple[ModeFact, ...]) -> list[str]:
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
    """Return the effect of CUDA graphs without a GPU, in our words and torch's."""
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
    plan,
    answer,
    fields=("mode",),
)
