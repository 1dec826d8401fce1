"""Landmarks of torch and Triton on the way of a compilation, with what a run recorded of each, and their source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from core.analysis import phase_totals
from core.analysis.durations import PhaseTotal
from core.base import words as fmt
from core.base.machine import package_version
from core.code.torch_source import LANDMARKS, Landmark, LandmarkSource, landmark_source
from core.report import Report

NOT_TIMED = "not timed"
MISSING = "not in the installed version"


@dataclass(frozen=True)
class LandmarksView:
    """The landmarks beside a report; None for no run."""

    report: Report | None

    @property
    def title(self) -> str:
        """Number of landmarks, and of those that the run was timed in."""
        installed = sum(landmark_source(landmark) is not None for landmark in LANDMARKS)
        where = f"{fmt.count(installed, 'place')} in torch {_installed()} and Triton"
        if self.report is None:
            return f"{where}."
        entered = sum(landmark.phase in self._times for landmark in LANDMARKS)
        return f"{where}. torch timed this run in {fmt.number(entered)} of them."

    @property
    def note(self) -> str:
        """Origin of the times, and a warning if the run was recorded with another torch."""
        note = "Entries and times are torch's own, from the run's trace. A time includes what is called inside."
        recorded = self.report.setting.torch if self.report else ""
        if recorded and recorded.partition("+")[0] != _installed():
            note += f" The run was recorded with torch {recorded}; the source is that of {_installed()}."
        return note

    @cached_property
    def _times(self) -> dict[str, PhaseTotal]:
        return {total.name: total for total in phase_totals(self.report)} if self.report else {}

    @property
    def ids(self) -> list[str]:
        """Full names of the landmarks, in the order of `rows`."""
        return [landmark.full_name for landmark in LANDMARKS]

    @property
    def rows(self) -> list[dict[str, object]]:
        """Landmarks as rows of a table."""
        return [
            {
                "stop": landmark.stop,
                "landmark": landmark.name,
                "entered": self._entered(landmark, total := self._times.get(landmark.phase)),
                "time": fmt.duration_s(total.total_s) if total else "",
                "what it does": landmark.what,
                "source": place_of(landmark),
            }
            for landmark in LANDMARKS
        ]

    def _entered(self, landmark: Landmark, total: PhaseTotal | None) -> str:
        if self.report is None:
            return ""
        return fmt.number(total.count if total else 0) if landmark.phase else NOT_TIMED

    def of(self, name: str | None) -> LandmarkView | None:
        """Return a landmark by its full name; None if there is none."""
        landmark = next((landmark for landmark in LANDMARKS if landmark.full_name == name), None)
        return LandmarkView(landmark, self._times.get(landmark.phase)) if landmark else None

    @property
    def text(self) -> Iterator[str]:
        """The landmarks as lines of text."""
        yield self.title
        for row in self.rows:
            timed = f" ({row['entered']} times, {row['time']})" if row["time"] else ""
            yield f"  {row['stop']}: {row['landmark']}, {row['source']}{timed}: {row['what it does']}"


@dataclass(frozen=True)
class LandmarkView:
    """A landmark, with the run's times of it; None if torch did not time it in this run."""

    landmark: Landmark
    total: PhaseTotal | None

    @property
    def heading(self) -> str:
        """Full name."""
        return self.landmark.full_name

    @property
    def words(self) -> str:
        """Purpose, the number of times that the run entered it, and the time."""
        what = f"{self.landmark.what[:1].upper()}{self.landmark.what[1:]}."
        if self.total is None:
            why = "Not entered in this run." if self.landmark.phase else "torch does not time it."
            return f"{what} {why}"
        times = fmt.count(self.total.count, "time")
        return f"{what} Entered {times}, {fmt.duration_s(self.total.total_s)} in all (phase `{self.landmark.phase}`)."

    @property
    def source(self) -> LandmarkSource | None:
        """Lines of the installed source; None if this version does not have it."""
        return landmark_source(self.landmark)

    @property
    def place(self) -> str:
        """File and line."""
        return place_of(self.landmark)


def _installed() -> str:
    """Return the version of the installed torch, without that of its build."""
    return package_version("torch").partition("+")[0]


def place_of(landmark: Landmark) -> str:
    """Return the file and line of a landmark, with its package's directory first."""
    source = landmark_source(landmark)
    if source is None:
        return MISSING
    package, parts = landmark.module.partition(".")[0], source.path.parts
    below = parts[len(parts) - 1 - parts[::-1].index(package) :]
    return f"{'/'.join(below)}:{source.line}"
