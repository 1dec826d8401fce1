"""Choice of the layout engine: the best one that finishes in time.

Graphviz's dot runs in a separate process, which is killed if it exceeds its time limit. Otherwise the process
is reused for the next layout, since a start takes longer than most layouts.
"""

import os
import select
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any
from weakref import finalize

from core.base.decoder import decoded
from core.base.errors import LayoutError
from core.base.words import count, duration_s
from core.graph.layout.layered import lay_out_layered
from core.graph.layout.model import Box, BoxPlace, Curve, Edge, Layout, Point

MOST_BOXES_FOR_DOT = 1200  #: limit: boxes that Graphviz lays out
MOST_EDGES_FOR_DOT = 4000  #: limit: edges that Graphviz lays out
FIRST_SHARE = 0.5
LEAST_DOT_BUDGET_S = 0.02
LAYERED_S_PER_BOX = 1e-4
MOST_REMEMBERED = 1024  #: cached layouts
POINTS_PER_INCH = 72
LIMITS = "nslimit=1 nslimit1=1 mclimit=0.3"
CHILD = Path(__file__).with_name("dot_process.py")
START_S = 10.0
PICTURE_S = 5.0  #: limit: seconds to draw a picture for an agent
PICTURE = 'size="18,18" dpi=72'  # At most 1,296 pixels wide and high.
CHUNK_BYTES = 1 << 20

Process = subprocess.Popen[bytes]


def lay_out(
    boxes: Iterable[Box], edges: Iterable[Edge], budget_s: float = 2.0, most_for_dot: int = MOST_BOXES_FOR_DOT
) -> Layout:
    """Return positions for boxes and edges within about `budget_s` seconds.

    Tries dot, then dot with a bounded network simplex, then the layered layout. Single boxes, graphs of more than
    `most_for_dot` boxes, and graphs of more than `MOST_EDGES_FOR_DOT` edges use only the layered layout. Layouts
    are cached by content. Raises LayoutError if two boxes share an id or an edge has no box at an end.
    """
    key = tuple(boxes), tuple(edges), most_for_dot
    layout = _memory.get(key, budget_s)
    if layout is None:
        layout = _laid_out(*key, budget_s)
        _memory.put(key, layout, budget_s)
    return layout


Key = tuple[tuple[Box, ...], tuple[Edge, ...], int]


class _Memory:
    """Cache of the latest layouts.

    A fallback layout, which has a note, is computed again if a request has a larger budget.
    """

    def __init__(self) -> None:
        self._layouts: OrderedDict[Key, tuple[Layout, float]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, budget_s: float) -> Layout | None:
        with self._lock:
            layout, spent_s = self._layouts.get(key, (None, 0.0))
            if layout is None or (layout.note and budget_s > spent_s):
                return None
            self._layouts.move_to_end(key)
            return layout

    def put(self, key: Key, layout: Layout, budget_s: float) -> None:
        with self._lock:
            self._layouts[key] = layout, budget_s
            while len(self._layouts) > MOST_REMEMBERED:
                self._layouts.popitem(last=False)


_memory = _Memory()


def _laid_out(boxes: tuple[Box, ...], edges: tuple[Edge, ...], most_for_dot: int, budget_s: float) -> Layout:
    _check(boxes, edges)
    if not boxes:
        return Layout((), (), 0.0, 0.0, "layered", "")
    distinct = list(dict.fromkeys(edges))
    layout = _first_to_finish(boxes, distinct, budget_s, most_for_dot)
    curve_of = dict(zip(distinct, layout.edges, strict=True))
    curves = tuple(curve_of[edge] for edge in edges)
    return Layout(layout.boxes, curves, layout.width, layout.height, layout.engine, layout.note)


def _check(boxes: Sequence[Box], edges: Sequence[Edge]) -> None:
    ids = {box.id for box in boxes}
    if len(ids) < len(boxes):
        raise LayoutError("two boxes of a graph share an id; give each its own")
    for edge in edges:
        for end in (edge.source, edge.target):
            if end not in ids:
                raise LayoutError(
                    f"the edge {edge.source} → {edge.target} ends at {end}, which is not a box of the graph"
                )


def _first_to_finish(boxes: Sequence[Box], edges: Sequence[Edge], budget_s: float, most_for_dot: int) -> Layout:
    if len(boxes) == 1:
        return lay_out_layered(boxes, edges)
    size = count(len(boxes), "node")
    if len(boxes) > most_for_dot or len(edges) > MOST_EDGES_FOR_DOT:
        return _layered(
            boxes, edges, f"{size} are more than dot draws in {duration_s(budget_s)}; drawn with the layered layout"
        )
    end = monotonic() + budget_s - LAYERED_S_PER_BOX * len(boxes)
    reason = f"dot did not finish {size} in {duration_s(budget_s)}"
    for share, limited in ((FIRST_SHARE, False), (1.0, True)):
        left = (end - monotonic()) * share
        if left < LEAST_DOT_BUDGET_S:
            break
        try:
            return lay_out_with_dot(boxes, edges, left, limited)
        except DotError as failure:
            reason = reason if failure.out_of_time else str(failure)
    return _layered(boxes, edges, f"{reason}; drawn with the layered layout")


def _layered(boxes: Sequence[Box], edges: Sequence[Edge], note: str) -> Layout:
    layout = lay_out_layered(boxes, edges)
    return Layout(layout.boxes, layout.edges, layout.width, layout.height, layout.engine, note)


def lay_out_with_dot(boxes: Sequence[Box], edges: Sequence[Edge], budget_s: float, limited: bool) -> Layout:
    """Lay out with dot; raises DotError.

    `limited` bounds dot's network simplex, which takes minutes on some graphs by default.
    """
    answer = dot_server(sys.executable).ask(_dot_text(boxes, edges, limited), budget_s)
    return _read(decoded(answer), boxes, edges, "dot, limited" if limited else "dot")


def _dot_text(boxes: Sequence[Box], edges: Sequence[Edge], limited: bool) -> str:
    """Return the graph in DOT; boxes are named n0, n1 …, so that Graphviz parses no external text."""
    number = {box.id: index for index, box in enumerate(boxes)}
    lines = [
        "digraph {",
        f"graph [rankdir=TB nodesep=0.28 ranksep=0.42 {LIMITS if limited else ''}]",
        'node [shape=box fixedsize=true label=""]',
        "edge [dir=none]",
    ]
    for index, box in enumerate(boxes):
        lines.append(f"n{index} [width={box.width / POINTS_PER_INCH:.4f} height={box.height / POINTS_PER_INCH:.4f}]")
    for index, edge in enumerate(edges):
        lines.append(f"n{number[edge.source]} -> n{number[edge.target]} [id={index}]")
    return "\n".join([*lines, "}"])


def _read(answer: Any, boxes: Sequence[Box], edges: Sequence[Edge], engine: str) -> Layout:
    """Convert Graphviz's points (y up, node centres) into pixels (y down, top-left corners)."""
    _, _, width, height = (float(part) for part in answer["bb"].split(","))
    placed: list[BoxPlace | None] = [None] * len(boxes)
    for node in answer.get("objects", ()):
        index = int(node["name"][1:])
        x, y = _flipped_point(node["pos"], height)
        box = boxes[index]
        placed[index] = BoxPlace(box.id, round(x - box.width / 2, 1), round(y - box.height / 2, 1))
    curves: list[Curve] = [()] * len(edges)
    for edge in answer.get("edges", ()):
        curves[int(edge["id"])] = tuple(_flipped_point(pair, height) for pair in edge["pos"].split())
    complete = tuple(place for place in placed if place is not None)
    if len(complete) != len(boxes) or not all(curves):
        raise DotError("dot left out a part of the graph")
    return Layout(complete, tuple(curves), round(width, 1), round(height, 1), engine, "")


def _flipped_point(pair: str, height: float) -> Point:
    x, y = pair.split(",")
    return round(float(x), 1), round(height - float(y), 1)


class DotError(Exception):
    """Failure of dot: a timeout, a crash, or a missing installation."""

    def __init__(self, message: str, out_of_time: bool = False) -> None:
        super().__init__(message)
        self.out_of_time = out_of_time


class DotServer:
    """A dot process shared by all threads; lays out one graph at a time."""

    def __init__(self, executable: str, form: str) -> None:
        self._command = [executable, "-P", str(CHILD), form]
        self._lock = Lock()
        self._process: Process | None = None
        self._ready = False

    def ask(self, text: str, budget_s: float) -> bytes:
        """Return a graph in the form of the process.

        Raises DotError. The process's start does not count toward the budget.
        """
        with self._lock:
            process = self._started()
            try:
                return _exchange(process, text.encode(), monotonic() + budget_s)
            except (OSError, DotError) as error:
                end(process)
                self._start()
                raise error if isinstance(error, DotError) else _broken() from error

    def _started(self) -> Process:
        if self._process is None or self._process.poll() is not None:
            self._start()
        process = self._process
        if process is None:
            raise _broken()
        if not self._ready:
            _read_message(process, monotonic() + START_S)
            self._ready = True
        return process

    def _start(self) -> None:
        """Start a process without waiting until it is ready: after a kill, the next layout waits for it."""
        self._process, self._ready = None, False
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
            )
        except OSError:
            return
        finalize(self, end, self._process)


@lru_cache(maxsize=2)
def dot_server(executable: str, form: str = "json0") -> DotServer:
    """Return the dot server of a Python executable for a form, shared by all callers."""
    return DotServer(executable, form)


def draw_png(dot: str) -> bytes:
    """Return a graph in DOT as a PNG; raises LayoutError."""
    text = dot.replace("digraph {", f"digraph {{\ngraph [{PICTURE}]", 1)
    try:
        return dot_server(sys.executable, "png").ask(text, PICTURE_S)
    except DotError as error:
        raise LayoutError(f"{error}; ask for a smaller part of the graph, or for DOT") from None


def end(process: Process) -> None:
    """Kill a process and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _exchange(process: Process, text: bytes, deadline: float) -> bytes:
    assert process.stdin is not None
    message = b"%d\n%b" % (len(text), text)
    while message:
        message = message[process.stdin.write(message) :]
    return _read_message(process, deadline)


def _read_message(process: Process, deadline: float) -> bytes:
    """Return one message from the process; raises DotError after the deadline or if the process ended."""
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    message = bytearray()
    length: int | None = None
    while length is None or len(message) < length:
        left = deadline - monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            raise DotError("dot did not finish", out_of_time=True)
        chunk = os.read(pipe, CHUNK_BYTES)
        if not chunk:
            raise _broken()
        message += chunk
        if length is None and b"\n" in message:
            header, _, rest = message.partition(b"\n")
            length, message = int(header), rest
    return bytes(message)


def _broken() -> DotError:
    return DotError("dot failed (is pygraphviz installed?)")
