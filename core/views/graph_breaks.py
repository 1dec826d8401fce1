"""Graph breaks page: breaks with their fixes, the most expensive first, and frames that run eagerly."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.analysis.dynamo.costs import BreakCost, break_costs, code_words, cost_words
from core.analysis.dynamo.failures import Failure, failure_counts, failures, resumed
from core.analysis.registry import graph_break_registry
from core.base import words as fmt
from core.base.syntax import NOT_READ, module
from core.base.words import number
from core.graph.fx import source_path
from core.report import Frame, GraphBreak, Payload, Report
from core.views.blocks import (
    NOTHING_PICKED,
    Beside,
    Blocks,
    Card,
    Code,
    Data,
    Drawn,
    InLine,
    Listing,
    PageBlock,
    Picks,
    Select,
    Title,
    folded,
    paragraph,
    spans,
)
from core.views.fixes import ORIGINAL, FixesView, offer, offer_all
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from core.views.texts import SourceView, line_in, place_in_folder
from core.views.verdict import break_count_words

# Names: the selected file, and the parts that the page draws.
FILE = "broken-file"
FIXED_SAMPLE, CODE = "fixed-sample", "code"
METHOD = (
    "Ranked by Dynamo's time in the frames that a break adds: its resume functions, plus callees that could no "
    "longer be inlined. The code after a break is compiled without the break, too; *Try it* shows the difference."
)

FROM_RESTARTS = (
    "This log has no records of graph breaks, which torch writes since version 2.6. These breaks are from Dynamo's "
    "restart reasons and resume functions. Several breaks on one line count once; a break in a loop leaves no trace."
)
UNRECORDED = (
    "This log has no records of graph breaks, which torch writes since version 2.6. In any version, "
    "`TORCH_LOGS=graph_breaks` prints them."
)
REGISTRY = "https://meta-pytorch.github.io/compile-graph-break-site/gb"


def graph_breaks(
    report: Report, fixes: FixesView, read: Callable[[Payload], str], picks: Picks = NOTHING_PICKED
) -> Iterator[PageBlock]:
    """Yield the graph breaks of a run, with cost, fixes and stack, beside the file that has them.

    `read` returns a part of the log.
    """
    view, logged = GraphBreaksView(report, SourceView(report, read).text), report.graph_breaks
    yield Title(spans(view.title), GLOSSARY["graph break"] if logged else "")
    yield Drawn(ORIGINAL)
    yield from paragraph(view.record_note, "quiet")
    yield InLine((*([Drawn(FIXED_SAMPLE)] if logged else []), Data("graph_breaks", logged)))
    cards = [view.card(number, cost, fixes) for number, cost in enumerate(view.costs, 1)]
    right: Blocks = (
        *offer_all(fixes, "breaks"),
        *paragraph(METHOD if len(cards) > 1 else "", "quiet"),
        *cards,
        *view.eager_frames,
    )
    yield Beside(tuple(view.code_blocks(picks)), right)


@dataclass(frozen=True)
class GraphBreaksView:
    """The graph breaks of a run; `text` returns a file by its path, empty if not recorded."""

    report: Report
    text: Callable[[str], str] = lambda _: ""

    @cached_property
    def costs(self) -> tuple[BreakCost, ...]:
        """Costs of the breaks, the most expensive first."""
        return break_costs(self.report)

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        """Compilations without compiled code."""
        return failures(self.report)

    @property
    def title(self) -> str:
        """Number of breaks, how often they were hit, and the frames that were not compiled."""
        rest = ", ".join(failure_counts(self.failures).values())
        breaks = self.report.graph_breaks
        if breaks:
            times = sum(len(graph_break.compilations) for graph_break in breaks)
            head = f"{self._breaks}, hit {fmt.count(times, 'time')}"
            skipped = any(failure.kind == "given up" for failure in self.failures)
            more = f": {MORE_BREAKS}" if skipped else ""
            return f"{head}; {rest}{more}." if rest else f"{head}."
        refused = sum(failure.at_break for failure in self.failures)
        if refused:
            whole = ((self.report.setting.job or {}).get("compile") or {}).get("fullgraph")
            reason = ", which `fullgraph=True` does not allow" if whole else ""
            return f"{fmt.count(refused, 'compilation')} failed at a graph break{reason}."
        if self.report.break_record == "none":
            return f"{self._breaks}; {rest}." if rest else f"{self._breaks}."
        if rest:
            return f"No graph break, but {rest}."
        if not self.report.compilations:
            return "No graph break: no frame was compiled."
        if not any(compilation.has_frame for compilation in self.report.compilations):
            return "No graph break: Dynamo compiled no frame in this log."
        return "No graph break: Dynamo captured each frame as one graph."

    @property
    def _breaks(self) -> str:
        words = break_count_words(len(self.report.graph_breaks), self.report.break_record)
        return f"{words[:1].upper()}{words[1:]}"

    @property
    def record_note(self) -> str:
        """A note on breaks that the log may not record, as Markdown; empty if it records all."""
        if self.report.break_record == "complete":
            return ""
        return FROM_RESTARTS if self.report.graph_breaks else UNRECORDED

    def code_blocks(self, picks: Picks) -> Iterator[PageBlock]:
        """Yield the file with the breaks, and the choice of the file; a sentence if the log has no file."""
        if len(self.files) > 1:
            yield Select(FILE, "File", tuple(self.files))
        path = self.files.get(picks.text(FILE)) or next(iter(self.files.values()), "")
        if self.text(path or source_path(self.report)):
            yield Drawn(CODE, (), (path,))
            return
        places = "; each graph break has its file and line." if self.report.graph_breaks else "."
        yield from paragraph(f"The log does not contain the code{places}")

    @cached_property
    def files(self) -> dict[str, str]:
        """Label → path of the logged files with breaks; first the innermost file of the most expensive break."""
        logged = {source.path for source in self.report.sources}
        frames = [frame for cost in self.costs for frame in reversed(cost.graph_break.stack) if frame.file in logged]
        paths = list(dict.fromkeys(frame.file for frame in frames))
        labels = {one_line(path.rsplit("/", 1)[-1], LONGEST_NAME): path for path in reversed(paths)}
        return {label: labels[label] for label in reversed(labels)}

    def card(self, number: int, cost: BreakCost, fixes: FixesView) -> Card:
        """Return a break with torch's reason, explanation and hints, its cost, and its fixes."""
        graph_break = cost.graph_break
        hits = len(graph_break.compilations)
        times = f"\u00a0×\u00a0{fmt.number(hits)}" if hits > 1 else ""
        offered, hints = fixes.of_break(graph_break), [*paragraph(_bullets(graph_break.hints))]
        where = _where(graph_break, source_path(self.report))
        blocks: list[PageBlock] = [
            *paragraph(f"**{number}. {plain(graph_break.reason)}**{times}"),
            *paragraph(" · ".join([where, *_costs(cost)]), "quiet"),
            *(block for text in self._given_up(graph_break) for block in paragraph(text, "warn")),
            *paragraph(code(graph_break.code) or "The line was not recorded."),
            *paragraph(prose(graph_break.explanation)),
            *folded("torch's hints", hints, is_open=not offered),
            *paragraph(fixes.without_fix(graph_break), "quiet"),
            *offer(offered, f"break-{number}"),
            *_registry_entry(graph_break.registry_id),
            Listing("Stack, the innermost frame first", Code(_stack(graph_break), "text")),
        ]
        return Card(f"break-{number}", tuple(blocks))

    def _given_up(self, graph_break: GraphBreak) -> tuple[str, ...]:
        frames = {failure.compilation: failure.frame for failure in self.failures if failure.kind == "given up"}
        return tuple(
            f"\\[{plain(compile_id)}\\] {code(frames[compile_id])}: Dynamo skipped this frame. "
            + self._untraced(compile_id, frames[compile_id], graph_break)
            for compile_id in dict.fromkeys(graph_break.compilations)
            if compile_id in frames
        )

    def _untraced(self, compile_id: str, name: str, graph_break: GraphBreak) -> str:
        compilation = self.report.compilation(compile_id)
        candidates = [*([compilation.frame] if compilation else []), *reversed(graph_break.stack)]
        frame = next((frame for frame in candidates if frame.name == name), Frame("", 0, name))
        return untraced_words(self.text(frame.file) if frame.file else "", frame)

    @property
    def eager_frames(self) -> Iterator[Card]:
        """Frames that run eagerly and that no graph break names, such as those over the recompile limit."""
        named = {compile_id for graph_break in self.report.graph_breaks for compile_id in graph_break.compilations}
        for failure in self.failures:
            if failure.kind != "failed" and failure.compilation not in named:
                reason = f"**\\[{plain(failure.compilation)}\\] {code(failure.frame)}: {prose(failure.reason)}**"
                place = f"{plain(failure.place.short)} · {failure.consequence}"
                yield Card(f"eager-{failure.compilation}", (*paragraph(reason), *paragraph(place, "quiet")))


def _costs(cost: BreakCost) -> Iterator[str]:
    """Yield what a break costs, and the code after it, which is no cost of the break."""
    yield cost_words([cost]) or "no frame because of it"
    if code := code_words([cost]):
        yield f"code after it: {code}"


def _where(graph_break: GraphBreak, path: str) -> str:
    """Describe the place of a break, innermost and the user's, its hits, and the compilations with it."""
    user_line = line_in(graph_break.stack, path)
    place = ""
    if graph_break.place.file:
        place = f"{plain(place_in_folder(graph_break.place))}{_within(graph_break)}"
    if user_line is not None and graph_break.place.file == path:
        place = f"line {user_line}{_within(graph_break)}"
    elif user_line is not None:
        place += f", from line {user_line} of your file"
    ids = ", ".join(f"[{compile_id}]" for compile_id in dict.fromkeys(graph_break.compilations))
    hits = fmt.count(len(graph_break.compilations), "time")
    return f"{place or 'line not recorded'} · hit {hits}, in {plain(ids)}"


def _within(graph_break: GraphBreak) -> str:
    return f" in {plain(graph_break.stack[-1].name, LONGEST_NAME)}" if graph_break.stack else ""


def _stack(graph_break: GraphBreak) -> str:
    """Return the stack as lines of text, the innermost frame first."""
    frames = (f"{one_line(str(frame))}\n    {one_line(frame.text)}" for frame in reversed(graph_break.stack))
    return "\n".join(frames)


def _bullets(hints: Sequence[str]) -> str:
    return "\n".join(f"- {prose(hint, LONGEST_TEXT)}" for hint in hints)


def _registry_entry(registry_id: str) -> Iterator[PageBlock]:
    """Yield the entry of a kind of graph break in PyTorch's registry; nothing without a registry id."""
    if not registry_id[2:].isdigit():
        return
    registry = graph_break_registry()
    entry = registry.entries.get(registry_id)
    version = plain(registry.origin.version)
    texts: list[tuple[str, str]] = [(f"Not in the registry of torch {version}, which Compileboard includes.", "quiet")]
    if entry is not None:
        texts = [
            (f"**{prose(entry.type)}**", ""),
            (f"Context: {code(entry.context)}" if entry.context else "", "quiet"),
            (prose(entry.explanation), ""),
            (_bullets(entry.hints), ""),
            (f"From torch {version}; text in braces is filled in for each break.", "quiet"),
        ]
    texts.append((f"[Its page on the web]({REGISTRY}/{registry_id.lower()}.html)", ""))
    label = f"{plain(registry_id)} in PyTorch's registry"
    yield from folded(label, [block for text, tone in texts for block in paragraph(text, tone)])


MORE_BREAKS = "more breaks may follow"


def untraced_words(text: str, frame: Frame) -> str:
    """Return "Lines 40–44 ran eagerly: more breaks may follow."

    `text` is the file of the skipped frame, empty if it was not recorded. A resume function begins after its line.
    """
    name, after = resumed(frame.name)
    function = _function(text, name, frame.line)
    if function is None:
        begin = "The rest of this function" if after is not None else "This function"
        return f"{begin} ran eagerly: {MORE_BREAKS}."
    last = function.end_lineno or frame.line
    first = function.body[0].lineno if after is None else min(after + 1, last)
    lines = f"Lines {number(first)}–{number(last)}" if first < last else f"Line {number(first)}"
    return f"{lines} ran eagerly: {MORE_BREAKS}."


def _function(text: str, name: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the innermost function of this name around a line; None if the text has none."""
    try:
        tree = module(text)
    except NOT_READ:
        return None
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name == name
        and min([node.lineno, *(each.lineno for each in node.decorator_list)]) <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=None)
