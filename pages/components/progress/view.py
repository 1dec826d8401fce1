"""The timeline of a live run: the worker's steps, and torch's phases as they happen."""

from pathlib import Path

import msgspec

from core import Progress
from pages.components.exchange import component, message
from pages.look.palette import PHASES

MOST_PHASES = 400  #: phases of a running run
MOST_STEPS = 12  #: steps of a running run

_COMPONENT = component(Path(__file__).parent)


class SpanData(msgspec.Struct, frozen=True, array_like=True):
    """A phase; `kind` selects its colour, and `depth` is the number of enclosing phases.

    `is_open` is True until the phase ends.
    """

    name: str
    kind: str
    depth: int
    begin_s: float
    duration_s: float
    is_open: bool


class ProgressData(msgspec.Struct, frozen=True):
    """The message to the browser; a phase kind has a colour on light and on dark background, and a label."""

    steps: tuple[str, ...]
    to_come: tuple[str, ...]
    live: bool
    spans: tuple[SpanData, ...]
    length_s: float
    colours: dict[str, tuple[str, str]]
    legend: dict[str, str]


def progress_view(progress: Progress, *, key: str, live: bool) -> None:
    """Draw the timeline of a run so far; phases that are still open extend to the timeline's end."""
    data = ProgressData(
        steps=progress.steps_in_words[-MOST_STEPS:],
        to_come=progress.to_come_in_words[:MOST_STEPS],
        live=live,
        spans=_spans(progress),
        length_s=progress.length_s,
        colours={kind: (colour.light, colour.dark) for kind, colour in PHASES.items()},
        legend={kind: colour.label for kind, colour in PHASES.items()},
    )
    _COMPONENT(key=key, data=message(data))


def _spans(progress: Progress) -> tuple[SpanData, ...]:
    return tuple(
        SpanData(phase.name, phase.kind, phase.depth, round(phase.begin_s, 4), round(phase.length_s, 4), phase.is_open)
        for phase in progress.timeline(MOST_PHASES)
    )
