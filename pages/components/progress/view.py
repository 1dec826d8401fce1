"""The timeline of a live run: the worker's steps, and torch's phases as they happen."""

from __future__ import annotations

from pathlib import Path

import msgspec
import streamlit as st

from core import Progress, step_words
from core.analysis import phase_class
from core.report import Phase
from pages.components.modules import component_script
from pages.look.palette import PHASES

HERE = Path(__file__).parent
MOST_PHASES = 400
MOST_STEPS = 12

_COMPONENT = st.components.v2.component(
    "compileboard_progress",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(HERE / "view.js"),
)


class SpanData(msgspec.Struct, frozen=True, array_like=True):
    """A phase; `kind` is the name of its colours, `depth` counts the phases around it, `is_open` is True
    until it ends.
    """

    name: str
    kind: str
    depth: int
    begin_s: float
    duration_s: float
    is_open: bool


class ProgressData(msgspec.Struct, frozen=True):
    """The message to the browser; a phase's kind has a colour on light and one on dark paper, and a label."""

    steps: tuple[str, ...]
    to_come: tuple[str, ...]
    live: bool
    spans: tuple[SpanData, ...]
    length_s: float
    colours: dict[str, tuple[str, str]]
    legend: dict[str, str]


def progress_view(progress: Progress, *, key: str, live: bool) -> None:
    """Draw the timeline of a run so far; open phases reach to its end."""
    spans = [phase for phase in progress.phases if (phase.duration_s or 1) > 0.0005][-MOST_PHASES:]
    start_us = min((phase.start_us for phase in progress.phases), default=0.0)
    end_us = max((phase.end_us or phase.start_us for phase in progress.phases), default=0.0)
    data = ProgressData(
        steps=tuple(map(step_words, progress.steps[-MOST_STEPS:])),
        to_come=tuple(map(step_words, progress.to_come[:MOST_STEPS])),
        live=live,
        spans=tuple(_span(phase, start_us, end_us) for phase in spans),
        length_s=(end_us - start_us) / 1e6,
        colours={kind: (colour.light, colour.dark) for kind, colour in PHASES.items()},
        legend={kind: colour.label for kind, colour in PHASES.items()},
    )
    _COMPONENT(key=key, data=msgspec.to_builtins(data))


def _span(phase: Phase, start_us: float, end_us: float) -> SpanData:
    last_us = phase.end_us if phase.end_us is not None else end_us
    begin_s, length_s = (phase.start_us - start_us) / 1e6, max(0.0, last_us - phase.start_us) / 1e6
    return SpanData(
        phase.name,
        phase_class(phase.name),
        phase.depth,
        round(begin_s, 4),
        round(length_s, 4),
        phase.end_us is None,
    )
