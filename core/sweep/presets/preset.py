"""What a preset is: a question that turns any job into axes, and the rows of its sweep into an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from core.base.machine import Environment
from core.job import CompileJob
from core.sweep.model import Axis, Sweep
from core.sweep.presets.facts import Fact
from core.sweep.row import SweepRow

Picture = Literal["bars", "lines", "cumulative", "calls"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a preset makes of a job: the job that its cells have in common, and what they differ in."""

    base: CompileJob
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What an answer is made of: the sweep, its rows as far as there are any, and what torch says of itself here."""

    sweep: Sweep
    rows: tuple[SweepRow, ...]
    here: Environment | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A preset's answer: a sentence, what goes with it, and the facts that it rests on.

    `columns` say more of each row, a text for each; the sentence is empty as long as no row tells anything.
    """

    sentence: str
    notes: tuple[str, ...] = ()
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Preset:
    """One question: how it is called, what it asks, how it becomes a sweep, how that answers it, and its picture."""

    name: str
    title: str
    question: str
    plan: Callable[[CompileJob, Environment], Plan]
    answer: Callable[[Question], Answer]
    picture: Picture = "bars"
