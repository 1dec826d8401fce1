"""The selection on the Accelerator page: a graph of a compilation and one of its segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from core.base import words as fmt
from core.graph import divided_graph
from core.report import Compilation, FxGraph, FxNode, Pipeline, PipelineSegment
from pages.session import url
from pages.session.view import View


@dataclass(frozen=True, slots=True)
class PipelinePiece:
    """A segment of a graph; `segment` is None if the whole graph stays with torch."""

    pipeline: Pipeline
    segment: PipelineSegment | None

    @property
    def id(self) -> str:
        """The segment's id in the URL."""
        return ".".join(filter(None, [self.pipeline.direction, self.segment.name if self.segment else ""]))


def pieces(compilation: Compilation) -> dict[str, PipelinePiece]:
    """Return the segments of all graphs of a compilation, by id."""
    found = (
        PipelinePiece(pipeline, segment)
        for pipeline in compilation.pipelines
        for segment in pipeline.segments or (None,)
    )
    return {piece.id: piece for piece in found}


def chosen_piece(offered: Mapping[str, PipelinePiece]) -> PipelinePiece:
    """Return the segment that the URL names, by default the largest; draws a choice if there are several."""
    largest = max(offered, key=lambda name: _ops(offered[name]))
    url.read(url.SEGMENT, offered, largest)
    if len(offered) == 1:
        return offered[largest]
    chosen = st.selectbox(
        "Segment",
        list(offered),
        key=url.SEGMENT,
        format_func=lambda name: _words(offered[name]) if name in offered else name,
        label_visibility="collapsed",
        width=230,
    )
    url.write(url.SEGMENT)
    return offered[chosen or largest]


def _ops(piece: PipelinePiece) -> int:
    return len(piece.segment.nodes) if piece.segment else 0


def _words(piece: PipelinePiece) -> str:
    if piece.segment is None:
        return f"{piece.pipeline.direction}: all with torch"
    return f"{piece.pipeline.direction} · {piece.segment.name} · {fmt.count(_ops(piece), 'op')}"


def nodes_of(view: View, pipeline: Pipeline) -> tuple[FxNode, ...]:
    """Return the nodes of the divided graph; none if the log does not hold it."""
    graph = graph_of(view, pipeline)
    return view.nodes(graph) if graph else ()


def graph_of(view: View, pipeline: Pipeline) -> FxGraph | None:
    """Return the divided graph."""
    return divided_graph(view.compilation, pipeline)
