"""An area of the timeline that was selected: its slices by name, and the busy and idle time in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec

from core.analysis.profile_area import ProfileArea, SliceSum, sum_area
from core.base import words as fmt
from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.report.profile import SliceKind
from core.views.markdown import LONGEST_LINE, one_line
from core.views.timeline import MOST_ROWS, TimelineView, idle_rows

MOST_TEXT_CHARS = 100
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
    """The sums over a selected area of a timeline."""

    view: TimelineView
    area: TimelineArea

    @cached_property
    def _sums(self) -> ProfileArea:
        chosen = self.view.slices_in(self.area.first_row, self.area.last_row)
        return sum_area(self.view.joined, (self.area.from_us, self.area.to_us), chosen)

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
            if self.view.joined.profile.has_device
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
                "slice": one_line(found.name, LONGEST_LINE),
                "kind": "kernel" if found.kernels else KINDS.get(found.kind, found.kind),
                "kernel": self._kernel_words(found),
                "slices": found.slices,
                "total": found.total_s,
                "self": found.own_s,
                "share": found.total_s / self._sums.length_s,
            }
            for found in self._shown
        ]

    @property
    def note(self) -> str:
        """Names that are not in the table, counted; empty if all are."""
        more = len(self._sums.sums) - len(self._shown)
        return f"{fmt.count(more, 'more name')} with less time." if more else ""

    @property
    def kernel_ids(self) -> list[str]:
        """The id of the kernel of each row; empty for slices without one, or of several."""
        return [found.kernels[0] if len(found.kernels) == 1 else "" for found in self._shown]

    def _kernel_words(self, found: SliceSum) -> str:
        if len(found.kernels) > 1:
            return fmt.count(len(found.kernels), "kernel")
        known = self.view.kernel(found.kernels[0]) if found.kernels else None
        return one_line(known.name, LONGEST_LINE) if known else ""

    @property
    def idle_rows(self) -> list[dict[str, object]]:
        """A row for each cause of idle time in the area, the most first."""
        return idle_rows(self._sums.idle)
