"""An area of the timeline that was selected: its slices by name, and the busy and idle time in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import msgspec

from core.analysis.idle import Cause, IdleTime
from core.analysis.profile import JoinedProfile
from core.analysis.profile_area import ProfileArea, SliceSum, sum_area
from core.base import words as fmt
from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.report import Kernel
from core.report.profile import SliceKind
from core.views.markdown import LONGEST_LINE, one_line

MOST_ROWS = 500
MOST_TEXT_CHARS = 100
# Cause of idle time → what the host did, as a sentence of a table.
CAUSES: dict[Cause, str] = {
    "compile": "torch.compile compiled",
    "autotuning": "Triton timed configs",
    "guards": "Dynamo checked guards (cache lookup)",
    "launch": "the driver launched work",
    "wait": "the host waited for the device",
    "profiler": "the profiler itself",
    "preparing": "the run prepared a call: its inputs and seeds",
    "wrapper": "the code around the kernels of a compiled graph",
    "op": "PyTorch ran ops outside of compiled graphs",
    "host": "other Python code of the host",
}
# Kinds of slices whose word on the page is another one.
KINDS: dict[SliceKind, str] = {"launch": "driver", "overhead": "profiler"}


class TimelineArea(NamedTuple):
    """A range of time in microseconds, and of rows of the chart, both ends included."""

    from_us: float
    to_us: float
    first_row: int
    last_row: int

    @property
    def text(self) -> str:
        """Return the area as it is in the URL."""
        return msgspec.json.encode(tuple(self)).decode()


def area_from_text(text: str | None) -> TimelineArea | None:
    """Return the area in a URL; None if it is none."""
    try:
        area = TimelineArea(*decoded_as((text or "")[:MOST_TEXT_CHARS].encode(), tuple[float, float, int, int]))
    except (DecodeError, UnicodeEncodeError):
        return None
    return area if 0 <= area.from_us < area.to_us and 0 <= area.first_row <= area.last_row else None


@dataclass(frozen=True)
class AreaView:
    """The sums over a selected area.

    `chosen` are the indexes of the slices in its rows, `kernels` the kernels of the log by their ids.
    """

    joined: JoinedProfile
    area: TimelineArea
    chosen: tuple[int, ...] = field(repr=False)
    kernels: Mapping[str, Kernel] = field(repr=False)

    @cached_property
    def _sums(self) -> ProfileArea:
        return sum_area(self.joined, (self.area.from_us, self.area.to_us), self.chosen)

    @property
    def _shown(self) -> tuple[SliceSum, ...]:
        return self._sums.sums[:MOST_ROWS]

    @property
    def title(self) -> str:
        """The selected time, and the parts of it in which the device and the host were busy."""
        sums = self._sums
        busy, idle, host = (self._part(seconds) for seconds in (sums.busy_s, sums.idle_s, sums.host_s))
        ran = (
            f"the device was busy for {busy} and idle for {idle}"
            if self.joined.profile.has_device
            else f"compiled graphs ran for {busy}, with {idle} between them"
        )
        return f"{fmt.duration_s(sums.length_s)} selected: {ran}; the host was in ops and launches for {host}."

    def _part(self, seconds: float) -> str:
        return f"{fmt.duration_s(seconds)} ({fmt.percent(seconds / self._sums.length_s)})"

    @property
    def rows(self) -> list[dict[str, object]]:
        """A row for each name of slices, the most time first."""
        return [
            {
                "slice": one_line(entry.name, LONGEST_LINE),
                "kind": "kernel" if entry.kernels else KINDS.get(entry.kind, entry.kind),
                "kernel": self._kernel_words(entry),
                "slices": entry.slices,
                "total": entry.total_s,
                "self": entry.own_s,
                "share": entry.total_s / self._sums.length_s,
            }
            for entry in self._shown
        ]

    @property
    def note(self) -> str:
        """Names that are not in the table, counted; empty if all are."""
        more = len(self._sums.sums) - len(self._shown)
        return f"{fmt.count(more, 'more name')} with less time." if more else ""

    @property
    def kernel_ids(self) -> list[str]:
        """The id of the kernel of each row; empty for slices without one, or of several."""
        return [entry.kernels[0] if len(entry.kernels) == 1 else "" for entry in self._shown]

    def _kernel_words(self, entry: SliceSum) -> str:
        """Return the name of the slices' kernel if it is another one, or the number of their kernels."""
        if len(entry.kernels) > 1:
            return fmt.count(len(entry.kernels), "kernel")
        known = self.kernels.get(entry.kernels[0]) if entry.kernels else None
        return one_line(known.name, LONGEST_LINE) if known and known.name != entry.name else ""

    @property
    def idle_rows(self) -> list[dict[str, object]]:
        """A row for each cause of idle time in the area, the most first."""
        return idle_rows(self._sums.idle)


def idle_rows(times: Iterable[IdleTime]) -> list[dict[str, object]]:
    """Return a row for each cause of idle time."""
    times = tuple(times)
    whole_s = sum(time.seconds for time in times)
    return [
        {"while": CAUSES[time.cause], "idle": time.seconds, "share": time.seconds / whole_s, "gaps": time.gaps}
        for time in times
    ]
