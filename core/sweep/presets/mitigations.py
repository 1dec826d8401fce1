"""Mitigations: a model that fails or differs, with one part of torch.compile changed or off each time."""

from __future__ import annotations

from dataclasses import replace

from core.base.machine import Environment
from core.base.words import count
from core.job import CompileJob, OptionValue
from core.sweep.model import Axis, AxisValue
from core.sweep.presets.preset import (
    Answer,
    Plan,
    Preset,
    Question,
    ResultFact,
    broken,
    ended,
    label,
    listed,
    reason,
    speed_words,
)
from core.sweep.store import SweepRow

AS_IT_IS = "as it is"
# Each mitigation's settings, from the least to the most that is given up.
MITIGATIONS: dict[str, dict[str, OptionValue | tuple[str, ...]]] = {
    "emulate_precision_casts": {"options.emulate_precision_casts": True},
    "fallback_random": {"options.fallback_random": True},
    "no pattern matching": {"options.pattern_matcher": False},
    "no reuse of buffers": {"options.inplace_buffers": False, "options.allow_buffer_reuse": False},
    "no vector code": {"options.cpp.simdlen": 1},
    "no CUDA graphs": {"options.triton.cudagraphs": False},
    "no fusion": {"options.max_fusion_size": 1, "options.epilogue_fusion": False},
    "ATen instead of lowerings": {"options.fallback_by_default": True},
    "suppress_errors": {"dynamo.suppress_errors": True},
    "aot_eager": {"backend": "aot_eager"},
}
# They are no use elsewhere: for code on a CPU, and for CUDA graphs.
CPU_ONLY, CUDA_ONLY = ("no vector code",), ("no CUDA graphs",)
WORKS = "same"


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return the job as it is, and one cell per mitigation that the installed torch has and that suits the device."""
    unsuited = CUDA_ONLY if base.device == "cpu" else CPU_ONLY
    offered = {
        name: settings
        for name, settings in MITIGATIONS.items()
        if name not in unsuited and all(_is_here(path, value, environment) for path, value in settings.items())
    }
    plain = replace(base, target="", rival=None, bisect=False)
    values: list[AxisValue] = [{}, *({**settings} for settings in offered.values())]
    return Plan(plain, (Axis("variant", tuple(values), (AS_IT_IS, *offered)),))


def _is_here(path: str, value: object, environment: Environment) -> bool:
    if path == "backend":
        return not environment.backends or value in environment.backends
    part, _, name = path.partition(".")
    module = "inductor" if part == "options" else "dynamo"
    return not environment.options or any(
        option.module == module and option.name == name for option in environment.options
    )


def answer(question: Question) -> Answer:
    """Return the mitigations with which the model neither fails nor differs, and the cost of the first one."""
    facts = tuple(fact(row) for row in question.rows)
    return Answer(
        sentence=_sentence(question.rows, facts),
        columns={"sets": tuple(_settings(label(row)) for row in question.rows)},
        facts=facts,
    )


def fact(row: SweepRow) -> ResultFact:
    """Return a row's outcome: `same`, `differs` or `failed`, empty before it is done; `words` has torch's reason."""
    if row in broken([row]):
        return ResultFact(label(row), "failed", reason(row))
    return ResultFact(label(row), row.results if row.state == "done" else "", row.results_words)


def _settings(name: str) -> str:
    return ", ".join(f"{path.partition('.')[2] or path}={value!r}" for path, value in MITIGATIONS.get(name, {}).items())


def _sentence(rows: tuple[SweepRow, ...], facts: tuple[ResultFact, ...]) -> str:
    own = next((known for known in facts if known.label == AS_IT_IS), None)
    tried = [known for known in facts if known.label != AS_IT_IS and known.outcome]
    if own is None or not own.outcome:
        return ""
    if own.outcome == WORKS:
        return "The model neither fails nor differs as it is: no mitigation is needed."
    what = {"failed": "the model fails", "differs": "the model gives other results than eager"}
    problem = f"As it is, {what.get(own.outcome, f'the results are {own.outcome}')}"
    if not tried:
        return f"{problem}."
    works = [known.label for known in tried if known.outcome == WORKS]
    if not works:
        return f"{problem}; none of {count(len(tried), 'mitigation')} gives eager's results."
    return f"{problem}; it gives eager's results with {listed(works, 10)}{_cost(rows, works[0])}."


def _cost(rows: tuple[SweepRow, ...], name: str) -> str:
    speeds = {label(row): speed_words(row) for row in ended(rows)}
    own, mitigated = speeds.get(AS_IT_IS), speeds.get(name)
    if not mitigated:
        return ""
    before = f"; as it is: {own}" if own else ""
    return f". With {name}: {mitigated}{before}"


MITIGATIONS_PRESET = Preset(
    "mitigations",
    "Mitigations",
    "With which part of torch.compile changed or off does this model neither fail nor differ, and what does that cost?",
    plan,
    answer,
)
