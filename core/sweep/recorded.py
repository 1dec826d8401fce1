"""Recorded sweeps: recordings of the gallery that differ in one field of their job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.job import MODES
from core.runs.recordings import Recording, recordings
from core.sweep.model import Axis, AxisValue

# First word of a recording's kind → its preset, and the order of the values.
PRESET_OF: dict[str, tuple[str, Callable[[str], int]]] = {"mode": ("modes", MODES.index), "batch": ("batch", int)}


@dataclass(frozen=True, slots=True)
class RecordedSweep:
    """Recordings of one model along an axis, in its order."""

    title: str
    preset: str
    axis: Axis
    cells: tuple[Recording, ...]


def recorded_sweeps() -> tuple[RecordedSweep, ...]:
    """Return all recorded sweeps of the gallery."""
    groups: dict[tuple[str, str], dict[str, Recording]] = {}
    for recording in recordings():
        field, _, value = recording.kind.partition(" ")
        if field in PRESET_OF:
            groups.setdefault((recording.job.model.value, field), {})[value] = recording
    return tuple(_sweep(model, field, by_value) for (model, field), by_value in groups.items())


def _sweep(model: str, field: str, by_value: dict[str, Recording]) -> RecordedSweep:
    preset, place = PRESET_OF[field]
    values = sorted(by_value, key=place)
    cells = tuple(by_value[value] for value in values)
    typed: tuple[AxisValue, ...] = tuple(map(int, values)) if preset == "batch" else tuple(values)
    return RecordedSweep(f"{model}: {preset}, {cells[0].words}", preset, Axis(field, typed), cells)
