"""Ranks of a run: the verdict, groups of equal ranks, the first difference with its cause, and tables."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.analysis.ranks import AdviceKind, Forecast, RankDifference, RankGroup, Ranks, RankSide
from core.analysis.ranks.differences import collective_text
from core.base import words as fmt
from core.code.diff import diff_texts
from core.report.ranks import Fingerprint, Mark
from core.runs.ranks import is_quick, open_ranks, rank_side, ranks_read, start_reading_ranks
from core.runs.store import Run
from core.views.markdown import LONGEST_LINE, code, one_line, plain

# Groups that get a column in tables; the others are counted.
MOST_COLUMNS = 6
MOST_ROWS = 500
MOST_RANGES = 12
MOST_NAMED = 8
ABSENT = "–"
# Graphs that have the same collectives, the latest stage first.
STAGES = (
    ("inductor_post_grad_graph", "after_post_grad_graph"),
    ("aot_inference_graph", "aot_forward_graph", "aot_backward_graph"),
    ("aot_joint_graph",),
    ("dynamo_output_graph",),
)
# Differences whose sentence says all of both texts.
WHOLE = frozenset({"recompile", "compilation", "cache", "end"})
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
WORDS_OF_ADVICE: dict[AdviceKind, str] = {
    "mark_dynamic": "Mark the dimension as dynamic before the first call. Then no rank recompiles for another size.",
    "guard_collectives": "Let all ranks recompile together: before each call they exchange whether a guard failed. "
    "`enable_compiler_collectives` does not fit here: a rank that compiles alone would wait in it for the others.",
    "compiler_collectives": "Let the ranks exchange sizes while they compile. A dimension that differs then becomes "
    "dynamic on all of them. All ranks must compile at the same time.",
    "compile_on_one_rank": "Compute what depends on the rank when the code runs, not as a constant in the graph. The "
    "ranks then compile the same code. This fits numbers that come from a `DeviceMesh`.",
    "same_order": "Call the same collectives in the same order on every rank, whatever its data.",
    "one_cache": "Let one rank compile first while the others wait in `torch.distributed.barrier()`. With one cache "
    "directory they then load its code.",
}
CHANGES = {
    "number": "another number of collectives",
    "order": "its collectives in another order",
    "sizes": "collectives of other sizes",
    "groups": "collectives on other process groups, or with other arguments",
    "ops": "other collectives",
}
Row = dict[str, Any]


def ranks_words(ranks: tuple[int, ...]) -> str:
    """Return "rank 3", "ranks 0–2, 5", or "ranks 0, 2, 4 and 500 more"."""
    ranges = fmt.ranges_words(ranks).split(", ")
    if len(ranges) > MOST_RANGES:
        return f"{fmt.number(len(ranks))} ranks, among them {', '.join(ranges[:MOST_RANGES])}"
    return f"{fmt.agree(len(ranks), 'rank', 'ranks')} {', '.join(ranges)}"


@dataclass(frozen=True)
class DifferenceView:
    """Where a group of ranks first differs from the largest group, and what may follow."""

    group: RankGroup
    difference: RankDifference
    reference: RankSide
    side: RankSide

    @property
    def who(self) -> str:
        """The ranks of the group: "Rank 3", "Ranks 4–7"."""
        text = ranks_words(self.group.ranks)
        return text[:1].upper() + text[1:]

    @property
    def _verb(self) -> Callable[[str, str], str]:
        return lambda singular, plural: fmt.agree(len(self.group.ranks), singular, plural)

    @property
    def what(self) -> str:
        """The difference as a clause without its subject, as Markdown: "recompiles [0/1] alone: …"."""
        where, verb = plain(f"[{self.difference.compile_id}]"), self._verb
        match self.difference.kind:
            case "recompile":
                return self._recompile(where)
            case "compilation":
                return self._compilation(where)
            case "break":
                return f"{verb('breaks', 'break')} the graph of {where} in another way"
            case "collectives":
                change = CHANGES.get(self.difference.change, "another schedule of collectives")
                return f"{verb('has', 'have')} {change} in {where}"
            case "cache":
                outcomes = (text or "no outcome" for text in (self.difference.right, self.difference.left))
                mine, theirs = map(plain, outcomes)
                return (
                    f"{verb('has', 'have')} a {mine} in {code(self.difference.name)} for {where}, the others a {theirs}"
                )
            case "guards":
                return f"{verb('has', 'have')} other guards for {where}"
            case "tensors":
                return f"{verb('has', 'have')} tensors of other sizes, strides or types in {where}"
            case "execution":
                return f"{verb('executes', 'execute')} the graphs in another order"
            case "end":
                short = self.difference.right if self.difference.only == "right" else "ends, and the others stop"
                return f"{short or 'stops'} in {where}: no end of the compilation is recorded"
        return self._graph(where)

    def _recompile(self, where: str) -> str:
        verb = self._verb
        if self.difference.only == "left":
            return f"{verb('does', 'do')} not recompile {where}, as the others do: {plain(self.difference.left)}"
        return f"{verb('recompiles', 'recompile')} {where} alone: {plain(self.difference.right)}"

    def _compilation(self, where: str) -> str:
        verb = self._verb
        if self.difference.only == "left":
            return f"{verb('has', 'have')} no compilation {where}, which the others have"
        if self.difference.only == "right":
            return f"{verb('compiles', 'compile')} {where} alone"
        theirs = plain(f"[{self.difference.name}]")
        return f"{verb('compiles', 'compile')} {theirs} where the others compile {where}"

    def _graph(self, where: str) -> str:
        verb, difference = self._verb, self.difference
        if difference.source and difference.dimension is not None:
            size = f"another size of {code(difference.source)} in dimension {difference.dimension}"
            return f"{verb('has', 'have')} {size} in {where}"
        numbers = ", in numbers alone" if difference.is_constant else ""
        return f"{verb('has', 'have')} another {code(difference.name)} in {where}{numbers}"

    @property
    def sentence(self) -> str:
        """The difference in one sentence, as Markdown."""
        return f"{self.who} {self.what}."

    @property
    def line(self) -> str:
        """The user's line, as Markdown: place, and code if it is recorded; empty if unknown."""
        place = self.difference.place
        if place is None:
            return ""
        function = f" in {code(place.name)}" if place.name else ""
        text = f": {code(self.difference.code)}" if self.difference.code else ""
        return f"{code(place.short)}{function}{text}"

    @property
    def texts(self) -> tuple[str, str]:
        """The differing line of the reference, and of the group; empty if the sentence says it."""
        return ("", "") if self.difference.kind in WHOLE else (self.difference.left, self.difference.right)

    @property
    def alone(self) -> str:
        """The compilations that one side alone has, if there are several, as Markdown."""
        ids = self.difference.alone
        if len(ids) < 2:
            return ""
        more = f" and {fmt.number(len(ids) - MOST_NAMED)} more" if len(ids) > MOST_NAMED else ""
        who = self.who if self.difference.only == "right" else "The others"
        return f"{who} alone compiled {plain(', '.join(f'[{one}]' for one in ids[:MOST_NAMED]))}{more}."

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two sides: "rank 0", "rank 3"."""
        return f"rank {self.reference.fingerprint.rank}", f"rank {self.side.fingerprint.rank}"

    @cached_property
    def diff(self) -> str:
        """A unified diff of the two whole texts; empty unless both logs have one."""
        left, right = self.difference.left_where, self.difference.right_where
        if left is None or right is None:
            return ""
        return diff_texts(self.reference.text(left), self.side.text(right), *self.names).text

    @property
    def forecast(self) -> str:
        """What may happen to the job, as Markdown; empty if the difference need not stop any rank."""
        return _forecast_words(self.group.forecast, self.difference, self.who) if self.group.forecast else ""

    @property
    def advice(self) -> list[tuple[str, str]]:
        """Sentence as Markdown, and line of code (empty if there is none), of each change that fits the cause."""
        return [(WORDS_OF_ADVICE[one.kind], one.code) for one in self.group.advice]

    @property
    def data(self) -> Row:
        """The difference as JSON-compatible data."""
        difference, place = self.difference, self.difference.place
        return {
            "ranks": list(self.group.ranks),
            "kind": difference.kind,
            "compilation": difference.compile_id,
            "name": difference.name,
            "reference": difference.left,
            "here": difference.right,
            "only": {"left": "reference", "right": "here"}.get(difference.only, ""),
            "change": difference.change,
            "file": place.file if place else "",
            "line": place.line if place else None,
            "code": difference.code,
            "forecast": self.group.forecast.kind if self.group.forecast else "",
            "advice": [one.code or one.kind for one in self.group.advice],
        }


def _forecast_words(forecast: Forecast, difference: RankDifference, who: str) -> str:
    if forecast.kind == "order":
        return (
            "**Forecast: a hang, or wrong results.** All ranks of a group must call the same collectives, in the same "
            "order and with the same sizes. Otherwise each waits for a call that does not come."
        )
    if forecast.kind == "stopped":
        return f"**Forecast: a hang.** If {_small(who)} stopped there, the other ranks wait in their next collective."
    others, alone = ("The other ranks", _small(who)) if difference.only == "right" else (who, "the others")
    seconds = f" ({fmt.duration_s(forecast.seconds)} in this log)" if forecast.seconds is not None else ""
    verb = "compile" if difference.only != "right" or who.startswith("Ranks") else "compiles"
    return (
        f"**Forecast: a wait, and a hang if it is long.** {others} may wait in the next collective while {alone} "
        f"{verb}{seconds}. Beyond the timeout of the process group (by default 10 minutes with NCCL) the job aborts."
    )


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


class RanksView:
    """The ranks of a run in groups; the first group, the largest, is the reference."""

    phases_note, collectives_note, no_tensors = PHASES_NOTE, COLLECTIVES_NOTE, NO_TENSORS

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
        if len(groups) > 2 or first is None:
            code_groups = sum(not group.only_caches for group in groups[1:])
            caches = "" if code_groups else ", in caches alone"
            return f"{alike}; the others differ in {fmt.count(len(groups) - 1, 'way')}{caches}."
        if len(groups[0].ranks) == 1:
            return f"The two ranks differ {_from(first)}."
        return f"{alike}; {_small(first.who)} {fmt.agree(len(first.group.ranks), 'differs', 'differ')} {_from(first)}."

    @property
    def unread(self) -> list[str]:
        """A sentence for each rank that could not be read or whose log is not whole, at most 20."""
        problems = [f"Rank {row.rank} was not read: {plain(row.problem)}." for row in self.ranks.rows if row.problem]
        cut = tuple(row.rank for row in self.ranks.rows if row.is_cut)
        more = [f"The last record is not whole in the log of {ranks_words(cut)}."] if cut else []
        return [*problems[:20], *more]

    @cached_property
    def differences(self) -> list[DifferenceView]:
        """The first difference of each group, of code if there is one: those of caches alone come last.

        Groups beyond the bound have none.
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
            _group_row(place, group, views.get(group.rank)) for place, group in enumerate(self.ranks.groups[:MOST_ROWS])
        ]

    @cached_property
    def _columns(self) -> dict[str, Fingerprint]:
        """The fingerprint of each group that gets a column, by the column's title."""
        groups = self.ranks.groups[:MOST_COLUMNS]
        return {_column(group): self._side_of(group.rank).fingerprint for group in groups}

    @property
    def left_out(self) -> str:
        """How many groups have no column in the tables, as a sentence; empty if all have one."""
        more = len(self.ranks.groups) - MOST_COLUMNS
        return f"{fmt.count(more, 'more group')} {fmt.agree(more, 'is', 'are')} not shown." if more > 0 else ""

    @property
    def compilation_rows(self) -> list[Row]:
        """A row for each compile id, in causal order: what each group made of it, and True where groups differ."""
        return self._rows(_compilation_cell)

    @property
    def cache_rows(self) -> list[Row]:
        """A row for each compile id: the cache outcomes of each group in order."""
        return self._rows(_cache_cell)

    @property
    def collective_rows(self) -> list[Row]:
        """A row for each collective, in the order of the graphs: each group's op, size and process group."""
        ids = dict.fromkeys(mark.compile_id for one in self._columns.values() for mark in one.marks if mark.collectives)
        rows: list[Row] = []
        for compile_id in ids:
            lists = _collectives(self._columns, compile_id)
            for index in range(max(map(len, lists.values()))):
                cells = {name: texts[index] if index < len(texts) else ABSENT for name, texts in lists.items()}
                place = {"#": index + 1, "compilation": f"[{compile_id}]"}
                rows.append({**place, **cells, "≠": _mark(set(cells.values()))})
        return rows[:MOST_ROWS]

    @property
    def tensor_rows(self) -> list[Row]:
        """A row for each compile id with tensor metadata or estimates: outputs, their digest, and estimated time."""
        rows = self._rows(_tensor_cell)
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
        """What the logs say on the order in which graphs ran, as Markdown."""
        marks = {name: _of_kind(fingerprint, "execution") for name, fingerprint in self._columns.items()}
        if not any(marks.values()):
            return (
                "The order of execution is not recorded. Run the job inside "
                "`torch._inductor.debug.record_and_log_graph_execution_order()` to record it."
            )
        digests = {tuple(mark.digest for mark in found) for found in marks.values()}
        return (
            "All groups executed their graphs in the same order."
            if len(digests) == 1
            else ("The groups executed their graphs in different orders.")
        )

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
        """The verdict as plain lines for the command line."""
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

    def _rows(self, cell: Callable[[Fingerprint, str], str]) -> list[Row]:
        ids = dict.fromkeys(mark.compile_id for one in self._columns.values() for mark in one.marks if mark.compile_id)
        rows: list[Row] = []
        for compile_id in list(ids)[:MOST_ROWS]:
            cells = {name: cell(fingerprint, compile_id) for name, fingerprint in self._columns.items()}
            place = next((where for one in self._columns.values() if (where := _function(one, compile_id))), "")
            rows.append({"compilation": f"[{compile_id}]", "function": place, **cells, "≠": _mark(set(cells.values()))})
        return rows


FORECASTS = {"order": "a hang, or wrong results", "wait": "a wait; a hang if it is long", "stopped": "a hang"}


def _unmarked(text: str) -> str:
    return text.replace("`", "").replace("\\", "")


def _from(view: DifferenceView) -> str:
    """Return from which compilation on a group differs, as Markdown."""
    caches = ", in caches alone" if view.group.only_caches else ""
    return f"from {plain(f'[{view.difference.compile_id}]')} on{caches}"


def _group_row(place: int, group: RankGroup, view: DifferenceView | None) -> Row:
    return {
        "group": place + 1,
        "ranks": one_line(ranks_words(group.ranks), LONGEST_LINE),
        "number": len(group.ranks),
        "differs from": f"[{view.difference.compile_id}]" if view else "the reference" if not place else "not compared",
        "in": view.difference.kind if view else "",
        "at": view.difference.place.short if view and view.difference.place else "",
    }


def _column(group: RankGroup) -> str:
    more = len(group.ranks) - 1
    return f"rank {group.rank}" + (f" and {fmt.number(more)} more" if more else "")


def _mark(texts: set[str]) -> str:
    return "≠" if len(texts) > 1 else ""


def _of_kind(fingerprint: Fingerprint, kind: str, compile_id: str | None = None) -> list[Mark]:
    return [mark for mark in fingerprint.marks if mark.kind == kind and compile_id in (None, mark.compile_id)]


def _function(fingerprint: Fingerprint, compile_id: str) -> str:
    compilation = fingerprint.compilation(compile_id)
    place = compilation.place if compilation else None
    return one_line(f"{place.name} {place.short}", LONGEST_LINE) if place else ""


def _compilation_cell(fingerprint: Fingerprint, compile_id: str) -> str:
    marks = [mark for mark in fingerprint.marks if mark.compile_id == compile_id]
    if not marks:
        return ABSENT
    ends = [mark for mark in marks if mark.kind == "end"]
    graphs = sum(mark.kind == "graph" for mark in marks)
    state = "no end recorded" if not ends else next((one_line(mark.text) for mark in ends if mark.text), "")
    parts = [fmt.count(graphs, "graph"), "recompile" if _has(marks, "recompile") else "", state]
    return ", ".join(filter(None, parts))


def _has(marks: list[Mark], kind: str) -> bool:
    return any(mark.kind == kind for mark in marks)


def _cache_cell(fingerprint: Fingerprint, compile_id: str) -> str:
    marks = _of_kind(fingerprint, "cache", compile_id)
    return ", ".join(f"{mark.name.removesuffix('_cache')} {mark.text}" for mark in marks) or ABSENT


def _tensor_cell(fingerprint: Fingerprint, compile_id: str) -> str:
    compilation = fingerprint.compilation(compile_id)
    if compilation is None or compilation.estimated_us is None:
        return ABSENT
    digest = ", ".join(mark.digest[:6] for mark in _of_kind(fingerprint, "tensors", compile_id))
    time = f"estimated {fmt.duration_s(compilation.estimated_us / 1e6)}"
    return f"{fmt.count(compilation.tensors, 'tensor')} ({digest}), {time}"


def _collectives(columns: Mapping[str, Fingerprint], compile_id: str) -> dict[str, list[str]]:
    """Return each group's collectives of a compilation: of the latest stage in which they differ, or of the latest."""
    stages = [{name: _of_stage(one, compile_id, names) for name, one in columns.items()} for names in STAGES]
    logged = [stage for stage in stages if any(stage.values())]
    unlike = [stage for stage in logged if len(set(map(tuple, stage.values()))) > 1 and all(stage.values())]
    return next(iter((*unlike, *logged)), {name: [] for name in columns})


def _of_stage(fingerprint: Fingerprint, compile_id: str, names: tuple[str, ...]) -> list[str]:
    marks = (mark for mark in _of_kind(fingerprint, "graph", compile_id) if mark.name in names)
    return [one_line(collective_text(one), LONGEST_LINE) for mark in marks for one in mark.collectives]


class RunRanks:
    """The ranks of a stored run, for a page: read at once, or by another process if that takes longer."""

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

    def start_reading(self) -> subprocess.Popen[bytes]:
        """Read the logs in another process, which stores the result."""
        return start_reading_ranks(self._run)

    def view(self) -> RanksView:
        """Return the ranks in groups; the logs are read unless that is stored."""
        return RanksView(open_ranks(self._run), lambda rank: rank_side(self._run, rank))

    def link(self, view: DifferenceView) -> dict[str, str]:
        """Return the run ids for the page Compare: `run` is the reference, `other` the rank that differs."""
        reference, rank = view.reference.fingerprint.rank, view.side.fingerprint.rank
        return {"run": self._run.of_rank(reference).id, "other": self._run.of_rank(rank).id}


__all__ = ["DifferenceView", "RanksView", "RunRanks"]
