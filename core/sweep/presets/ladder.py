"""Ladder: the same calls with one part of torch.compile more on each rung; the first rung that fails names the part."""

from __future__ import annotations

from dataclasses import replace

from core.base.machine import Environment
from core.base.words import agree
from core.job import CompileJob
from core.sweep.model import Axis, AxisValue
from core.sweep.presets.preset import Answer, Plan, Preset, Question, RungFact, broken, ended, label, listed, reason
from core.sweep.store import SweepRow

# Backend of each rung below the job's own, and the part of torch.compile that it adds.
RUNGS = {
    "eager": "Dynamo, which captures the graphs",
    "aot_eager": "AOTAutograd, which functionalizes the graphs and traces the backward",
    "aot_eager_decomp_partition": "Inductor's decompositions or the min-cut partitioner",
}
DIFFERS = "differs"
INDUCTOR = "Inductor's passes, lowerings, fusion or generated code"


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a cell per rung that is here, up to the job's backend; its mode and options apply to that rung alone."""
    own = base.compile.backend
    here = [name for name in RUNGS if not environment.backends or name in environment.backends]
    lower = here[: here.index(own)] if own in here else here
    options = {f"options.{name}": value for name, value in (base.compile.options or {}).items()}
    mode = {"mode": base.compile.mode} if base.compile.mode else {}
    below: list[AxisValue] = [{"backend": name} for name in lower]
    top: AxisValue = {"backend": own, **mode, **options}
    plain = replace(base.with_settings(mode=None, options=None), target="", rival=None, measure=False)
    return Plan(plain, (Axis("variant", (*below, top), (*lower, own)),))


def answer(question: Question) -> Answer:
    """Return the first rung that raises or differs, and the part of torch.compile that it adds."""
    facts = tuple(fact(row) for row in question.rows)
    return Answer(
        sentence=_sentence(question.rows, facts),
        columns={"adds": tuple(rung.adds for rung in facts), "outcome": tuple(rung.outcome for rung in facts)},
        facts=facts,
    )


def fact(row: SweepRow) -> RungFact:
    """Return a row's rung, with its outcome: `same`, `differs`, the error, or empty before the row is done."""
    name = label(row)
    outcome = reason(row) or "failed" if row in broken([row]) else row.results if row.state == "done" else ""
    adds = RUNGS.get(name) or (INDUCTOR if name == "inductor" else f"the backend {name}")
    return RungFact(name, adds, outcome, _is_bad(row))


def _is_bad(row: SweepRow) -> bool:
    return bool(broken([row])) or (row.state == "done" and row.results == DIFFERS)


def _sentence(rows: tuple[SweepRow, ...], facts: tuple[RungFact, ...]) -> str:
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
    "Ladder",
    "Which part of torch.compile makes this model fail or differ: Dynamo, AOTAutograd, decompositions, or Inductor?",
    plan,
    answer,
)
