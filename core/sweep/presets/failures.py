"""Presets for a model that fails or differs from eager: a ladder of backends, and mitigations.

Each rung of the ladder adds one part of torch.compile; each mitigation changes one part or turns it off.
"""

from dataclasses import replace

from core.base.machine import Environment
from core.base.words import agree, count
from core.job import CompileJob
from core.job.model import MITIGATIONS, mitigations
from core.sweep.model import Axis, AxisValue
from core.sweep.presets.preset import (
    Answer,
    Plan,
    Preset,
    Question,
    ResultFact,
    RungFact,
    broken,
    ended,
    label,
    listed,
    reason,
    speed_words,
)
from core.sweep.store import SweepRow

# Backend of each rung below the job's own, and the part of torch.compile that it adds.
RUNGS = {
    "eager": "Dynamo, which captures the graphs",
    "aot_eager": "AOTAutograd, which functionalizes the graphs and traces the backward",
    "aot_eager_decomp_partition": "Inductor's decompositions or the min-cut partitioner",
}
DIFFERS = "differs"
INDUCTOR = "Inductor's passes, lowerings, fusion or generated code"


def ladder_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell for each available rung up to the job's backend.

    Mode and options are set only for the job's backend.
    """
    own = base.compile.backend
    here = [name for name in RUNGS if not environment.backends or name in environment.backends]
    lower = here[: here.index(own)] if own in here else here
    options = {f"options.{name}": value for name, value in (base.compile.options or {}).items()}
    mode = {"mode": base.compile.mode} if base.compile.mode else {}
    below: list[AxisValue] = [{"backend": name} for name in lower]
    top: AxisValue = {"backend": own, **mode, **options}
    plain = replace(base.with_settings(mode=None, options=None), target="", rival=None, measure=False)
    return Plan(plain, (Axis("variant", (*below, top), (*lower, own)),))


def ladder_answer(question: Question) -> Answer:
    """Return the first rung that fails or differs from eager, and the torch.compile part that it adds."""
    facts = tuple(ladder_fact(row) for row in question.rows)
    return Answer(
        sentence=_ladder_sentence(question.rows, facts),
        columns={"adds": tuple(rung.adds for rung in facts), "outcome": tuple(rung.outcome for rung in facts)},
        facts=facts,
    )


def ladder_fact(row: SweepRow) -> RungFact:
    """Return a row's rung with its outcome.

    The outcome is the error or the comparison with eager, such as `same` or `differs`; empty if the row is not
    done.
    """
    name = label(row)
    outcome = reason(row) or "failed" if row in broken([row]) else row.results if row.state == "done" else ""
    adds = RUNGS.get(name) or (INDUCTOR if name == "inductor" else f"the backend {name}")
    return RungFact(name, adds, outcome, _is_bad(row))


def _is_bad(row: SweepRow) -> bool:
    return bool(broken([row])) or (row.state == "done" and row.results == DIFFERS)


def _ladder_sentence(rows: tuple[SweepRow, ...], facts: tuple[RungFact, ...]) -> str:
    settled = [rung for row, rung in zip(rows, facts, strict=True) if row in (*ended(rows), *broken(rows))]
    bad = next((rung for rung in settled if rung.bad), None)
    if not settled:
        return ""
    if bad is None:
        so_far = "so far " if len(settled) < len(facts) else ""
        return (
            f"No rung fails {so_far}with these inputs: {listed([rung.name for rung in settled])} "
            f"{agree(len(settled), 'gives', 'give')} eager's results."
        )
    below = [rung.name for rung in settled[: settled.index(bad)]]
    what = "gives other results than eager" if bad.outcome == DIFFERS else "fails"
    if len(settled) == len(facts) > 1 and all(rung.bad and rung.outcome == bad.outcome for rung in settled):
        return f"Every rung {what} in the same way: the cause is in the model itself, or in {RUNGS['eager']}."
    equal = f"; {listed(below)} {agree(len(below), 'gives', 'give')} eager's results" if below else ""
    return f"`{bad.name}` is the first rung that {what}{equal}. The cause is in {bad.adds}."


LADDER = Preset(
    "ladder",
    "Ablation",
    "Which part of torch.compile makes this model fail or differ, from Dynamo to Inductor?",
    ladder_plan,
    ladder_answer,
)


AS_IT_IS = "as it is"
WORKS = "same"


def mitigation_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with the unchanged job, and a cell for each available mitigation.

    A mitigation is available if the installed torch has its settings, and if it has an effect on the job's
    device.
    """
    offered = {
        name: settings
        for name, settings in mitigations(base.device).items()
        if all(_is_here(path, value, environment) for path, value in settings.items())
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


def mitigation_answer(question: Question) -> Answer:
    """Return the mitigations that give eager's results, and the speed with the first of them."""
    facts = tuple(mitigation_fact(row) for row in question.rows)
    return Answer(
        sentence=_mitigation_sentence(question.rows, facts),
        columns={"sets": tuple(_settings(label(row)) for row in question.rows)},
        facts=facts,
    )


def mitigation_fact(row: SweepRow) -> ResultFact:
    """Return a row's outcome: `failed`, or the comparison with eager; empty before the row is done.

    `words` has torch's reason for a failure, otherwise the details of the comparison.
    """
    if row in broken([row]):
        return ResultFact(label(row), "failed", reason(row))
    return ResultFact(label(row), row.results if row.state == "done" else "", row.results_words)


def _settings(name: str) -> str:
    return ", ".join(f"{path.partition('.')[2] or path}={value!r}" for path, value in MITIGATIONS.get(name, {}).items())


def _mitigation_sentence(rows: tuple[SweepRow, ...], facts: tuple[ResultFact, ...]) -> str:
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
    "Workarounds",
    "With which part of torch.compile changed or off does this model neither fail nor differ?",
    mitigation_plan,
    mitigation_answer,
)
