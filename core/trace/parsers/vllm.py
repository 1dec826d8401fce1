"""Parsers of vLLM's records: compile calls, configuration, split graph, and piecewise compilations.

vLLM logs one `vllm_compilation_config` for each call of its backend, and a `vllm_piecewise_compile_start` before each
subgraph is compiled for a size or a range of tokens. It logs no end: torch's records up to vLLM's next record belong to
the started compilation, except Dynamo's records, which follow the last one, and records that name another subgraph.
https://github.com/vllm-project/vllm/blob/main/vllm/compilation/piecewise_backend.py
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from core.base.decoder import converted
from core.report import FxNode, PiecewiseArtifact, PiecewiseCompilation, PiecewiseGraph, VllmCall
from core.trace.parsers.draft import PieceDraft, ReportDraft, VllmCallDraft
from core.trace.parsers.fx_text import WORD, parse_graph
from core.trace.reader import TraceRecord

SPLIT = "graph_dump:vllm_piecewise_split_graph"
GRAPHS = ("graph_dump:vllm_subgraph_", "graph_dump:vllm_submod_")
CACHE = re.compile(r"^artifact:(\w{1,40})_cache_(hit|miss|bypass|disabled)$")
# Records that are of no piecewise compilation. torch logs Dynamo's when the backend has returned.
OUTSIDE = (
    "dynamo_",
    "artifact:dynamo_",
    "artifact:recompile",
    "compilation_metrics",
    "bwd_compilation_metrics",
    "chromium_event",
    "describe_",
    "artifact:compileboard_",
    "artifact:vllm_",
    "graph_dump:vllm_",
)
TEXT = re.compile(r"'[^'\n]{0,500}'|\"[^\"\n]{0,500}\"")
MOST_CALLS, MOST_PIECES, MOST_ARTIFACTS = 1_000, 100_000, 200
MOST_SETTINGS, MOST_CHARS, MOST_CONSTANTS = 200, 10_000, 20
# Lines of a log have no year; 2000 has every day.
YEAR, STAMP = "2000", "%Y%m%d %H:%M:%S.%f"


@dataclass(frozen=True, slots=True)
class _Start:
    """Payload of `vllm_piecewise_compile_start`."""

    piecewise_index: int
    compile_range_start: int
    compile_range_end: int
    is_single_size: bool = False
    is_cudagraph_capture_size: bool = False
    submod_name: str | None = None
    total_piecewise_compiles: int | None = None


def compile_event(draft: ReportDraft, record: TraceRecord) -> None:
    """Begin a call of vLLM's backend with the event that vLLM logs before its configuration."""
    kind = draft.reader.json(record)["type"]
    _begin(draft, VllmCallDraft(str(kind)[:MOST_CHARS]))


def compilation_config(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the configuration of a call; begin the call if no event began it."""
    values = draft.reader.json(record)
    config = {str(name)[:MOST_CHARS]: _setting(value) for name, value in [*values.items()][:MOST_SETTINGS]}
    last = draft.vllm[-1] if draft.vllm else None
    if last is None or last.config or last.pieces:
        _begin(draft, VllmCallDraft(config=config, compile_id=record.compile_id))
    else:
        last.config, last.compile_id = config, record.compile_id


def _setting(value: Any) -> str:
    return (value if isinstance(value, str) else msgspec.json.encode(value).decode())[:MOST_CHARS]


def piecewise_start(draft: ReportDraft, record: TraceRecord) -> None:
    """Begin the compilation of a subgraph for a size or a range of tokens."""
    start = converted(draft.reader.json(record), _Start)
    call = _current(draft)
    if len(call.pieces) >= MOST_PIECES:
        raise OverflowError(f"more than {MOST_PIECES} piecewise compilations")
    name = start.submod_name or f"subgraph_{start.piecewise_index}"
    piece = PiecewiseCompilation(
        name[:MOST_CHARS],
        start.compile_range_start,
        start.compile_range_end,
        start.is_single_size,
        start.is_cudagraph_capture_size,
        start.total_piecewise_compiles,
    )
    call.pieces.append(PieceDraft(piece, record.timestamp))


def _begin(draft: ReportDraft, call: VllmCallDraft) -> None:
    if len(draft.vllm) >= MOST_CALLS:
        raise OverflowError(f"more than {MOST_CALLS} calls of vLLM's backend")
    draft.vllm.append(call)


def _current(draft: ReportDraft) -> VllmCallDraft:
    if not draft.vllm:
        draft.vllm.append(VllmCallDraft())
    return draft.vllm[-1]


def add_to_piece(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a record to vLLM's newest call: its graphs, and torch's records of the piecewise compilation."""
    if record.kind == SPLIT:
        _current(draft).split = draft.payload(record)
    elif record.kind.startswith(GRAPHS):
        graphs = _current(draft).graphs
        graph = _graph(draft, record)
        graphs.setdefault(graph.name, graph)
    elif draft.vllm and not record.kind.startswith(OUTSIDE):
        piece = _piece_of(draft.vllm[-1], record.subgraph)
        if piece is not None:
            _add(draft, piece, record)


def _piece_of(call: VllmCallDraft, subgraph: str) -> PieceDraft | None:
    """Return the newest compilation of the named subgraph; without a known name, the newest of all."""
    named = (piece for piece in reversed(call.pieces) if piece.start.subgraph == subgraph)
    return next(named, call.pieces[-1] if call.pieces else None)


def _add(draft: ReportDraft, piece: PieceDraft, record: TraceRecord) -> None:
    piece.last = record.timestamp
    outcome = CACHE.match(record.kind)
    if outcome:
        piece.caches[outcome[1]] = outcome[2]
    if record.length and len(piece.artifacts) < MOST_ARTIFACTS:
        piece.artifacts.append(PiecewiseArtifact(record.kind, draft.payload(record)))


def _graph(draft: ReportDraft, record: TraceRecord) -> PiecewiseGraph:
    name = record.kind.removeprefix("graph_dump:vllm_")
    try:
        nodes = parse_graph(draft.text(record))
    except (SyntaxError, ValueError, RecursionError):
        return PiecewiseGraph(name, draft.payload(record), 0, "", "")
    constants = dict.fromkeys(text[1:-1] for node in nodes for text in TEXT.findall(node.args))
    return PiecewiseGraph(
        name,
        draft.payload(record),
        sum(node.op.startswith("call_") for node in nodes),
        _digest(nodes, lambda text: text),
        _digest(nodes, lambda text: TEXT.sub("''", text)),
        tuple(constants)[:MOST_CONSTANTS],
    )


def _digest(nodes: Sequence[FxNode], form: Callable[[str], str]) -> str:
    """Return a digest of a computation, with each node's name replaced by its position."""
    places = {node.name: f"%{place}" for place, node in enumerate(nodes)}
    lines = (_line(node, WORD.sub(lambda word: places.get(word[0], word[0]), form(node.args))) for node in nodes)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:16]


def _line(node: FxNode, arguments: str) -> str:
    return f"{node.op} {'' if node.op == 'placeholder' else node.target} {arguments} {node.meta}"


def vllm_calls(calls: Sequence[VllmCallDraft]) -> tuple[VllmCall, ...]:
    """Return vLLM's calls with all that was read of them."""
    return tuple(
        VllmCall(
            call.event,
            call.config,
            call.compile_id,
            call.split,
            tuple(call.graphs.values()),
            tuple(map(_compilation, call.pieces)),
        )
        for call in calls
    )


def _compilation(piece: PieceDraft) -> PiecewiseCompilation:
    return replace(
        piece.start,
        caches=piece.caches,
        seconds=_seconds_between(piece.begun, piece.last) if piece.last else None,
        artifacts=tuple(piece.artifacts),
    )


def _seconds_between(first: str, last: str) -> float | None:
    """Return the seconds between two times of a log; None if unreadable or negative."""
    try:
        begun, ended = (datetime.strptime(YEAR + stamp, STAMP) for stamp in (first, last))
    except ValueError:
        return None
    seconds = (ended - begun).total_seconds()
    return seconds if seconds >= 0 else None
