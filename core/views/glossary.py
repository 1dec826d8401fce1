"""Glossary of torch's terms, and landmarks of a compilation in the source of torch and Triton.

A term has its meaning, the page that shows it for the run, and a link to torch's manual. A landmark has its
count and time in the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from core.analysis.durations import PhaseTotal, phase_totals
from core.analysis.work import NO_SHARED_DATA
from core.base import words as fmt
from core.base.decoder import toml_as
from core.base.machine import package_version
from core.code.torch_source import LANDMARKS, Landmark, landmark_source
from core.report import Report
from core.views.blocks import (
    NOTHING_PICKED,
    Beside,
    Code,
    Column,
    Heading,
    Listing,
    PageBlock,
    PageLink,
    Picks,
    Search,
    Table,
    Text,
    Title,
    spans,
)
from core.views.markdown import plain

# Names of a visitor's search and selection.
TERM, SELECT = "term", "select"


@dataclass(frozen=True, slots=True)
class Term:
    """A term: its meaning as Markdown, the page that shows it for a run, and a URL in torch's manual."""

    meaning: str
    page: str
    manual: str = ""

    @property
    def help(self) -> str:
        """The meaning, with a link to the manual."""
        return f"{self.meaning} [torch's manual]({self.manual})" if self.manual else self.meaning


TERMS = toml_as(Path(__file__).with_name("glossary.toml"), dict[str, Term])


def glossary(picks: Picks = NOTHING_PICKED) -> Iterator[PageBlock]:
    """Yield each term with its meaning and the page that shows it for a run; a search selects terms."""
    yield Title(spans(f"{fmt.count(len(TERMS), 'term')}, in the order of a compilation"))
    yield Search(TERM, "guard, fusion, warm-up …")
    terms = matching_terms(picks.text(TERM))
    if not terms:
        yield Text(spans("No term has this text."), "note")
    for name, term in terms.items():
        yield Text(spans(f"**{name}** — {term.help}"))
        yield PageLink(term.page)


def matching_terms(text: str) -> dict[str, Term]:
    """Return name → term, for the terms whose name or meaning contains a text."""
    return {name: term for name, term in TERMS.items() if text.lower() in f"{name} {term.meaning}".lower()}


GLOSSARY = {name: term.help for name, term in TERMS.items()}


# Beginning of torch's reason not to fuse two nodes, and what it means.
INTERMEDIATE = "intermediate nodes"
REFUSALS = {
    INTERMEDIATE: "Others between them need a result of the first, and the second needs theirs.",
    NO_SHARED_DATA: "No access of one is an access of the other (same buffer, part and order): torch sees no saving.",
    "memory deps did not match": "The second reads the first's result in another order than the first writes it.",
    "numel/rnumel mismatch": "Their loops have different sizes.",
    "invalid loop order": "No order of loops fits both.",
    "tiling mismatch": "Their loops are tiled in different ways.",
    "node1 must go before node2": "The first must run before the second.",
    "exceeds max fusion": "The fused node would be larger than `max_fusion_size`.",
    "fusion for buffer explicit disabled": "Inductor keeps this buffer apart.",
    "score too low": "Fusing would save too little.",
    "will create cycle": "A fused node would need its own result.",
    "register spilling": "The fused kernel would need more registers than there are.",
    "device mismatch": "They run on different devices.",
    "template epilogue": "The matmul's template can't take this op in.",
    "prologue fusion": "The matmul's template can't compute this input within it.",
}
NOT_TIMED = "not timed"
MISSING = "not in the installed version"


def landmarks(report: Report | None, picks: Picks = NOTHING_PICKED) -> Iterator[PageBlock]:
    """Yield places in the source of torch and Triton with a run's times, and the selected one."""
    view = LandmarksView(report)
    yield Title(spans(view.title))
    yield Text(spans(view.note), "quiet")
    table = Table("landmarks", view.columns, LANDMARKS, link=lambda landmark: landmark.full_name)
    chosen = view.of(picks.text(SELECT))
    yield Beside((table,), tuple(chosen.blocks), (3, 2)) if chosen else table


@dataclass(frozen=True)
class LandmarksView:
    """Landmarks of torch's source, with the times of a report; `report` is None without a run."""

    report: Report | None

    @property
    def title(self) -> str:
        """Number of landmarks in the installed torch and Triton, and number that torch timed in the run."""
        installed = sum(landmark_source(landmark) is not None for landmark in LANDMARKS)
        where = f"{fmt.count(installed, 'place')} in torch {_installed()} and Triton"
        if self.report is None:
            return where
        entered = sum(landmark.phase in self._times for landmark in LANDMARKS)
        return f"{where}. torch timed this run in {fmt.number(entered)} of them."

    @property
    def note(self) -> str:
        """Origin of the times, and a warning if the run was recorded with another torch."""
        note = "Entries and times are torch's own, from the run's trace. A time includes what is called inside."
        recorded = self.report.setting.torch if self.report else ""
        if recorded and recorded.partition("+")[0] != _installed():
            note += f" The run was recorded with torch {plain(recorded)}; the source is that of {_installed()}."
        return f"{note} Select a place for its source."

    @cached_property
    def _times(self) -> dict[str, PhaseTotal]:
        return {total.name: total for total in phase_totals(self.report)} if self.report else {}

    @property
    def columns(self) -> tuple[Column[Landmark], ...]:
        """Columns of the table of landmarks; two of them are the run's."""
        return (
            Column("stop", lambda landmark: landmark.stop),
            Column("landmark", lambda landmark: landmark.name, width=260),
            Column("entered", self._entered, help="By torch's own timers; torch times some places alone", width=80),
            Column("time", self._time_s, fmt.duration_s, width=80, optional=True),
            Column("what it does", lambda landmark: landmark.what, width=320),
            Column("source", place_of, width=300),
        )

    def _entered(self, landmark: Landmark) -> str:
        if self.report is None:
            return ""
        total = self._times.get(landmark.phase)
        return fmt.count(total.count if total else 0, "time") if landmark.phase else NOT_TIMED

    def _time_s(self, landmark: Landmark) -> float | None:
        total = self._times.get(landmark.phase)
        return total.total_s if total else None

    def of(self, name: str) -> LandmarkView | None:
        """Return a landmark by its full name; None if there is none."""
        landmark = next((landmark for landmark in LANDMARKS if landmark.full_name == name), None)
        return LandmarkView(landmark, self._times.get(landmark.phase)) if landmark else None


@dataclass(frozen=True)
class LandmarkView:
    """A landmark with its times in the run; `total` is None if torch did not time it."""

    landmark: Landmark
    total: PhaseTotal | None

    @property
    def words(self) -> str:
        """Purpose of the landmark, the number of times that the run entered it, and the time."""
        what = f"{self.landmark.what[:1].upper()}{self.landmark.what[1:]}."
        if self.total is None:
            why = "Not entered in this run." if self.landmark.phase else "torch does not time it."
            return f"{what} {why}"
        times = fmt.count(self.total.count, "time")
        return f"{what} Entered {times}, {fmt.duration_s(self.total.total_s)} in all (phase `{self.landmark.phase}`)."

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """Yield the name, the words and the source; an installed version can lack the source."""
        yield Heading(self.landmark.full_name)
        yield Text(spans(self.words))
        source = landmark_source(self.landmark)
        if source is None:
            yield Text(spans(MISSING), "quiet")
        else:
            yield Listing(place_of(self.landmark), Code(source.text, first=source.line), is_open=True)


def _installed() -> str:
    """Return the version of the installed torch without its local part, such as `+cu128`."""
    return package_version("torch").partition("+")[0]


def place_of(landmark: Landmark) -> str:
    """Return the file and line of a landmark, or a note that the installed version lacks it.

    The path begins with the directory of the package.
    """
    source = landmark_source(landmark)
    if source is None:
        return MISSING
    package, parts = landmark.module.partition(".")[0], source.path.parts
    below = parts[len(parts) - 1 - parts[::-1].index(package) :]
    return f"{'/'.join(below)}:{source.line}"
