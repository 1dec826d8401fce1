"""Comments and pins on parts of a run: their names, pages, figures, and the marks on a page.

Texts are Markdown; the lines for the command line are plain.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from core.analysis.comparison.matching import RunSide
from core.analysis.kernels.kernel import kernel_names, kernel_seconds
from core.base import words as fmt
from core.base.errors import StoreError
from core.report import Compilation, FxGraph, FxNode, GraphBreak, Kernel, Payload, Report, Schedule, tensor_text
from core.runs.comments import (
    MOST_COMMENT_CHARS,
    Anchor,
    Author,
    Comment,
    Pin,
    Talk,
    add_comment,
    delete_comment,
    digest_of,
    edit_comment,
    pin_part,
    resolve_comment,
    talk_moment,
    talk_of,
)
from core.runs.store import Run
from core.views.fusion import schedule_name
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line, plain, prose
from core.views.texts import SourceView
from core.views.threads import (
    Thread,
    author_words,
    body,
    earlier_label,
    elsewhere_words,
    no_author_words,
    older_words,
    part_label,
    pin_help,
)

# A larger graph takes seconds to read, so its nodes are not looked for.
LARGEST_GRAPH = 5_000  #: ops of a graph that is searched for a commented node
USER_LINE = re.compile(r"l(\d{0,4}):(\d{1,7})")
GENERATED_LINE = re.compile(r"c:(\d{1,7})")
NodesOf = Callable[[Compilation, FxGraph], tuple[FxNode, ...]]


@dataclass(frozen=True, slots=True)
class PagePlace:
    """A page that shows a part of the run, and the query parameters that select the part."""

    page: str
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Shown:
    """Selection of a page: a compilation, and its graph, schedule and kernel if the page shows them."""

    compilation: Compilation | None = None
    graph: str = ""
    schedule: Schedule | None = None
    kernel: Kernel | None = None


@dataclass(frozen=True)
class CommentsView:
    """The comments and pins of a run; `report` is None if the run has no report.

    `read` returns a payload of the log as text, `nodes` the nodes of a graph. `problem` is the error if the comments'
    file is damaged; comments and pins are then empty.
    """

    talk: Talk
    report: Report | None = None
    read: Callable[[Payload], str] = lambda _: ""
    nodes: NodesOf = lambda *_: ()
    problem: str = ""

    @staticmethod
    def stored(run: Run, side: RunSide | None = None) -> CommentsView:
        """Return the comments of a stored run; `side` is its report with readers, if any."""
        try:
            talk, problem = talk_of(run), ""
        except StoreError as error:
            reason = str(error)
            talk, problem = Talk(), f"{reason[:1].upper()}{reason[1:]}"
        if side is None:
            return CommentsView(talk, problem=problem)
        return CommentsView(talk, side.report, side.text, side.nodes, problem)

    @cached_property
    def threads(self) -> tuple[Thread, ...]:
        """All threads with a comment that is not deleted, open ones first, then oldest first."""
        replies: dict[str, list[Comment]] = {}
        for comment in self.talk.comments:
            replies.setdefault(comment.reply_to, []).append(comment)
        threads = [Thread(first, tuple(replies.get(first.id, ()))) for first in replies.get("", ())]
        there = [thread for thread in threads if any(each.deleted_s is None for each in thread.comments)]
        return tuple(sorted(there, key=lambda thread: not thread.is_open))

    @property
    def newest(self) -> tuple[Thread, ...]:
        """All threads, open threads first, then by their newest comment, newest first."""
        return tuple(sorted(self.threads, key=lambda thread: (not thread.is_open, -thread.comments[-1].at_s)))

    @property
    def title(self) -> str:
        """The numbers of comments and resolved threads; empty without comments."""
        comments = sum(each.deleted_s is None for thread in self.threads for each in thread.comments)
        resolved = sum(not thread.is_open for thread in self.threads)
        words = [fmt.count(comments, "comment"), f"{fmt.count(resolved, 'thread')} resolved" if resolved else ""]
        return ", ".join(filter(None, words)) if comments else ""

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        """Parts of the run with threads or a pin: first parts with threads, in the order of `newest`."""
        threads = (thread.first.anchor for thread in self.newest)
        return tuple(dict.fromkeys([*threads, *(pin.anchor for pin in self.talk.pins)]))

    def threads_on(self, anchor: Anchor) -> tuple[Thread, ...]:
        """Return the threads about a part of the run."""
        return tuple(thread for thread in self.threads if thread.first.anchor == anchor)

    def pin_of(self, anchor: Anchor) -> Pin | None:
        """Return the pin of a part of the run; None if it is not pinned."""
        return next((pin for pin in self.talk.pins if pin.anchor == anchor), None)

    def anchor_at(self, item_id: str, shown: Shown) -> Anchor | None:
        """Return the part of the run that an item of a page shows, or None."""
        kind, _, name = item_id.partition(":")
        compile_id = shown.compilation.id if shown.compilation else ""
        if match := USER_LINE.fullmatch(item_id):
            return self._line_at(int(match[1] or 0), int(match[2]))
        if match := GENERATED_LINE.fullmatch(item_id):
            return self._generated_at(int(match[1]), compile_id, shown.kernel)
        if kind == "k" and (kernel := self._kernel(compile_id, name)):
            return Anchor("kernel", compile_id, name=kernel.id)
        if kind in "sg" and kind and shown.schedule:
            return _scheduled_at(kind, name, compile_id, shown.schedule)
        if kind in ("n", "m") and compile_id:
            return Anchor("node" if kind == "n" else "module", compile_id, shown.graph, name)
        recompiled = {recompile.compilation for recompile in self.report.recompiles} if self.report else set()
        return Anchor("recompile", item_id) if item_id in recompiled else None

    def _line_at(self, file: int, line: int) -> Anchor | None:
        sources = self.report.sources if self.report else ()
        if file >= len(sources):
            return None
        path = sources[file].path
        broken = next((each for each in self._breaks(path, line)), None)
        if broken is not None:
            return Anchor("graph break", name=path, line=line, digest=digest_of(broken.reason))
        text = self._text_of(path, line)
        return Anchor("line", name=path, line=line, digest=digest_of(text)) if text is not None else None

    def _generated_at(self, line: int, compile_id: str, kernel: Kernel | None) -> Anchor | None:
        text = _row(self.read(kernel.output_code), line) if kernel else None
        if kernel is None or text is None:
            return None
        return Anchor("generated line", compile_id, kernel.graph, kernel.id, line, digest_of(text))

    def words(self, anchor: Anchor) -> str:
        """Return the name of a part of the run, as plain text with code in backticks."""
        name = one_line(anchor.name.replace("`", "'"), LONGEST_NAME)
        place, where = f"`{PurePosixPath(name).name}:{anchor.line}`", f"[{anchor.compilation}]"
        kernel = self._kernel(anchor.compilation, anchor.name)
        called = kernel.name if kernel else name.removeprefix(f"{anchor.compilation}.")
        match anchor.part:
            case "run":
                return "The run"
            case "line":
                return place
            case "graph break":
                return f"Graph break at {place}"
            case "recompile":
                return f"Recompile {where}"
            case "kernel":
                return f"Kernel `{called}` {where}"
            case "generated line":
                return f"Generated code, line {anchor.line} {where}"
        graph = f" in {anchor.graph}" if anchor.graph else ""
        return f"{anchor.part.capitalize()} `{name}`{graph} {where}"

    def title_of(self, anchor: Anchor) -> str:
        """Return the name of a part of the run as Markdown."""
        return prose(self.words(anchor), LONGEST_LINE)

    def label(self, anchor: Anchor) -> str:
        """Return the name of a part as Markdown for a link, without code, which would begin a line."""
        return plain(self.words(anchor).replace("`", ""), LONGEST_LINE)

    def target(self, anchor: Anchor) -> PagePlace:
        """Return the page that shows a part of the run; the overview if no page does."""
        select = {"compilation": anchor.compilation}
        match anchor.part:
            case "node" | "module":
                graph = {"graph": anchor.graph} if anchor.graph else {}
                return PagePlace("fx_graph", {**select, **graph, "select": f"{anchor.part[0]}:{anchor.name}"})
            case "scheduler node":
                return PagePlace("fusion", {**select, "schedule": anchor.graph, "select": f"s:{anchor.name}"})
            case "kernel":
                return PagePlace("kernels", {**select, "select": f"k:{anchor.name}"})
            case "generated line":
                line = {"whole": "true", "line": f"{anchor.line}@{anchor.name}"}
                return PagePlace("kernels", {**select, "select": f"k:{anchor.name}", **line})
            case "recompile":
                return PagePlace("recompiles", {**select, "select": anchor.compilation})
            case "graph break":
                return PagePlace("graph_breaks", {"select": self._line_id(anchor)})
            case "line" if self.report and any(compilation.graphs for compilation in self.report.compilations):
                return PagePlace("fx_graph", {"drawer": "node", "select": self._line_id(anchor)})
        return PagePlace("overview", {})

    def missing(self, anchor: Anchor) -> str:
        """Return why the log lacks a part of the run, if it is known to."""
        if self.report is None or anchor.part == "run":
            return ""
        if anchor.part in ("line", "graph break"):
            return self._missing_line(anchor)
        compilation = self.report.compilation(anchor.compilation)
        if compilation is None:
            return f"This log has no compilation [{one_line(anchor.compilation, LONGEST_NAME)}]."
        return "" if self._is_in(anchor, compilation) else f"{self.words(anchor)} is not in this log."

    def _missing_line(self, anchor: Anchor) -> str:
        text = self._text_of(anchor.name, anchor.line)
        if anchor.part == "graph break":
            there = any(digest_of(each.reason) == anchor.digest for each in self._breaks(anchor.name, anchor.line))
            return "" if there else "This log has no such graph break at that line."
        if text is None:
            return "This log does not contain that line."
        return "" if digest_of(text) == anchor.digest else "The line has changed since the comment was written."

    def _is_in(self, anchor: Anchor, compilation: Compilation) -> bool:
        match anchor.part:
            case "kernel":
                return self._kernel(compilation.id, anchor.name) is not None
            case "generated line":
                kernel = self._kernel(compilation.id, anchor.name)
                text = _row(self.read(kernel.output_code), anchor.line) if kernel else None
                return text is not None and digest_of(text) == anchor.digest
            case "scheduler node":
                named = (each for each in compilation.schedules if schedule_name(each) == anchor.graph)
                return any(node.name == anchor.name for each in named for node in each.before)
            case "node" if anchor.graph:
                graph = compilation.graph(anchor.graph)
                if graph is None or graph.calls > LARGEST_GRAPH:
                    return graph is not None
                return any(node.name == anchor.name for node in self.nodes(compilation, graph))
        return True

    def figure(self, anchor: Anchor) -> str:
        """Return one fact about a part, as Markdown; empty if there is none."""
        compilation = self.report.compilation(anchor.compilation) if self.report else None
        match anchor.part:
            case "kernel" if self.report and compilation and (kernel := self._kernel(compilation.id, anchor.name)):
                return _kernel_figure(self.report, kernel, compilation)
            case "node" if compilation and (graph := compilation.graph(anchor.graph)):
                nodes = self.nodes(compilation, graph) if graph.calls <= LARGEST_GRAPH else ()
                node = next((node for node in nodes if node.name == anchor.name), None)
                return f"`{tensor_text(node.meta.dtype, node.meta.shape)}`" if node and node.meta else ""
            case "scheduler node" if compilation:
                named = (each for each in compilation.schedules if schedule_name(each) == anchor.graph)
                sizes = [node.bytes_accessed for each in named for node in each.before if node.name == anchor.name]
                return f"{fmt.bytes_(sizes[0])} read and written" if sizes else ""
            case "line":
                text = self._text_of(anchor.name, anchor.line)
                return prose(f"`{text.strip().replace('`', chr(39))}`", LONGEST_LINE) if text else ""
            case "graph break":
                breaks = list(self._breaks(anchor.name, anchor.line))
                return f"hit {fmt.count(len(breaks[0].compilations), 'time')}" if breaks else ""
            case "recompile" if self.report:
                reasons = [each.reason for each in self.report.recompiles if each.compilation == anchor.compilation]
                return plain(reasons[0].split("\n")[0], LONGEST_LINE) if reasons else ""
        return ""

    def marks(self, shown: Shown) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the ids of a page's items that have open threads, and the ids of pinned items."""
        commented = {thread.first.anchor for thread in self.threads if thread.is_open}
        pinned = {pin.anchor for pin in self.talk.pins}
        return tuple(sorted(self._ids(commented, shown))), tuple(sorted(self._ids(pinned, shown)))

    def _ids(self, anchors: set[Anchor], shown: Shown) -> set[str]:
        return {item_id for anchor in anchors for item_id in self._ids_of(anchor, shown)}

    def _ids_of(self, anchor: Anchor, shown: Shown) -> Iterator[str]:
        if anchor.part in ("line", "graph break"):
            yield self._line_id(anchor)
        if shown.compilation is None or anchor.compilation != shown.compilation.id:
            return
        match anchor.part:
            case "node" | "module" if anchor.graph in ("", shown.graph) or not shown.graph:
                yield f"{anchor.part[0]}:{anchor.name}"
            case "scheduler node" if shown.schedule and schedule_name(shown.schedule) == anchor.graph:
                yield f"s:{anchor.name}"
            case "generated line" if shown.kernel and shown.kernel.graph == anchor.graph:
                yield f"c:{anchor.line}"
            case "kernel":
                yield f"k:{anchor.name}"
                yield from _launches(anchor.name, shown.schedule)
                if shown.kernel and shown.kernel.id == anchor.name:
                    yield f"c:{shown.kernel.lines[0]}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The open threads and pins as lines of text for the command line."""
        now = time.time()
        pins = [f"pinned: {self.words(pin.anchor)}" for pin in self.talk.pins]
        threads = [line for thread in self.threads if thread.is_open for line in self._lines_of(thread, now)]
        return (*filter(None, [self.problem]), *pins, *threads)

    def _lines_of(self, thread: Thread, now: float) -> Iterator[str]:
        missing = self.missing(thread.first.anchor)
        yield f"{self.words(thread.first.anchor)}{f' ({missing})' if missing else ''}"
        for comment in thread.comments:
            said = one_line(comment.text, LONGEST_LINE) if comment.deleted_s is None else "(deleted)"
            yield f"  {author_words(comment.by, comment.imported)}, {fmt.ago(comment.at_s, now)}: {said}"

    @property
    def data(self) -> dict[str, Any]:
        """The comments and pins as JSON-compatible data, each with its part of the run."""
        return asdict(self.talk)

    def _kernel(self, compile_id: str, kernel_id: str) -> Kernel | None:
        compilation = self.report.compilation(compile_id) if self.report else None
        return next((each for each in compilation.kernels if each.id == kernel_id), None) if compilation else None

    def _breaks(self, path: str, line: int) -> Iterator[GraphBreak]:
        for graph_break in self.report.graph_breaks if self.report else ():
            if any((frame.file, frame.line) == (path, line) for frame in graph_break.stack):
                yield graph_break

    def _line_id(self, anchor: Anchor) -> str:
        paths = [source.path for source in self.report.sources] if self.report else []
        return f"l{(paths.index(anchor.name) or '') if anchor.name in paths else ''}:{anchor.line}"

    def _text_of(self, path: str, line: int) -> str | None:
        """Return a line of a logged file; None if the log does not contain it."""
        return _row(self._file(path), line)

    def _file(self, path: str) -> str:
        return SourceView(self.report, self.read).text(path) if self.report and path else ""


def compared_parts(left: CommentsView, right: CommentsView) -> tuple[tuple[Anchor | None, Anchor | None], ...]:
    """Return (left, right) for each part with comments or pins; parts with both sides come first.

    A side is None if that run has no comment or pin on the part. Two lines or graph breaks at the same place
    are the same part, even if their texts differ.
    """
    sides = [{replace(anchor, digest=""): anchor for anchor in view.anchors} for view in (left, right)]
    pairs = [tuple(side.get(place) for side in sides) for place in dict.fromkeys([*sides[0], *sides[1]])]
    return tuple(sorted(((first, second) for first, second in pairs), key=lambda pair: None in pair))


def _scheduled_at(kind: str, name: str, compile_id: str, schedule: Schedule) -> Anchor | None:
    """Return the kernel of a launch, otherwise the scheduler node; None if there is no such node."""
    node = next((node for node in schedule.before if node.name == name), None)
    if node is None:
        return None
    if kind == "g" and node.kernel:
        return Anchor("kernel", compile_id, name=node.kernel)
    return Anchor("scheduler node", compile_id, schedule_name(schedule), name)


def _launches(kernel_id: str, schedule: Schedule | None) -> Iterator[str]:
    """Yield the ids of the boxes that launch a kernel in the drawing after fusion."""
    order = {node.name: index for index, node in enumerate(schedule.before)} if schedule else {}
    for node in schedule.after if schedule else ():
        if node.kernel == kernel_id:
            yield f"g:{min(node.nodes, key=lambda name: order.get(name, len(order)))}"


def _kernel_figure(report: Report, kernel: Kernel, compilation: Compilation) -> str:
    name, seconds = kernel_names(compilation)[kernel.id], kernel_seconds(report, compilation).get(kernel.id)
    moved = (
        None if kernel.bytes_read is None or kernel.bytes_written is None else kernel.bytes_read + kernel.bytes_written
    )
    traffic = f"{'at most ' * kernel.at_most}{fmt.bytes_(moved)} read and written" if moved is not None else ""
    figure = fmt.duration_s(seconds) if seconds is not None else traffic
    return " · ".join(filter(None, (plain(name, LONGEST_NAME), figure)))


def _row(text: str, line: int) -> str | None:
    rows = text.split("\n")
    return rows[line - 1] if text and 0 < line <= len(rows) else None
