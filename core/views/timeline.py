"""Timeline page: a profile joined to a run's log, its kernels, idle time, and a selected area."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import msgspec

from core.analysis.durations import Cause, IdleTime
from core.analysis.profile import JoinedProfile, KernelSlice, ProfileArea, SliceSum, sum_area
from core.base import words as fmt
from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.base.files import regular
from core.report import Kernel, Report
from core.report.run import NOT_RECORDED, ProfileSlice, SliceKind
from core.runs.limits import Limits
from core.runs.store import Run
from core.runs.stored import open_profile, profile_path
from core.trace.profile import MOST_PROFILE_BYTES
from core.views.blocks import (
    Beside,
    Column,
    Drawn,
    Heading,
    PageBlock,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line, prose

# Parts that the page draws: buttons, the chart, and tables whose rows open a kernel.
RECORD, ADD, ANOTHER = "record-profile", "add-profile", "another-profile"
TRACKS, SLICES = "timeline", "slices"
OTHER = "other"
LIVE = "A profile can be added once the run has ended."
NO_PROFILE = "This run has no profile."
NO_ORIGINS = (
    "Your lines, and FX nodes of kernels other than Triton's, were not recorded: set `INDUCTOR_PROVENANCE=1` beside "
    "`TORCH_TRACE`."
)
HOW = (
    "Record one with `--profile`. For a log of your own: profile the compiled calls with `torch.profiler.profile()` in "
    'the process that writes the log. Save with `export_chrome_trace("profile.json.gz")`. Upload the file here, or run '
    "`python -m core profile RUN profile.json.gz`."
)
MOST_ROWS = 500  #: limit: rows of a table of a profile's kernels or slices
MOST_NODES = 6  #: FX nodes of a kernel that are named
MOST_TEXT_CHARS = 100  #: a selected area in the URL
IDLE_NOTE = (
    "An estimate: a gap is blamed on what the thread did in it that started the next slice. The profiler slows the "
    "host, so that gaps are longer than without it."
)
NO_KERNELS = (
    "The profile shows eager code, kernels that a C++ wrapper calls without an op, or a process other than the log's."
)
NO_SLICE = "No slice is in it."
OF_KERNEL = "The kernel, if its name is another one, or the number of kernels."
OF_SHARE = "Of the selected time. Slices inside one another, or of several tracks, are more than all of it."
JOINED_BY = (
    "name: the slice has the kernel's name. op: the op that launched it has the kernel's place in the output code. "
    "order: it lies between two kernels that are known."
)
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


def timeline(report: Report, profile: TimelineView | None) -> Iterator[PageBlock]:
    """Yield the profile of a run: tracks, kernels and idle time; without one, how to get one."""
    if profile is None:
        yield Title(spans(NO_PROFILE), GLOSSARY["profile"])
        yield from paragraph(prose(failed_profile(report), LONGEST_TEXT), "warn")
        yield from paragraph(HOW)
        yield from (Drawn(RECORD), Drawn(ADD))
        return
    yield Title(spans(profile.title), GLOSSARY["profile"])
    yield from paragraph(profile.problems, "warn")
    yield Drawn(TRACKS, tuple(paragraph(profile.track_words, "quiet")), (profile,))
    idle = (Heading("Idle time"), *_idle(profile.joined.idle), *paragraph(IDLE_NOTE, "quiet"), Drawn(ANOTHER))
    yield Beside((Heading("Kernels"), *profile.kernels), idle, shares=(3, 2))


class SliceRow(NamedTuple):
    """Slices of one kernel, or of one name; `kernel_id` is empty for slices without a kernel."""

    name: str
    kernel_id: str
    slices: int
    total_s: float
    compilation: str = ""
    origins: str = ""
    line: str = ""
    how: str = ""
    kind: str = ""
    kernel: str = ""
    self_s: float = 0.0
    share: float = 0.0


class TimelineSpan(NamedTuple):
    """A slice to draw.

    `number` is its index in the profile, `kind` selects its colour, `row` is its row in the chart, and `kernel`
    is the id of its kernel, empty without one.
    """

    number: int
    label: str
    kind: str
    start_us: float
    length_us: float
    row: int
    kernel: str


@dataclass(frozen=True)
class TimelineView:
    """A profile joined to the report of its log."""

    joined: JoinedProfile
    report: Report

    @property
    def title(self) -> str:
        """Number of slices joined to a kernel, and the share of time in which the device was busy.

        If the profile has no device, this is the share of time in which compiled graphs ran.
        """
        compiled, known = len(self.joined.compiled), len(self.joined.joined)
        what = "kernel" if self.joined.profile.has_device else "kernel and op"
        of_compiled = (
            f"{fmt.number(known)} of {fmt.count(compiled, f'{what} slice')} of compiled graphs have their kernel"
        )
        parts = [of_compiled if compiled else "No slice is a kernel of a compiled graph"]
        whole_s = self.joined.busy_s + self.joined.idle_s
        if whole_s:
            busy = "the device was busy" if self.joined.profile.has_device else "compiled graphs ran"
            parts.append(f"{busy} for {fmt.percent(self.joined.busy_s / whole_s)} of {fmt.duration_s(whole_s)}")
        return "; ".join(parts) + "."

    @property
    def problems(self) -> str:
        """Parts of the file that could not be read, counted; empty if there are none."""
        found = self.joined.profile.problems
        return ". ".join(f"Not read: {fmt.number(count)} × {what}" for what, count in found.items())

    @property
    def kernels(self) -> Iterator[PageBlock]:
        """The kernels of compiled graphs that have slices, longest total time first."""
        rows = [self._kernel_row(compilation, kernel, pieces) for (compilation, kernel), pieces in self._groups]
        if not rows:
            yield from paragraph(NO_KERNELS)
            return
        table = Table("timeline-kernels", KERNEL_COLUMNS, rows)
        yield Drawn(SLICES, (table,), (self, table))
        has_origins = any((kernel.extern and kernel.origins) or kernel.stacks for kernel in self._kernels.values())
        yield from paragraph("" if has_origins or not self._kernels else NO_ORIGINS, "quiet")

    @cached_property
    def _groups(self) -> list[tuple[tuple[str, str], list[KernelSlice]]]:
        """Slices by compilation and kernel (a slice without a kernel by its name), most time first."""
        groups: dict[tuple[str, str], list[KernelSlice]] = defaultdict(list)
        for piece in self.joined.compiled:
            groups[piece.compilation, piece.kernel or self._slice(piece.index).name].append(piece)
        return sorted(groups.items(), key=lambda group: -self._total_us(group[1]))[:MOST_ROWS]

    def _total_us(self, pieces: list[KernelSlice]) -> float:
        return sum(self._slice(piece.index).length_us for piece in pieces)

    def _kernel_row(self, compilation: str, kernel: str, pieces: list[KernelSlice]) -> SliceRow:
        known = self.kernel(kernel)
        place = known.stacks[-1] if known and known.stacks else None
        return SliceRow(
            one_line(known.name if known else self._slice(pieces[0].index).name, LONGEST_LINE),
            kernel if known else "",
            len(pieces),
            self._total_us(pieces) / 1e6,
            f"[{compilation}]" if compilation else "",
            one_line(fmt.first_of(known.origins, MOST_NODES), LONGEST_LINE) if known else "",
            one_line(place.short, LONGEST_NAME) if place else "",
            " and ".join(sorted({str(piece.how) for piece in pieces if piece.how})) or "nothing",
        )

    def kernel(self, kernel_id: str) -> Kernel | None:
        """Return a kernel of the report; None if there is none."""
        return self._kernels.get(kernel_id)

    def kernel_at(self, number: str) -> str:
        """Return the id of the kernel of a slice, by the slice's number; empty if it has none."""
        return next((piece.kernel for piece in self.joined.joined if str(piece.index) == number), "")

    def compilation_of(self, kernel_id: str) -> str:
        """Return the id of a kernel's compilation; empty if there is none."""
        return self._owners.get(kernel_id, "")

    @property
    def tracks(self) -> list[str]:
        """The name of each track of the chart, from the top."""
        return [one_line(f"{track.device} {track.name}".strip(), LONGEST_NAME) for track in self.joined.profile.tracks]

    def spans(self, most: int) -> list[TimelineSpan]:
        """Return the slices to draw, in the profile's order; at most `most`, the longest."""
        slices = self.joined.profile.slices
        chosen = sorted(range(len(slices)), key=lambda index: -slices[index].length_us)[:most]
        return [self._span(index) for index in sorted(chosen)]

    def area(self, place: tuple[float, float, int, int]) -> AreaView:
        """Return the sums over an area: start and end in microseconds, first and last row of the chart."""
        area = TimelineArea(*place)
        rows = range(area.first_row, area.last_row + 1)
        chosen = tuple(index for index in range(len(self.joined.profile.slices)) if self._row(index) in rows)
        return AreaView(self, area, chosen, self._kernels)

    @property
    def track_words(self) -> str:
        """The tracks from the top of the chart."""
        return f"From the top: {' · '.join(self.tracks)}"

    @property
    def rows(self) -> int:
        """The number of rows of the chart."""
        return sum(self._heights.values())

    def _span(self, index: int) -> TimelineSpan:
        piece, known = self._slice(index), self._by_index.get(index)
        kind = self._kind(piece, known)
        return TimelineSpan(
            index,
            one_line(piece.name, LONGEST_LINE),
            kind,
            piece.start_us,
            piece.length_us,
            self._row(index),
            known.kernel if known else "",
        )

    def _row(self, index: int) -> int:
        return self._tops[self._slice(index).track] + self.joined.depths[index]

    def _kind(self, piece: ProfileSlice, known: KernelSlice | None) -> str:
        """Return the kind of a slice's colour: `kernel` for every slice joined to a kernel, even an op."""
        if known is not None and known.kernel:
            return "kernel"
        return OTHER if piece.kind == "kernel" and known is not None else piece.kind

    def _slice(self, index: int) -> ProfileSlice:
        return self.joined.profile.slices[index]

    @cached_property
    def _by_index(self) -> dict[int, KernelSlice]:
        return {piece.index: piece for piece in self.joined.kernels}

    @cached_property
    def _kernels(self) -> dict[str, Kernel]:
        return {kernel.id: kernel for compilation in self.report.compilations for kernel in compilation.kernels}

    @cached_property
    def _owners(self) -> dict[str, str]:
        return {kernel.id: compilation.id for compilation in self.report.compilations for kernel in compilation.kernels}

    @cached_property
    def _heights(self) -> dict[int, int]:
        heights = dict.fromkeys(range(len(self.joined.profile.tracks)), 1)
        for index, piece in enumerate(self.joined.profile.slices):
            heights[piece.track] = max(heights[piece.track], self.joined.depths[index] + 1)
        return heights

    @cached_property
    def _tops(self) -> dict[int, int]:
        tops, top = {}, 0
        for track, height in self._heights.items():
            tops[track] = top
            top += height
        return tops


def most_bytes(limits: Limits) -> int:
    """Return the largest size of a profile that may be uploaded."""
    return min(limits.upload_bytes, MOST_PROFILE_BYTES)


def failed_profile(report: Report) -> str:
    """Return why a requested profile is missing; empty if it is there or was not requested."""
    return next((note for note in report.notes if note.startswith(NOT_RECORDED)), "")


def timeline_stamp(run: Run) -> int | None:
    """Return a number that changes with a run's profile; None if it has none."""
    status = regular(profile_path(run))
    return status.st_mtime_ns if status else None


def timeline_view(run: Run, report: Report) -> TimelineView | None:
    """Return a run's profile; None if it has none. Raises StoreError."""
    joined = open_profile(run, report)
    return None if joined is None else TimelineView(joined, report)


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
    """Return the area in a URL; None if the text is no area."""
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

    profile: TimelineView
    area: TimelineArea
    chosen: tuple[int, ...] = field(repr=False)
    kernels: Mapping[str, Kernel] = field(repr=False)

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """The selected time, a table of its slices, and its idle time."""
        yield Heading("Selected area")
        yield from paragraph(self.title)
        table = Table("timeline-area", AREA_COLUMNS, self.rows)
        if not table.rows:
            yield from paragraph(NO_SLICE)
            return
        more = len(self._sums.sums) - len(table.rows)
        note = paragraph(f"{fmt.count(more, 'more name')} with less time." if more else "", "quiet")
        slices = Drawn(SLICES, (table,), (self.profile, table))
        yield Beside((slices, *note), tuple(_idle(self._sums.idle)), shares=(3, 2))

    @cached_property
    def _sums(self) -> ProfileArea:
        return sum_area(self.profile.joined, (self.area.from_us, self.area.to_us), self.chosen)

    @property
    def title(self) -> str:
        """The selected time, and the parts of it in which the device and the host were busy."""
        sums = self._sums
        busy, idle, host = (self._part(seconds) for seconds in (sums.busy_s, sums.idle_s, sums.host_s))
        ran = (
            f"the device was busy for {busy} and idle for {idle}"
            if self.profile.joined.profile.has_device
            else f"compiled graphs ran for {busy}, with {idle} between them"
        )
        return f"{fmt.duration_s(sums.length_s)} selected: {ran}; the host was in ops and launches for {host}."

    def _part(self, seconds: float) -> str:
        return f"{fmt.duration_s(seconds)} ({fmt.percent(seconds / self._sums.length_s)})"

    @property
    def rows(self) -> list[SliceRow]:
        """A row for each name of slices, the most time first; slices of several kernels open none of them."""
        return [
            SliceRow(
                one_line(entry.name, LONGEST_LINE),
                entry.kernels[0] if len(entry.kernels) == 1 else "",
                entry.slices,
                entry.total_s,
                kind="kernel" if entry.kernels else KINDS.get(entry.kind, entry.kind),
                kernel=self._kernel_words(entry),
                self_s=entry.own_s,
                share=entry.total_s / self._sums.length_s,
            )
            for entry in self._sums.sums[:MOST_ROWS]
        ]

    def _kernel_words(self, entry: SliceSum) -> str:
        """Return the number of kernels if there are several, or the kernel's name; empty if it adds nothing."""
        if len(entry.kernels) > 1:
            return fmt.count(len(entry.kernels), "kernel")
        known = self.kernels.get(entry.kernels[0]) if entry.kernels else None
        return one_line(known.name, LONGEST_LINE) if known and known.name != entry.name else ""


def _idle(times: Sequence[IdleTime]) -> Iterator[PageBlock]:
    """Yield a table of the causes of idle time, unless there is none."""
    whole_s = sum(time.seconds for time in times)
    share: Column[IdleTime] = Column("share", lambda time: time.seconds / whole_s, fmt.percent)
    if times:
        yield Table("idle", (*IDLE_COLUMNS, share, IDLE_GAPS), times)


IDLE_COLUMNS: tuple[Column[IdleTime], ...] = (
    Column("while", lambda time: CAUSES[time.cause], width=200),
    Column("idle", lambda time: time.seconds, fmt.duration_s),
)
IDLE_GAPS: Column[IdleTime] = Column("gaps", lambda time: time.gaps, fmt.number)
KERNEL_COLUMNS: tuple[Column[SliceRow], ...] = (
    Column("kernel", lambda row: row.name, width=260),
    Column("compilation", lambda row: row.compilation),
    Column("slices", lambda row: row.slices, fmt.number),
    Column("total", lambda row: row.total_s, fmt.duration_s),
    Column("each", lambda row: row.total_s / row.slices, fmt.duration_s),
    Column("FX nodes", lambda row: row.origins, optional=True),
    Column("your line", lambda row: row.line, optional=True),
    Column("joined by", lambda row: row.how, help=JOINED_BY),
)
AREA_COLUMNS: tuple[Column[SliceRow], ...] = (
    Column("slice", lambda row: row.name, width=240),
    Column("kind", lambda row: row.kind, width=90),
    Column("kernel", lambda row: row.kernel, help=OF_KERNEL, width=120),
    Column("slices", lambda row: row.slices, fmt.number),
    Column("total", lambda row: row.total_s, fmt.duration_s, "Time in the selected area, cut off at its edges."),
    Column("self", lambda row: row.self_s, fmt.duration_s, "Without the slices inside it."),
    Column("share", lambda row: row.share, fmt.percent, OF_SHARE),
)
