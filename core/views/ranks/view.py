"""Ranks of a run, for pages and the command line: the verdict, the differences of groups, and tables."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable, Iterator
from functools import cached_property

from core.analysis.ranks import Ranks, RankSide
from core.base import words as fmt
from core.report.run import Fingerprint
from core.runs.ranks import is_quick, open_ranks, rank_side, ranks_read, start_reading_ranks
from core.runs.store import Run
from core.views.markdown import LONGEST_LINE, one_line, plain
from core.views.ranks.difference import (
    ABSENT,
    MOST_COLUMNS,
    MOST_ROWS,
    WORDS_OF_ADVICE,
    DifferenceView,
    Row,
    cache_cell,
    collective_table,
    column_title,
    compilation_cell,
    compilation_table,
    group_row,
    ranks_words,
    tensor_cell,
    with_small_start,
)

NO_RANKS = (
    "This run has the log of one process. Start a distributed job with one trace directory for all ranks:",
    "TORCH_TRACE=/shared/trace torchrun --nproc-per-node 8 train.py",
    "Then open the directory, or a ZIP file of it, on the page New run.",
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
DIFFERENT_ORDERS = "The groups executed their graphs in different orders."
FORECASTS = {"order": "a hang, or wrong results", "wait": "a wait; a hang if it is long", "stopped": "a hang"}


class RanksView:
    """The ranks of a run in groups; the first group, the largest, is the reference."""

    phases_note, collectives_note, no_tensors = PHASES_NOTE, COLLECTIVES_NOTE, NO_TENSORS
    no_caches = "No cache outcome is recorded."
    no_collectives = "No graph has a collective."
    no_compilations = "No compilation is recorded."
    no_phases = "No compile times are recorded."

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

    @property
    def group_rows(self) -> list[Row]:
        """A row for each group: its ranks, and where and how it differs."""
        views = {view.group.rank: view for view in self.differences}
        return [
            group_row(place, group, views.get(group.rank)) for place, group in enumerate(self.ranks.groups[:MOST_ROWS])
        ]

    @cached_property
    def _columns(self) -> dict[str, Fingerprint]:
        """The fingerprint of each group that gets a column, by the column's title."""
        groups = self.ranks.groups[:MOST_COLUMNS]
        return {column_title(group): self._side_of(group.rank).fingerprint for group in groups}

    @property
    def left_out(self) -> str:
        """A sentence with the number of groups without a column; empty if all groups have a column."""
        more = len(self.ranks.groups) - MOST_COLUMNS
        return f"{fmt.count(more, 'more group')} {fmt.agree(more, 'is', 'are')} not shown." if more > 0 else ""

    @property
    def compilation_rows(self) -> list[Row]:
        """A row for each compile id, in causal order: each group's outcome, and `≠` if groups differ."""
        return compilation_table(self._columns, compilation_cell)

    @property
    def cache_rows(self) -> list[Row]:
        """A row for each compile id: the cache outcomes of each group in order."""
        return compilation_table(self._columns, cache_cell)

    @property
    def collective_rows(self) -> list[Row]:
        """A row for each collective, in the order of the graphs."""
        return collective_table(self._columns)

    @property
    def tensor_rows(self) -> list[Row]:
        """A row for each compile id with metadata or estimates: outputs, digest and estimated time."""
        rows = compilation_table(self._columns, tensor_cell)
        return [row for row in rows if any(row[name] != ABSENT for name in self._columns)]

    @property
    def phase_rows(self) -> list[Row]:
        """A row for each phase: the median and the slowest rank, in seconds."""
        phases = dict.fromkeys(phase for row in self.ranks.rows for phase in row.seconds)
        rows = []
        for phase in phases:
            timed = {row.rank: row.seconds.get(phase, 0.0) for row in self.ranks.rows if row.seconds}
            slowest = max(timed, key=timed.__getitem__)
            median = statistics.median(timed.values())
            rows.append(
                {
                    "phase": phase,
                    "median": median,
                    "slowest": timed[slowest],
                    "slowest rank": f"rank {slowest}",
                    "slowest over median": timed[slowest] / median if median else None,
                }
            )
        return rows

    @property
    def execution(self) -> str:
        """A sentence about the order in which graphs were executed, as Markdown."""
        marks = {
            name: [mark for mark in fingerprint.marks if mark.kind == "execution"]
            for name, fingerprint in self._columns.items()
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

    @property
    def lines(self) -> Iterator[str]:
        """The groups, differences, forecasts, advice and unread ranks as plain lines for the command line."""
        for number, group in enumerate(self.ranks.groups, 1):
            yield f"group {number}: {ranks_words(group.ranks)}"
        for view in self.differences:
            place = view.difference.place
            yield _unmarked(f"{view.who} {view.what}") + (f" ({place.short})" if place else "")
            for name, text in zip(view.names, view.texts, strict=True):
                if text:
                    yield f"  {name}: {one_line(text, LONGEST_LINE)}"
            if view.group.forecast:
                yield f"  forecast: {FORECASTS[view.group.forecast.kind]}"
            for one in view.group.advice:
                yield f"  advice: {one.code or _unmarked(WORDS_OF_ADVICE[one.kind])}"
        yield from self.unread


def _unmarked(text: str) -> str:
    return text.replace("`", "").replace("\\", "")


def _from(view: DifferenceView) -> str:
    """Return the first compilation in which a group differs, as Markdown: "from [0/1] on"."""
    caches = ", in caches alone" if view.group.only_caches else ""
    return f"from {plain(f'[{view.difference.compile_id}]')} on{caches}"


class RunRanks:
    """Ranks of a stored run, for a page: read immediately if that is quick, else by another process."""

    no_ranks = NO_RANKS

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
