"""Ranks of a run, for pages and the command line: the verdict, the differences of groups, and tables."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import NamedTuple

from core.analysis.ranks.groups import RankGroup, Ranks, RankSide
from core.base import words as fmt
from core.report.run import Fingerprint
from core.runs.ranks import is_quick, open_ranks, rank_side, ranks_read, start_reading_ranks
from core.runs.store import Run
from core.views.blocks import (
    Code,
    Column,
    Data,
    Heading,
    Listing,
    PageBlock,
    PageLink,
    Pane,
    Panes,
    Table,
    Text,
    Title,
    paragraph,
    spans,
)
from core.views.markdown import LONGEST_LINE, one_line, plain
from core.views.ranks.difference import (
    ABSENT,
    MOST_COLUMNS,
    MOST_ROWS,
    DifferenceView,
    Row,
    cache_cell,
    collective_table,
    column_title,
    compilation_cell,
    compilation_table,
    ranks_words,
    table,
    tensor_cell,
    with_small_start,
)

NO_RANKS: tuple[PageBlock, ...] = (
    Title(spans("This run has one rank")),
    Text(spans("This run has the log of one process. Start a distributed job with one trace directory for all ranks:")),
    Listing("Command", Code("TORCH_TRACE=/shared/trace torchrun --nproc-per-node 8 train.py", "text"), is_open=True),
    Text(spans("Then open the directory, or a ZIP file of it, on the page New run.")),
    PageLink("new_run"),
)
PHASES_NOTE = (
    "Seconds by torch's own compilation metrics, summed over a rank's compilations. A phase includes the phases inside "
    "it. Times are no part of the comparison."
)
COLLECTIVES_NOTE = (
    "In the order of the graph, from its latest stage, or one in which the groups differ. Collectives outside the "
    "graphs, such as those of DDP and FSDP, are not in the log."
)
NO_TENSORS = (
    "Tensor metadata and estimated run times are not recorded. `LOG_TLPARSE=1` (Inductor's `config.log_tlparse`) "
    "records them."
)
# The selected group that differs, and the selected table.
GROUP, TABLE = "group", "ranks"
DIFFERENT_ORDERS = "The groups executed their graphs in different orders."


class PhaseOfRanks(NamedTuple):
    """Seconds of a phase: the median of the ranks, and the slowest rank."""

    name: str
    median_s: float
    slowest_s: float
    slowest: int


def ranks(view: RanksView) -> Iterator[PageBlock]:
    """Yield the ranks of a run: the difference of each group from the largest, groups, and tables."""
    yield Title(spans(view.title))
    for sentence in view.unread:
        yield Text(spans(sentence), "warn")
    if view.differences:
        groups = (Pane(str(each.group.rank), each.label, partial(_difference, each)) for each in view.differences)
        yield Panes(GROUP, "Group", tuple(groups), is_list=True)
    if len(view.ranks.groups) > 1:
        yield Heading("Groups")
        views = {each.group.rank: each for each in view.differences}
        rows = [(place, group, views.get(group.rank)) for place, group in enumerate(view.ranks.groups[:MOST_ROWS])]
        yield Table("groups", GROUP_COLUMNS, rows)
    yield Panes(TABLE, "Table", tuple(_tables(view)), (Data("ranks", view.data),))
    yield from paragraph(view.left_out, "quiet")


def _difference(view: DifferenceView) -> Iterator[PageBlock]:
    yield from view.blocks


def _tables(view: RanksView) -> Iterator[Pane]:
    yield Pane(
        "compilations",
        "Compilations",
        lambda: table("compilations", compilation_table(view.columns, compilation_cell), "No compilation is recorded."),
    )
    yield Pane(
        "caches",
        "Caches",
        lambda: table("caches", compilation_table(view.columns, cache_cell), "No cache outcome is recorded."),
    )
    yield Pane("collectives", "Collectives", lambda: _collectives(view))
    yield Pane("tensors", "Tensors and estimates", lambda: _tensors(view))
    yield Pane("seconds", "Seconds by phase", lambda: _seconds(view))


def _collectives(view: RanksView) -> Iterator[PageBlock]:
    yield from table("collectives", collective_table(view.columns), "No graph has a collective.")
    yield from paragraph(COLLECTIVES_NOTE, "quiet")


def _tensors(view: RanksView) -> Iterator[PageBlock]:
    rows = compilation_table(view.columns, tensor_cell)
    yield from table("tensors", [row for row in rows if any(row[name] != ABSENT for name in view.columns)], NO_TENSORS)
    yield from paragraph(view.execution)


def _seconds(view: RanksView) -> Iterator[PageBlock]:
    phases = [*view.phases]
    if not phases:
        yield from paragraph("No compile times are recorded.")
        return
    yield Table("seconds", PHASE_COLUMNS, phases)
    yield from paragraph(PHASES_NOTE, "quiet")


class RanksView:
    """The ranks of a run in groups; the first group, the largest, is the reference."""

    def __init__(self, ranks: Ranks, side_of: Callable[[int], RankSide]) -> None:
        self.ranks = ranks
        self._side_of = side_of

    @property
    def count(self) -> int:
        """The number of ranks that were read."""
        return sum(len(group.ranks) for group in self.ranks.groups)

    @property
    def title(self) -> str:
        """The verdict in one sentence, as Markdown."""
        groups = self.ranks.groups
        if not groups:
            return "No rank's log could be read."
        if len(groups) == 1:
            return f"{fmt.count(self.count, 'rank')}, all alike." if self.count > 1 else "1 rank was read."
        first = next(iter(self.differences), None)
        alike = f"{fmt.number(len(groups[0].ranks))} of {fmt.number(self.count)} ranks alike"
        if len(groups) > 2 and len(groups[0].ranks) == 1 and first is not None:
            who = f"rank {groups[0].rank} and {with_small_start(first.who)}"
            return f"No two of the {fmt.number(self.count)} ranks are alike; {who} differ {_from(first)}."
        if len(groups) > 2 or first is None:
            code_groups = sum(not group.only_caches for group in groups[1:])
            caches = "" if code_groups else ", in caches alone"
            return f"{alike}; the others differ in {fmt.count(len(groups) - 1, 'way')}{caches}."
        if len(groups[0].ranks) == 1:
            return f"The two ranks differ {_from(first)}."
        verb = fmt.agree(len(first.group.ranks), "differs", "differ")
        return f"{alike}; {with_small_start(first.who)} {verb} {_from(first)}."

    @property
    def unread(self) -> list[str]:
        """A sentence for each rank that was not read, at most 20, and a sentence about incomplete logs."""
        problems = [f"Rank {row.rank} was not read: {plain(row.problem)}." for row in self.ranks.rows if row.problem]
        cut = tuple(row.rank for row in self.ranks.rows if row.is_cut)
        more = [f"The last record is not whole in the log of {ranks_words(cut)}."] if cut else []
        return [*problems[:20], *more]

    @cached_property
    def differences(self) -> list[DifferenceView]:
        """The difference of each group from the first group; groups that differ only in caches come last.

        A group's difference is its first difference beyond caches, otherwise its first difference in caches. Groups
        that were not compared (beyond `MAX_GROUPS`) are left out.
        """
        reference = self._side_of(self.ranks.groups[0].rank) if self.ranks.differ else None
        views = [
            DifferenceView(group, difference, reference, self._side_of(group.rank))
            for group in self.ranks.groups[1:]
            if (difference := group.code or group.first) is not None and reference is not None
        ]
        return sorted(views, key=lambda view: view.group.only_caches)

    @cached_property
    def columns(self) -> dict[str, Fingerprint]:
        """The fingerprint of each group that gets a column, by the column's title."""
        groups = self.ranks.groups[:MOST_COLUMNS]
        return {column_title(group): self._side_of(group.rank).fingerprint for group in groups}

    @property
    def left_out(self) -> str:
        """A sentence with the number of groups without a column; empty if all groups have a column."""
        more = len(self.ranks.groups) - MOST_COLUMNS
        return f"{fmt.count(more, 'more group')} {fmt.agree(more, 'is', 'are')} not shown." if more > 0 else ""

    @property
    def phases(self) -> Iterator[PhaseOfRanks]:
        """Yield the seconds of each phase: the median, and the slowest rank."""
        for phase in dict.fromkeys(phase for row in self.ranks.rows for phase in row.seconds):
            timed = {row.rank: row.seconds.get(phase, 0.0) for row in self.ranks.rows if row.seconds}
            slowest = max(timed, key=timed.__getitem__)
            yield PhaseOfRanks(phase, statistics.median(timed.values()), timed[slowest], slowest)

    @property
    def execution(self) -> str:
        """A sentence about the order in which graphs were executed, as Markdown."""
        marks = {
            name: [mark for mark in fingerprint.marks if mark.kind == "execution"]
            for name, fingerprint in self.columns.items()
        }
        if not any(marks.values()):
            return (
                "The order of execution is not recorded. Run the job inside "
                "`torch._inductor.debug.record_and_log_graph_execution_order()` to record it."
            )
        orders = {tuple(mark.digest for mark in order) for order in marks.values()}
        return DIFFERENT_ORDERS if len(orders) > 1 else "All groups executed their graphs in the same order."

    @property
    def data(self) -> Row:
        """The groups and differences as JSON-compatible data."""
        return {
            "ranks": len(self.ranks.rows),
            "alike": not self.ranks.differ,
            "groups": [list(group.ranks) for group in self.ranks.groups],
            "differences": [view.data for view in self.differences],
            "unread": {str(row.rank): row.problem for row in self.ranks.rows if row.problem},
        }


def _from(view: DifferenceView) -> str:
    """Return the first compilation in which a group differs, as Markdown: "from [0/1] on"."""
    caches = ", in caches alone" if view.group.only_caches else ""
    return f"from {plain(f'[{view.difference.compile_id}]')} on{caches}"


class RunRanks:
    """Ranks of a stored run, for a page: read immediately if that is quick, else by another process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.ranks = run.ranks()

    @property
    def is_quick(self) -> bool:
        """True if `view` takes well under a second."""
        return is_quick(self._run)

    @property
    def read(self) -> int:
        """The number of ranks that have been read."""
        return ranks_read(self._run)

    @property
    def reading(self) -> str:
        """The title of the page while another process reads the logs."""
        return f"Reading the logs of {fmt.count(len(self.ranks), 'rank')}…"

    @property
    def progress(self) -> tuple[float, str]:
        """The share of the logs that was read, from 0 to 1, and a sentence with the numbers."""
        read, total = self.read, len(self.ranks)
        return min(read / total, 1.0), f"{fmt.number(read)} of {fmt.number(total)} read, in separate processes."

    def start_reading(self) -> subprocess.Popen[bytes]:
        """Read the logs in another process, which stores the result."""
        return start_reading_ranks(self._run)

    def view(self) -> RanksView:
        """Return the ranks in groups; reads the logs if no stored result exists."""
        return RanksView(open_ranks(self._run), lambda rank: rank_side(self._run, rank))

    def link(self, view: DifferenceView) -> dict[str, str]:
        """Return the run ids for the page Compare: `run` is the reference, `other` the rank that differs."""
        reference, rank = view.reference.fingerprint.rank, view.side.fingerprint.rank
        return {"run": self._run.of_rank(reference).id, "other": self._run.of_rank(rank).id}


GROUP_COLUMNS: tuple[Column[tuple[int, RankGroup, DifferenceView | None]], ...] = (
    Column("group", lambda row: row[0] + 1, fmt.number),
    Column("ranks", lambda row: one_line(ranks_words(row[1].ranks), LONGEST_LINE)),
    Column("number", lambda row: len(row[1].ranks), fmt.number),
    Column("differs from", lambda row: _differs_from(row[0], row[2])),
    Column("in", lambda row: row[2].difference.kind if row[2] else ""),
    Column("at", lambda row: row[2].difference.place.short if row[2] and row[2].difference.place else ""),
)
PHASE_COLUMNS: tuple[Column[PhaseOfRanks], ...] = (
    Column("phase", lambda phase: phase.name),
    Column("median", lambda phase: phase.median_s, fmt.duration_s),
    Column("slowest", lambda phase: phase.slowest_s, fmt.duration_s),
    Column("slowest rank", lambda phase: f"rank {phase.slowest}"),
    Column(
        "slowest over median", lambda phase: phase.slowest_s / phase.median_s if phase.median_s else None, fmt.ratio
    ),
)


def _differs_from(place: int, view: DifferenceView | None) -> str:
    if view is None:
        return "not compared" if place else "the reference"
    return f"[{view.difference.compile_id}]"
