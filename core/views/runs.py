"""Lists of a store's runs, and recordings of the gallery.

`RunLists` finds runs by text, name, model or job. `RunListView` is a page of a search.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import msgspec

from core.analysis.verdict import Summary
from core.base import words as fmt
from core.base.errors import CompileboardError, StoreError
from core.job import CompileJob
from core.job.model import REPAIRED
from core.runs.comments import set_pinned, set_tags, tags_of, talk_of
from core.runs.index.database import QUICK_S, IndexProgress, RunIndex
from core.runs.index.entry import IndexedRun, read_entry
from core.runs.index.query import NEWEST_FIRST, RunQuery
from core.runs.index.query import Viewer as Viewer
from core.runs.recordings import Recording
from core.runs.retention import keep_retaining as keep_retaining
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import Comparable, comparable_runs, open_summary
from core.sweep.runner import RecordedSweep
from core.views.markdown import LONGEST_LINE, one_line
from core.views.speedup import seen_words
from core.views.verdict import summary_breaks

PAGE_RUNS = 100
MOST_SAME_MODEL = 200  #: runs of the same model offered for comparison
MOST_ATTEMPTS = 1_000  #: attempts at exercises
MOST_MODELS = 100  #: models offered for the chart over time
# The report of a larger log is not read for a list.
LARGEST_LOG_BYTES = 4_000_000  #: a log that is read for a list of runs
SPEEDUP = "speedup"
COLUMN_HELP = {
    SPEEDUP: "Eager over compiled in the steady state, with its 99 % interval",
    "doubt": "Why the speedup is not measurable or not reliable, and whether graph breaks are recorded",
    "breaks": "Graph breaks",
    "result": "Compiled against eager",
    "memory": "Peak memory of the run's processes",
}
PIN_HELP = "A pinned run cannot be deleted."
DELETE_WARNING = "Deleted runs cannot be brought back."


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in a list, with its entry in the index."""

    run: Run
    entry: IndexedRun

    @property
    def id(self) -> str:
        """The run's id, with the rank if one is shown."""
        return self.run.id

    @property
    def status(self) -> Status:
        """The run's status."""
        return self.entry.status

    @property
    def summary(self) -> Summary | None:
        """The summary of the report; None if it was not read yet."""
        return self.entry.summary

    @property
    def pair(self) -> tuple[Run, Status]:
        return self.run, self.status

    @property
    def title(self) -> str:
        """The owner's name for the run, otherwise its title."""
        return self.entry.title

    @property
    def marks(self) -> list[str]:
        """The number of ranks if there are several, otherwise a note if its files are only in the archive."""
        if self.entry.ranks > 1:
            return [fmt.count(self.entry.ranks, "rank")]
        return ["in the archive"] * (self.entry.archived == "away")

    @property
    def detail(self) -> str:
        """The run's settings and its time, to distinguish runs of the same title."""
        made = time.localtime(self.status.created_s)
        today = made[:3] == time.localtime()[:3]
        at = time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S", made)
        return " · ".join([*self.entry.details, at])

    @property
    def label(self) -> str:
        """The run in one line: its title, its settings, and its time."""
        return one_line(f"{self.title} · {self.detail}", LONGEST_LINE)

    @property
    def line(self) -> str:
        """The run as a line of text for the command line: its id, state, ratio, title, settings and marks."""
        marks = [f"#{tag}" for tag in self.entry.tags] + ["pinned"] * self.entry.pinned
        words = one_line(" · ".join([self.title, *self.entry.details, *marks]), LONGEST_LINE)
        return f"{self.id:<40}  {self.status.state:<11}  {self.speedup:<22}  {words}"

    @property
    def data(self) -> dict[str, Any]:
        """The run as JSON: its entry in the index, without the fields that only the index uses."""
        data = msgspec.to_builtins(self.entry)
        return {name: value for name, value in data.items() if name not in ("stamp", "is_open", "tools")}

    @property
    def result(self) -> str:
        """The ops, kernels and significant speedup as a short text; `last run` if none is known."""
        summary = self.summary or Summary()
        ops = (
            f"{fmt.number(summary.ops)} → {fmt.count(summary.kernels, 'kernel')}"
            if summary.ops is not None and summary.kernels is not None
            else ""
        )
        interval = summary.speed.interval if summary.speed and summary.speed.clear else None
        return " · ".join(filter(None, (ops, fmt.ratio(interval.middle) if interval else ""))) or "last run"

    @property
    def speedup(self) -> str:
        """The ratio as text; empty if there is none."""
        return seen_words(self.summary.speed) if self.summary and self.summary.speed else ""

    @property
    def doubt(self) -> str:
        """The reason why the ratio is missing or unreliable, and whether the breaks are a lower bound.

        Empty if the ratio is reliable or not measured, and all breaks are recorded.
        """
        if self.summary is None:
            return ""
        speed = self.summary.speed
        of_speed = "" if speed is None else speed.unknown or speed.disturbed
        is_partial = self.summary.more_breaks or self.summary.breaks is None
        return "; ".join(filter(None, (of_speed, summary_breaks(self.summary) if is_partial else "")))


def delete_label(runs: int) -> str:
    """Return the label of a button that deletes runs."""
    return f"Delete {fmt.count(runs, 'run')}"


def audience_help(what: str) -> str:
    """Return the note about the people who see every run or sweep."""
    return f"The owner of this server and its admins see every {what}."


def picture_words(title: str) -> str:
    """Return the description of a picture of a model's graph."""
    return f"The graph of {title}"


def marks_words(run: Run) -> str:
    """Return the marks of a run: its tags, whether it is pinned, and its open threads."""
    threads = talk_of(run).open_threads
    marks = [*tags_of(run), *["pinned"] * run.pinned, *([fmt.count(threads, "open thread")] if threads else [])]
    return " · ".join(marks) or "no tags, no open threads, not pinned"


def size_words(runs: Sequence[ListedRun], done: str = "") -> str:
    """Return the number of runs, what was done to them, and their bytes."""
    size = sum(run.entry.size_bytes or 0 for run in runs)
    return f"{fmt.count(len(runs), 'run')}{done}, {fmt.bytes_(size)}"


def freed_words(runs: int, done: str, freed_bytes: int) -> str:
    """Return the number of runs that were moved or deleted, and the bytes that this freed."""
    return f"{fmt.count(runs, 'run')} {done}, {fmt.bytes_(freed_bytes)} freed"


def rank_label(run: Run) -> str:
    """Return the label of another rank of a shown run."""
    return f"rank {run.rank} of this run"


@dataclass(frozen=True, slots=True)
class RunListView:
    """A page of the runs that a search text matches; pages are numbered from 1."""

    runs: tuple[ListedRun, ...]
    total: int
    page: int
    progress: IndexProgress
    problems: tuple[str, ...] = ()

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-self.total // PAGE_RUNS))

    @property
    def words(self) -> str:
        """The number of matching runs, and the range of shown runs if there are several pages."""
        if not self.runs or self.pages == 1:
            return self.total_words
        first = (self.page - 1) * PAGE_RUNS + 1
        return f"{fmt.number(first)}–{fmt.number(first + len(self.runs) - 1)} of {fmt.count(self.total, 'run')}"

    @property
    def total_words(self) -> str:
        """The number of matching runs."""
        return fmt.count(self.total, "run") if self.total else "No run matches"

    @property
    def listed_words(self) -> str:
        """The number of matching runs, and of those that a list on the command line has."""
        listed = f", {fmt.number(len(self.runs))} listed (--most N)" if len(self.runs) < self.total else ""
        return f"{self.total_words}{listed}"

    @property
    def indexing(self) -> str:
        """Progress of the index; empty if it has every run."""
        if self.progress.complete:
            return ""
        done, total = map(fmt.number, (self.progress.indexed, self.progress.total))
        return f"Indexing runs, newest first: {done} of {total}. Older runs are not listed yet."

    @property
    def in_memory(self) -> str:
        """The reason why the index is not shared with other processes; empty for a shared index."""
        problem = self.progress.problem
        return f"The index of runs is in memory alone, and is made again at each start: {problem}." if problem else ""


@dataclass(frozen=True, slots=True)
class RecordedRuns:
    """The recorded runs and sweeps of the gallery; `titles` are the titles of the samples."""

    note: ClassVar[str] = (
        "Runs of the samples on a real device, at sizes that fill it: graphs, kernels, binaries and times are what "
        "torch recorded there. A click opens one."
    )
    column_help: ClassVar[Mapping[str, str]] = {SPEEDUP: "Eager over compiled, where a difference was seen"}

    recorded: tuple[RecordedSweep | Recording, ...]
    titles: Mapping[str, str]

    @staticmethod
    def gallery_title(recordings: Iterable[Recording]) -> str:
        """Return the gallery's title with its devices; empty without recordings."""
        devices = dict.fromkeys(recording.device for recording in recordings)
        return f"Recorded on {', '.join(devices)}" if devices else ""

    @property
    def _origins(self) -> list[str]:
        """Device, torch and date of each recording."""
        return [_first(each).words.removeprefix("recorded on ") for each in self.recorded]

    @property
    def origin(self) -> str:
        """Device, torch and date of all recordings; empty if recordings differ, or without recordings."""
        origins = set(self._origins)
        first = next(iter(origins), "")
        return f"All of them: {first}." if origins == {first} else ""

    @property
    def rows(self) -> list[dict[str, object]]:
        """A row for each recording: its model, speedup, subject and verdict, and its origin if origins differ."""
        is_one = bool(self.origin)
        return [
            {
                "model": self.titles[_first(each).job.model.value],
                SPEEDUP: each.speedup if isinstance(each, Recording) else None,
                "shows": each.kind if isinstance(each, Recording) else f"sweep: {each.preset}",
                "what torch.compile made of it": _recorded_words(each),
                **({} if is_one else {"recorded": origin}),
            }
            for each, origin in zip(self.recorded, self._origins, strict=True)
        ]


def _first(recorded: RecordedSweep | Recording) -> Recording:
    return recorded if isinstance(recorded, Recording) else recorded.cells[0]


def _recorded_words(recorded: RecordedSweep | Recording) -> str:
    if isinstance(recorded, Recording):
        return recorded.sentence
    return f"{fmt.count(len(recorded.cells), 'run')}, {recorded.axis.field} {', '.join(recorded.axis.named())}"


class RunLists:
    """Lists of one store's runs; a `viewer` argument limits a list to the runs visible to that visitor."""

    def __init__(self, index: RunIndex) -> None:
        self.index = index

    def every(self, text: str, most: int) -> RunListView:
        """Return up to `most` runs that a text matches, after bringing the index fully up to date."""
        progress, query = self.index.refresh(), RunQuery.of(text)
        return RunListView(*self._some(query, most), 1, progress, query.problems)

    def search(self, text: str, page: int = 1, viewer: Viewer | None = None, within_s: float = QUICK_S) -> RunListView:
        """Return a page of the runs that a text matches, or page 1, after updating for `within_s`."""
        progress = self.index.refresh(within_s)
        query = RunQuery.of(text).visible(viewer)
        first = self._some(query, PAGE_RUNS, (page - 1) * PAGE_RUNS)
        if page > 1 and not first[0]:
            page, first = 1, self._some(query, PAGE_RUNS)
        return RunListView(*first, page, progress, query.problems)

    def newest(self, most: int, viewer: Viewer | None = None, within_s: float = QUICK_S) -> tuple[ListedRun, ...]:
        """Return the newest runs."""
        self.index.refresh(within_s)
        return self._some(RunQuery().visible(viewer), most)[0]

    def of_titles(
        self, titles: Iterable[str], viewer: Viewer | None = None, most: int = MOST_ATTEMPTS
    ) -> tuple[ListedRun, ...]:
        """Return the newest runs with these titles."""
        self.index.refresh(QUICK_S)
        return self._some(_titled(titles).visible(viewer), most)[0]

    def last_done(self, titles: Iterable[str], viewer: Viewer | None = None) -> dict[str, ListedRun]:
        """Return the newest finished run of each title, sweep cells excluded."""
        self.index.refresh(QUICK_S)
        done = RunQuery().also("state = 'done' AND NOT cell").visible(viewer)
        newest = {title: self._some(done.also("title = ?", title), 1)[0] for title in titles}
        return {title: runs[0] for title, runs in newest.items() if runs}

    def newest_of(self, fingerprint: str, viewer: Viewer | None = None) -> ListedRun | None:
        """Return the newest run with a job's fingerprint; None if there is none."""
        self.index.refresh(QUICK_S)
        runs, _ = self._some(RunQuery().also("fingerprint = ?", fingerprint).visible(viewer), 1)
        return next(iter(runs), None)

    def comparable(
        self, run: Run, title: str, job: CompileJob | None, viewer: Viewer | None = None
    ) -> tuple[Comparable, ...]:
        """Return the ended runs of the same model; related runs come first.

        A related run tests a fix of this run, or is the run whose fix this run tests.
        """
        plain = title.removesuffix(REPAIRED)
        listed = list(self.of_titles({plain, f"{plain}{REPAIRED}"}, viewer, MOST_SAME_MODEL))
        if job is not None and job.repairs_of:
            listed += self._some(RunQuery().also("id = ?", job.repairs_of).visible(viewer), 1)[0]
        pairs = {each.id: each.pair for each in listed}
        return comparable_runs(tuple(pairs.values()), run, title, job)

    def shown(self, run_id: str) -> ListedRun | None:
        """Return any run by its id, with the rank of the id; None if there is no such run."""
        indexed, _ = self._some(RunQuery().also("id = ?", run_id), 1)
        if indexed:
            return indexed[0]
        try:
            run = self.index.store.open(run_id)
        except StoreError:
            return None
        entry = read_entry(run)
        return ListedRun(run, entry) if entry is not None else None

    def with_summaries(self, listed: Sequence[ListedRun], within_s: float) -> tuple[tuple[ListedRun, ...], bool]:
        """Return the runs with their summaries, and True if time ran out before all summaries were made.

        Missing summaries are made for about `within_s` seconds and stored. The report of a large log is not read
        here, but when its run is opened.
        """
        end_s, late, made = time.monotonic() + within_s, False, {}
        for each in listed:
            if each.summary is not None or not _is_small(each):
                continue
            if time.monotonic() > end_s:
                late = True
                break
            with suppress(CompileboardError, OSError):
                made[each.id] = replace(each, entry=replace(each.entry, summary=open_summary(each.run)))
        if made:
            self.index.update(made)
        return tuple(made.get(each.id, each) for each in listed), late

    def tag(self, run: Run, text: str) -> None:
        """Set the tags of a run: the words of a text, with spaces or commas between them. Raises StoreError."""
        set_tags(run, text.replace(",", " ").split())

    def pin(self, run: Run, pinned: bool) -> None:
        """Pin or unpin a run; a pinned run can't be deleted. Raises StoreError."""
        set_pinned(run, pinned)

    def models(self, text: str = "", viewer: Viewer | None = None) -> dict[str, int]:
        """Return title → number of the ended runs that a text matches, most runs first."""
        return self.index.titles(RunQuery.of(text).visible(viewer).also("NOT live"), MOST_MODELS)

    def of_model(
        self, model: str, most: int, text: str = "", viewer: Viewer | None = None
    ) -> tuple[tuple[ListedRun, ...], int]:
        """Return the newest ended runs of a model's title that a text matches, and the number of all."""
        query = RunQuery.of(text).visible(viewer).also("title = ? AND NOT live", model)
        return self._some(replace(query, order=NEWEST_FIRST), most)

    def _some(self, query: RunQuery, most: int, offset: int = 0) -> tuple[tuple[ListedRun, ...], int]:
        page = self.index.search(query, most, offset)
        return tuple(ListedRun(self.index.run(entry.id), entry) for entry in page.runs), page.total


def _titled(titles: Iterable[str]) -> RunQuery:
    values = tuple(titles)
    return RunQuery().also(f"title IN ({', '.join('?' * len(values))})", *values)


def _is_small(listed: ListedRun) -> bool:
    if listed.status.live or listed.status.state == "damaged":
        return False
    log = listed.run.log_path()
    try:
        return log is not None and log.stat().st_size <= LARGEST_LOG_BYTES
    except OSError:
        return False
