"""Difference between a group of ranks and the largest group, in sentences: cause, forecast and advice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from core.analysis.ranks.differences import AdviceKind, Forecast, RankDifference, collective_text
from core.analysis.ranks.groups import RankGroup, RankSide
from core.base import words as fmt
from core.base.decoder import toml_as
from core.code.diff import diff_texts
from core.report.run import Fingerprint, RankCompilation, RankMark
from core.views.blocks import (
    UNLIKE,
    Beside,
    Code,
    Column,
    Drawn,
    Listing,
    PageBlock,
    Table,
    Text,
    paragraph,
    spans,
)
from core.views.markdown import LONGEST_LINE, code, one_line, plain

MOST_RANGES = 12  #: ranges of ranks in a sentence
MOST_NAMED = 8  #: compilations in a sentence
# Differences whose sentence says all of both texts.
WHOLE = frozenset({"recompile", "compilation", "cache", "end"})
WORDS_OF_ADVICE = toml_as(Path(__file__).with_name("difference.toml"), dict[AdviceKind, str])
CHANGES = {
    "number": "another number of collectives",
    "order": "its collectives in another order",
    "sizes": "collectives of other sizes",
    "groups": "collectives on other process groups, or with other arguments",
    "ops": "other collectives",
}
Row = dict[str, Any]
# Groups that get a column in tables; the others are counted.
MOST_COLUMNS = 6  #: limit: groups of ranks with a column in a table
MOST_ROWS = 500  #: limit: rows of a table about ranks
ABSENT = "–"
# A link to both ranks on *Compare*.
COMPARE = "compare-ranks"
# Graphs that have the same collectives, the latest stage first.
STAGES = (
    ("inductor_post_grad_graph", "after_post_grad_graph"),
    ("aot_inference_graph", "aot_forward_graph", "aot_backward_graph"),
    ("aot_joint_graph",),
    ("dynamo_output_graph",),
)
Columns = Mapping[str, Fingerprint]
Cell = Callable[[list[RankMark], RankCompilation | None], str]


def ranks_words(ranks: tuple[int, ...]) -> str:
    """Return "rank 3", "ranks 0–2, 5", or "ranks 0, 2, 4 and 500 more"."""
    ranges = fmt.ranges_words(ranks).split(", ")
    if len(ranges) > MOST_RANGES:
        return f"{fmt.number(len(ranks))} ranks, among them {', '.join(ranges[:MOST_RANGES])}"
    return f"{fmt.agree(len(ranks), 'rank', 'ranks')} {', '.join(ranges)}"


@dataclass(frozen=True)
class DifferenceView:
    """The first difference between a group of ranks and the largest group, with forecast and advice."""

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
    def label(self) -> str:
        """A label of the group for a menu: its name, and the kind and compilation of its first difference."""
        return f"{self.who}: {self.difference.kind} in [{self.difference.compile_id}]"

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
        later = plain(f", and then [{self.difference.cause_id}]") if self.difference.cause_id else ""
        return f"{verb('recompiles', 'recompile')} {where} alone{later}: {plain(self.difference.right)}"

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
        """The differing line of the reference, and of the group; empty if `sentence` contains both."""
        return ("", "") if self.difference.kind in WHOLE else (self.difference.left, self.difference.right)

    @property
    def alone(self) -> str:
        """The compilations that only one side has, if there are several, as Markdown."""
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
        """A unified diff of both whole texts; empty unless both logs contain the text."""
        left, right = self.difference.left_where, self.difference.right_where
        if left is None or right is None:
            return ""
        return diff_texts(self.reference.text(left), self.side.text(right), *self.names).text

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """Yield the difference: its line, both texts, the forecast, advice, and the whole texts."""
        yield Text(spans(self.sentence))
        yield from paragraph(self.line)
        yield from paragraph(self.alone, "quiet")
        if any(self.texts):
            left, right = (
                (Listing(name, Code(text or ABSENT, "text"), is_open=True),)
                for name, text in zip(self.names, self.texts, strict=True)
            )
            yield Beside(left, right)
        yield from paragraph(self.forecast, "warn")
        for advice in self.group.advice:
            yield Text(spans(WORDS_OF_ADVICE[advice.kind]))
            if advice.code:
                yield Listing("The change to try", Code(advice.code), is_open=True)
        yield Drawn(COMPARE, of=(self,))
        if self.diff:
            yield Listing("Both texts", Code(self.diff, "diff"))

    @property
    def forecast(self) -> str:
        """The possible consequence for the job, as Markdown; empty if no rank has to stop or wait."""
        return _forecast_words(self.group.forecast, self.difference, self.who) if self.group.forecast else ""

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
            "**Forecast: a hang or wrong results, if these ranks share the process group.** All its ranks must call "
            "the same collectives, in the same order and with the same sizes. Otherwise each waits for the others."
        )
    if forecast.kind == "stopped":
        stopped = with_small_start(who)
        return f"**Forecast: a hang.** If {stopped} stopped there, the other ranks wait in their next collective."
    others, alone = ("The other ranks", with_small_start(who)) if difference.only == "right" else (who, "the others")
    seconds = f" ({fmt.duration_s(forecast.seconds)} in this log)" if forecast.seconds is not None else ""
    verb = "compile" if difference.only != "right" or who.startswith("Ranks") else "compiles"
    return (
        f"**Forecast: a wait, and a hang if it is long.** {others} may wait in the next collective while {alone} "
        f"{verb}{seconds}. Beyond the timeout of the process group (by default 10 minutes with NCCL) the job aborts."
    )


def with_small_start(text: str) -> str:
    return text[:1].lower() + text[1:]


def table(name: str, rows: Sequence[Row], nothing: str) -> Iterator[PageBlock]:
    """Yield rows as a table that marks differences; the text `nothing` without rows."""
    if rows:
        yield Table(name, tuple(Column(each, itemgetter(each), marked=each == UNLIKE) for each in rows[0]), rows)
    else:
        yield from paragraph(nothing)


def compilation_table(columns: Columns, cell: Cell) -> list[Row]:
    """Return a row for each compile id, in causal order: a cell for each column, and `≠` if cells differ."""
    marks = {name: _by_id(fingerprint) for name, fingerprint in columns.items()}
    compilations = {name: {one.id: one for one in fingerprint.compilations} for name, fingerprint in columns.items()}
    ids = dict.fromkeys(compile_id for column in marks.values() for compile_id in column if compile_id)
    rows: list[Row] = []
    for compile_id in list(ids)[:MOST_ROWS]:
        found = {name: compilations[name].get(compile_id) for name in columns}
        cells = {name: cell(marks[name].get(compile_id, []), found[name]) for name in columns}
        function = next(filter(None, map(_function, found.values())), "")
        rows.append(
            {"compilation": f"[{compile_id}]", "function": function, **cells, UNLIKE: _mark(set(cells.values()))}
        )
    return rows


def _by_id(fingerprint: Fingerprint) -> dict[str, list[RankMark]]:
    marks: dict[str, list[RankMark]] = {}
    for mark in fingerprint.marks:
        marks.setdefault(mark.compile_id, []).append(mark)
    return marks


def collective_table(columns: Columns) -> list[Row]:
    """Return a row for each collective in graph order: op, size and process group of each rank group."""
    ids = dict.fromkeys(mark.compile_id for column in columns.values() for mark in column.marks if mark.collectives)
    rows: list[Row] = []
    for compile_id in list(ids)[:MOST_ROWS]:
        lists = _collectives(columns, compile_id)
        for index in range(max(map(len, lists.values()))):
            cells = {name: texts[index] if index < len(texts) else ABSENT for name, texts in lists.items()}
            place = {"#": index + 1, "compilation": f"[{compile_id}]"}
            rows.append({**place, **cells, UNLIKE: _mark(set(cells.values()))})
    return rows[:MOST_ROWS]


def column_title(group: RankGroup) -> str:
    more = len(group.ranks) - 1
    return f"rank {group.rank}" + (f" and {fmt.number(more)} more" if more else "")


def _mark(texts: set[str]) -> str:
    return UNLIKE if len(texts) > 1 else ""


def _function(compilation: RankCompilation | None) -> str:
    place = compilation.place if compilation else None
    return one_line(f"{place.name} {place.short}", LONGEST_LINE) if place else ""


def compilation_cell(marks: list[RankMark], _: RankCompilation | None) -> str:
    """Return the number of graphs and, if they apply, "recompile", an error, or "no end recorded"."""
    if not marks:
        return ABSENT
    kinds = [mark.kind for mark in marks]
    errors = (one_line(mark.text) for mark in marks if mark.kind == "end" and mark.text)
    state = next(errors, "") if "end" in kinds else "no end recorded"
    parts = [fmt.count(kinds.count("graph"), "graph"), "recompile" if "recompile" in kinds else "", state]
    return ", ".join(filter(None, parts))


def cache_cell(marks: list[RankMark], _: RankCompilation | None) -> str:
    """Return the outcome of each cache in order."""
    outcomes = (f"{mark.name.removesuffix('_cache')} {mark.text}" for mark in marks if mark.kind == "cache")
    return ", ".join(outcomes) or ABSENT


def tensor_cell(marks: list[RankMark], compilation: RankCompilation | None) -> str:
    """Return the number of outputs with metadata, the digest of the metadata, and the estimated time."""
    if compilation is None or compilation.estimated_us is None:
        return ABSENT
    digest = ", ".join(mark.digest[:6] for mark in marks if mark.kind == "tensors")
    estimate = compilation.estimated_us / 1e6
    time = f"estimated {fmt.duration_s(estimate)}" if estimate else "no estimate for this device"
    return f"{fmt.count(compilation.tensors, 'tensor')} ({digest}), {time}"


def _collectives(columns: Columns, compile_id: str) -> dict[str, list[str]]:
    """Return each group's collectives of a compilation.

    They are from the latest stage in which the groups differ and all groups have collectives. Without such a
    stage, they are from the latest recorded stage.
    """
    graphs = {
        name: [mark for mark in fingerprint.marks if mark.collectives and mark.compile_id == compile_id]
        for name, fingerprint in columns.items()
    }
    stages = [{name: _of_stage(marks, names) for name, marks in graphs.items()} for names in STAGES]
    logged = [stage for stage in stages if any(stage.values())]
    unlike = [stage for stage in logged if len(set(map(tuple, stage.values()))) > 1 and all(stage.values())]
    return next(iter((*unlike, *logged)), {name: [] for name in columns})


def _of_stage(marks: list[RankMark], names: tuple[str, ...]) -> list[str]:
    calls = (call for mark in marks if mark.name in names for call in mark.collectives)
    return [one_line(collective_text(call), LONGEST_LINE) for call in calls]
