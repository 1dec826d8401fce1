"""Preset: a question that turns any job into axes, and the rows of its sweep into an answer."""

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
    """Plan of a preset for a job: the common job of its cells, and its axes."""

    base: CompileJob
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """Input of an answer: the sweep, its rows so far, and torch's description of this machine."""

    sweep: Sweep
    rows: tuple[SweepRow, ...]
    environment: Environment | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A preset's answer: a sentence, notes, and its facts.

    `columns` have an additional text for each row; the sentence is empty as long as no row has a result.
    """

    sentence: str
    notes: tuple[str, ...] = ()
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Preset:
    """A question: its names, text, sweep, answer and picture."""

    name: str
    title: str
    question: str
    plan: Callable[[CompileJob, Environment], Plan]
    answer: Callable[[Question], Answer]
    picture: Picture = "bars"
