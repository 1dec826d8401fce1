"""Outline of a large log: what its index and its small records say, seconds before the whole log is read."""

from __future__ import annotations

from core.base.decoder import counted
from core.report import FxGraph, Phase, Report, Stage
from core.trace import IndexRow, TraceIndex, TraceReader, TraceRecord
from core.trace.parsers.build import draft_report, read_record
from core.trace.parsers.draft import MAX_ITEMS, ReportDraft
from core.trace.parsers.inductor import FIRST, GRAPH_STAGES

# Records of metrics, with the name of the phase whose start and duration they have.
METRICS = {"compilation_metrics": "entire_frame_compile", "bwd_compilation_metrics": "entire_backward_compile"}
# Small records, which say what was compiled, why, and for how long.
OUTLINED = (
    *METRICS,
    "dynamo_start",
    "artifact:compileboard_step",
    "artifact:dynamo_graph_break_reason",
    "artifact:dynamo_error",
    "artifact:recompile_reasons",
    "artifact:torch_version",
    "exported_program",
)


def outline(index: TraceIndex) -> Report:
    """Return a report with frames, graph breaks, recompiles, failures and seconds; raises TraceError.

    Its phases are those of torch's metrics, one for each compilation and direction. Its graphs have no ops; guards,
    kernels and everything else that is read from large records are left out.
    """
    with TraceReader(index.path) as reader:
        reader.strings.update(index.tables.strings)
        draft = ReportDraft(reader)
        for row in index.rows(index.numbers((*OUTLINED, *GRAPH_STAGES))):
            if row.kind in GRAPH_STAGES:
                _add_graph(draft, row, GRAPH_STAGES[row.kind])
                continue
            for record in reader.record_of(row.header, row.offset + row.length):
                read_record(draft, record)
                _add_phase(draft, record)
        draft.kinds.clear()
        draft.kinds.update(index.counts())
        return draft_report(draft)


def _add_phase(draft: ReportDraft, record: TraceRecord) -> None:
    body = record.body if record.kind in METRICS and isinstance(record.body, dict) else {}
    start_us, length_us = body.get("start_time_us"), counted(body.get("duration_us"))
    if isinstance(start_us, int) and length_us is not None and len(draft.phases) < MAX_ITEMS:
        compile_id = draft.unique_id(record.compile_id)
        draft.phases.append(
            Phase(METRICS[record.kind], compile_id, float(start_us), float(start_us + length_us), depth=0)
        )


def _add_graph(draft: ReportDraft, row: IndexRow, stage: Stage) -> None:
    compile_id = draft.unique_id(row.compile_id)
    record = TraceRecord(
        row.kind, {}, compile_id, row.attempt, row.rank, "", row.header, row.offset, row.length, md5=""
    )
    if not row.compile_id and stage in FIRST:
        draft.begin_root()
    compilation = draft.compilation(record)
    graph_id = compilation.fresh_id(stage, "")
    compilation.graphs.append(FxGraph(graph_id, stage, "", row.attempt, draft.payload(record), {}))
