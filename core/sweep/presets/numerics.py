"""Numerics: eager and compiled compared with float64, in each floating dtype."""

from __future__ import annotations

from dataclasses import replace

from core.base.machine import Environment
from core.job import CompileJob
from core.sweep.model import Axis
from core.sweep.presets.facts import ResultFact
from core.sweep.presets.preset import Answer, Plan, Preset, Question
from core.sweep.presets.rows import ended, label
from core.sweep.row import SweepRow

DTYPES = ("float32", "bfloat16", "float16")


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a cell per dtype that compares every output and gradient with float64."""
    compared = replace(base, numerics="results", measure=False, target="", rival=None)
    return Plan(compared, (Axis("dtype", DTYPES),))


def answer(question: Question) -> Answer:
    """Return for each dtype if compiled is as close to float64 as eager."""
    facts = tuple(map(fact, ended(question.rows)))
    texts = [f"{result.label}: {_within(result.words)}" for result in facts if result.words]
    return Answer(
        sentence=f"{'; '.join(texts)}." if texts else "",
        columns={"against float64": tuple(row.numerics_words for row in question.rows)},
        facts=facts,
    )


def fact(row: SweepRow) -> ResultFact:
    """Return the comparison in one dtype."""
    same = {
        "same": "results are eager's",
        "other strides": "values are eager's",
        "differs": f"results differ from eager's: {row.results_words}",
    }
    return ResultFact(label(row), row.results, row.numerics_words or same.get(row.results, row.results_words))


def _within(words: str) -> str:
    """Return the first part of a sentence, to be included in another."""
    first = words.partition(":")[0].removesuffix(".")
    return f"{first[:1].lower()}{first[1:]}"


NUMERICS = Preset(
    "numerics",
    "Numerics",
    "Are compiled results as near to float64 as eager's?",
    plan,
    answer,
)
