"""Recorded sweeps: recordings of the gallery that differ in one field of their job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.job import MODES
from core.runs.recordings import Recording, recordings
from core.sweep.model import Axis, AxisValue

# What the kind of a recording begins with → the preset that it is a cell of, and the place of a value.
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
    for one in recordings():
        field, _, value = one.kind.partition(" ")
        if field in PRESET_OF:
            groups.setdefault((one.job.model.value, field), {})[value] = one
    return tuple(_sweep(model, field, found) for (model, field), found in groups.items())


def _sweep(model: str, field: str, found: dict[str, Recording]) -> RecordedSweep:
    preset, place = PRESET_OF[field]
    values = sorted(found, key=place)
    cells = tuple(found[value] for value in values)
    held: tuple[AxisValue, ...] = tuple(map(int, values)) if preset == "batch" else tuple(values)
    return RecordedSweep(f"{model}: {preset}, {cells[0].words}", preset, Axis(field, held), cells)
