"""The backend `accelerator` in a run: words, numbers, nodes, and changes between runs."""

from core.analysis.pipeline.changes import (
    PipelineChange,
    PipelineFigures,
    moved_ops,
    pipeline_changes,
    pipeline_figures,
)
from core.analysis.pipeline.places import (
    BESIDE,
    FREE,
    PipelineStop,
    entries_by_node,
    node_segments,
    pipeline_stops,
    switchable_ops,
)
from core.analysis.pipeline.words import (
    crossings_disturbed,
    fallback_lines,
    memory_words,
    pipeline_lines,
    pipeline_sentence,
    pipeline_summary,
    pipelines,
    refusal_counts,
)

__all__ = [
    "BESIDE",
    "FREE",
    "PipelineChange",
    "PipelineFigures",
    "PipelineStop",
    "crossings_disturbed",
    "entries_by_node",
    "fallback_lines",
    "memory_words",
    "moved_ops",
    "node_segments",
    "pipeline_changes",
    "pipeline_figures",
    "pipeline_lines",
    "pipeline_sentence",
    "pipeline_stops",
    "pipeline_summary",
    "pipelines",
    "refusal_counts",
    "switchable_ops",
]
