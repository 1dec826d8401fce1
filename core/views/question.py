"""A question about a run: the lines, ops and kernels that it names, and why kernels are not fused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, partial
from itertools import product
from typing import NamedTuple, TypeVar, get_args

from core.analysis.comparison.matching import RunSide
from core.analysis.dynamo.failures import frame_names
from core.analysis.work import heaviest
from core.base import words as fmt
from core.base.errors import CompileboardError
from core.graph.fx import source_path
from core.graph.model import Group, launch_title
from core.report import Compilation, Direction, FxGraph, FxNode, Place, Report
from core.views.blocks import Column, Heading, PageBlock, Table, Title, paragraph, spans
from core.views.fusion import FusionView, fusion_schedules
from core.views.kernels.kernel import TEMPLATES
from core.views.kernels.ledger import LEDGER, KernelsView
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, plain
from core.views.overview import OverviewView
from core.views.selection import SelectedOp
from core.views.texts import SourceView

MOST_ROWS = 5  #: rows of a table of costs in an answer, and names that are similar to an unknown one
MOST_AROUND = 6  #: launches around a kernel that an answer explains
ALONE = "- Nothing around it could be fused: no launch writes its inputs or reads its results, and none was refused."
LINE = re.compile(r"(?:\blines?\W*|\.py:|\bat\s+|\bL)(\d+)\b", re.IGNORECASE)
FILE, FILE_LINE = re.compile(r"[\w./-]+\.py\b"), re.compile(r"[\w./-]+\.py:\d+")
LIBRARY_MATMUL = re.compile(r"\(\w*mm\) is an extern")
NEGATION = re.compile(r"\b[a-z]+n['’]t\b", re.IGNORECASE)
WORD = re.compile(r"[^\s\"'`?,;()\[\]]+")
PLAIN, SIMILAR = re.compile(r"[A-Za-z]+"), 0.75  # A plain word is a name if a known one is so similar.
DIRECTIONS = get_args(Direction)
FILLER = re.compile(
    "an?|and|are|at|between|by|can|compiled?|did|do|does|dynamo|for|frame|from|function|graphs?|in|into|inductor|is|its?|"
    "me|my|nodes?|not|of|on|one|ops?|or|please|run|scheduler|so|the|their|there|these|this|to|together|torch|"
    r"torch\.compile|two|was|were|what|where|which|why|with",
    re.IGNORECASE,
)
Made = TypeVar("Made")
NodePlace = tuple[FusionView, str]  # A scheduled graph, and a node after fusion of it.


class UnknownNameError(CompileboardError):
    """A name or number in a question that the run does not have."""


def unknown(name: str, known: Iterable[str], what: str) -> UnknownNameError:
    """Return the error for an unknown name, with the most similar names."""
    names = [*dict.fromkeys(known)]
    hint = fmt.suggestion(name, names, MOST_ROWS) if names else "the run has none"
    return UnknownNameError(f"There is no {what} {code(name)} in this run; {plain(hint, LONGEST_LINE)}")


def _may_be_name(word: str, known: Iterable[str]) -> bool:
    return not PLAIN.fullmatch(word) or bool(get_close_matches(word, [*known], cutoff=SIMILAR))


@dataclass(frozen=True)
class RunQuestion:
    """A question about a run: its words, first number, line and file; empty or None without them."""

    side: RunSide
    words: tuple[str, ...]
    number: int | None
    line: int | None
    file: str

    @classmethod
    def read(cls, side: RunSide, text: str, of_form: re.Pattern[str]) -> RunQuestion:
        """Return a question without filler and words of its form; a name with an underscore is none."""
        line, file = LINE.search(text), FILE.search(text)
        rest = LINE.sub(" ", FILE.sub(" ", FILE_LINE.sub(" ", NEGATION.sub(" ", text))))
        words = [word.strip(".:#") for word in WORD.findall(rest)]
        number = next((int(word) for word in words if word.isdecimal()), None)
        left = (word for word in words if word and not word.isdecimal() and not FILLER.fullmatch(word))
        names = tuple(word for word in left if "_" in word or not of_form.fullmatch(word.casefold()))
        return cls(side, names, number, int(line[1]) if line else None, file[0] if file else "")

    @property
    def report(self) -> Report:
        """The run's report."""
        return self.side.report

    @cached_property
    def overview(self) -> OverviewView:
        """The findings and failures of the run."""
        return OverviewView(self.report, "", self.source.text(), self.side.trials.proofs)

    @cached_property
    def source(self) -> SourceView:
        """The recorded files."""
        return SourceView(self.report, self.side.text)

    @property
    def path(self) -> str:
        """Path of the file with the line: the recorded file of that name, by default the model's."""
        recorded = (each.path for each in self.report.sources if self.file and each.path.endswith(f"/{self.file}"))
        return next(recorded, self.file or source_path(self.report))

    def is_on(self, *places: Place | None) -> bool:
        """Return True if one of the places is the question's line; its file may be named without folders."""
        at = f"/{self.path}"
        return any(place is not None and place.line == self.line and f"/{place.file}".endswith(at) for place in places)

    def named(self, known: Mapping[str, Made], what: str) -> list[Made]:
        """Return the values of the words that are names; raises UnknownNameError for a word that may be one."""
        for word in self.words:
            if word not in known and _may_be_name(word, known):
                raise unknown(word, known, what)
        return [known[word] for word in self.words if word in known]

    @property
    def compile_ids(self) -> list[str]:
        """The compilations that the question names by id or function; raises UnknownNameError."""
        ids = {each.id: [each.id] for each in self.report.compilations}
        for compile_id, name in frame_names(self.report).items():
            for known in {name, name.rpartition(".")[2]}:
                ids.setdefault(known, []).append(compile_id)
        return [each for found in self.named(ids, "compilation or function") for each in found]

    @cached_property
    def fusions(self) -> tuple[FusionView, ...]:
        """The fusion of each graph, heaviest compilation first; of named compilations and directions alone."""
        first, every = heaviest(self.report), self.report.compilations
        named = [each for each in every if each.id in self.words]
        return tuple(
            FusionView(self.report, compilation, schedule, partial(self.side.nodes, compilation))
            for compilation in sorted(named or every, key=lambda each: each is not first)
            for schedule in fusion_schedules(compilation)
            if schedule.direction in self.words or not {*DIRECTIONS} & {*self.words}
        )

    def places(self, least: int) -> list[tuple[str, list[NodePlace]]]:
        """Return named ops and kernels with their places; raises UnknownNameError, also below `least`."""
        words = (word for word in self.words if word not in DIRECTIONS and self.report.compilation(word) is None)
        named = [(word, self._places_of(word)) for word in words]
        known = [(word, places) for word, places in named if places]
        for word, places in named:
            if not places and (len(known) < least or _may_be_name(word, self._op_names)):
                raise unknown(word, self._op_names, "op, scheduler node or kernel")
        return known

    @cached_property
    def _op_names(self) -> list[str]:
        kernels = (kernel.name for view in self.fusions for kernel in view.compilation.kernels)
        titles = (title for view in self.fusions for title in view.node_titles.values())
        nodes = (name for view in self.fusions for node in view.schedule.after for name in (*node.origins, *node.nodes))
        return [*kernels, *re.findall(r"\w+", " ".join(titles)), *nodes]

    def _places_of(self, name: str) -> list[NodePlace]:
        """Return the places of a node, of an earlier FX node, or of an op or module in a launch's title."""
        exact = [(view, node) for view in self.fusions for node in nodes_of(view, name)]
        for view in () if exact else self.fusions:
            found = SelectedOp.find(self.side, view.compilation, f"n:{name}", "")
            lowered = found.op.lowered.get(view.schedule.direction, ()) if found is not None else ()
            exact += [(view, node) for each in lowered for node in nodes_of(view, each)]
        titles = ((view, node, title) for view in self.fusions for node, title in view.node_titles.items())
        return exact or [(view, node) for view, node, title in titles if name in re.findall(r"\w+", title)]

    def op_rows(self, compilation: Compilation, is_shown: Callable[[FxGraph, FxNode], bool]) -> list[OpRow]:
        """Return the shown calls of the lowered graphs, otherwise of the last graph, by launch and line."""
        shown = [
            (graph, node)
            for graph in compilation.lowered_graphs or compilation.last_graphs[-1:]
            for node in self.side.nodes(compilation, graph)
            if node.op.startswith("call_") and is_shown(graph, node)
        ]
        launched: dict[tuple[str, str], list[str]] = {}
        for view in self.fusions if shown else ():
            for name, group in launches_of(view) if view.compilation is compilation else ():
                launched.setdefault((view.graph_id, name), []).append(launch_title(group.label, group.badge))
        rows: dict[tuple[str, str, str, str, str], list[str]] = {}
        for graph, node in shown:
            launch, line = " and ".join(launched.get((graph.id, node.name), ())), node.source and node.source.short
            at = (launch, line or "", node.code, node.module, f"[{compilation.id}] {graph.direction}".strip())
            rows.setdefault(at, []).append(node.name)
        return [OpRow(names, *at) for at, names in rows.items()]


def launches_of(view: FusionView) -> Iterator[tuple[str, Group]]:
    """Yield the name of each drawn op with its launch."""
    for node in view.picture.model.nodes:
        yield node.id[2:].partition("@")[0], view.picture.model.groups[node.group]


def nodes_of(view: FusionView, name: str) -> tuple[str, ...]:
    """Return the nodes after fusion with an op, a kernel or a scheduler node of this name."""
    drawn = (node for node in view.picture.model.nodes if node.id[2:].partition("@")[0] == name)
    parts = {name, *(link[2:] for node in drawn for link in node.links if link.startswith("s:"))}
    kernels = {kernel.id for kernel in view.compilation.kernels if name in (kernel.id, kernel.name)}
    own = (node for node in view.schedule.after if node.kernel in kernels or parts & {node.name, *node.nodes})
    return tuple(node.name for node in own)


class OpRow(NamedTuple):
    """Nodes of a line in one launch; the launch is empty for views, and without kernels."""

    nodes: list[str]
    launch: str
    line: str
    code: str
    module: str
    graph: str


_COSTS = ("kernel", "time", "share", "of roofline", "excess time", "traffic", "calls", "generated name")
COSTS = tuple(column for column in LEDGER if column.name in _COSTS)
OPS: tuple[Column[OpRow], ...] = (
    Column("launch", lambda row: one_line(row.launch, LONGEST_NAME), optional=True),
    Column("nodes", lambda row: one_line(", ".join(row.nodes), LONGEST_LINE)),
    Column("line", lambda row: row.line, optional=True),
    Column("code", lambda row: one_line(row.code, LONGEST_NAME), optional=True),
    Column("module", lambda row: one_line(row.module, LONGEST_NAME), optional=True),
    Column("graph", lambda row: row.graph),
)


def pair_blocks(what: str, left: list[NodePlace], right: list[NodePlace]) -> Iterator[PageBlock]:
    """Yield why two nodes or kernels are not fused: torch's reason, or that they are in different graphs."""
    pairs = [(view, first, second) for view, first in left for other, second in right if other is view]
    if not pairs:
        graphs = " and ".join(_graph_words(places[0][0]) for places in (left, right))
        yield Title(spans(f"{what} are in different graphs: {graphs}"))
        yield from paragraph("Inductor schedules each graph by itself, and fuses nothing across graphs.")
        return
    refusals = [view.refusal(first, second) for view, first, second in pairs]
    weights = [2 if refusal is None else int(bool(refusal.recorded)) for refusal in refusals]
    place = weights.index(max(weights))
    refusal, (view, first, second) = refusals[place], pairs[place]
    yield Title(spans(f"{what} are {'not ' * (refusal is not None)}fused, in {_graph_words(view)}"))
    yield from paragraph("\n".join(f"- {plain(view.node_titles[name])}" for name in dict.fromkeys((first, second))))
    if refusal is not None:
        templates = [TEMPLATES] if LIBRARY_MATMUL.search(refusal.because) else []
        yield from paragraph("\n".join(f"- {line}" for line in (*_reasons(view, first, second), *templates)))
        yield from paragraph(refusal.shared if refusal.recorded else "", "quiet")


def _reasons(view: FusionView, left: str, right: str) -> list[str]:
    """Return why two nodes after fusion are not fused, or that the scheduler was not recorded."""
    refusal = view.refusal(left, right)
    return refusal.lines if refusal is not None and view.is_recorded else [view.from_provenance]


def _graph_words(view: FusionView) -> str:
    return f"\\[{plain(view.compilation.id)}\\] {plain(view.name)}"


def kernel_blocks(question: RunQuestion) -> Iterator[PageBlock]:
    """Yield a kernel's cost, its ops with their lines, and why it takes in no launch around it."""
    if not question.fusions:
        yield Title(spans("This run has no kernel"))
        yield from paragraph(FusionView.why_none(heaviest(question.report)))
        return
    view, ids = question.fusions[0], [each.ids[0] for each in question.fusions[0].picture.model.largest[:1]]
    if named := question.places(0):
        view, node = named[0][1][0]
        ids = [*view.hulls(node)]
    elif question.number is not None or not ids:
        numbered = ((at, each) for at in question.fusions for each in at.picture.model.groups if each.badge)
        same = next(((at, [each.id]) for at, each in numbered if each.badge == str(question.number)), None)
        if same is None:
            badges = sorted({each.badge for each in view.picture.model.groups} - {""})
            raise unknown(str(question.number), badges, "kernel")
        view, ids = same
    group = next(group for group in view.picture.model.groups if group.id in ids)
    own, ops = {link[2:] for link in group.links}, {name for name, launch in launches_of(view) if launch is group}
    name = plain(launch_title(group.label, group.badge))
    yield Title(spans(f"{name} in {_graph_words(view)}: {plain(group.detail)}"))
    ledger = KernelsView.load(question.report, view.compilation, question.side.text).rows
    yield Table("kernel launches", COSTS, [row for row in ledger if row.kernel in own][:MOST_ROWS])
    rows = question.op_rows(view.compilation, lambda graph, node: graph.id == view.graph_id and node.name in ops)
    yield Table("ops", OPS[1:-1], rows)
    yield Heading("Why it does not take in the launches around it")
    yield from paragraph("\n".join(_around(view, own)))


def _around(view: FusionView, own: set[str]) -> Iterator[str]:
    """Yield why the launches around some scheduler nodes are not fused with them, as items of a list."""
    inside = [node for node in view.schedule.after if own & {*node.nodes}]
    names, near = {node.name for node in inside}, dict[str, tuple[str, str]]()
    for node, other in product(inside, (each for each in view.schedule.after if each.name not in names)):
        for word, first, second in (("Before it", other, node), ("After it", node, other)):
            if {name for name, _ in first.writes} & {name for name, _ in second.reads}:
                near.setdefault(other.name, (word, node.name))
    for left, right in (pair for row in view.refusals.rows for pair in (row.names, row.names[::-1])):
        if left in names and right not in names:
            near.setdefault(right, ("Beside it", left))
    if not view.is_recorded or not near:
        yield f"- {view.from_provenance}" if not view.is_recorded else ALONE
    for around, (word, name) in [*near.items()][:MOST_AROUND]:
        yield f"- {word}: {plain(view.node_titles[around])}. {' '.join(_reasons(view, name, around))}"
    if len(near) > MOST_AROUND:
        yield f"- {fmt.count(len(near) - MOST_AROUND, 'more launch', 'more launches')} around it"
