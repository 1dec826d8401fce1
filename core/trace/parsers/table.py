"""Table of parsers: the function for each kind of record. A new kind is a line here, unless it is added unchanged."""

from __future__ import annotations

from collections.abc import Callable

from core.report import Call, Compilation, Report, Roofline
from core.report.records import RECORDS
from core.report.records.graphs import (
    BytecodeRecord,
    GuardsRecord,
    KeptRecord,
    ModulesRecord,
    PartitionRecord,
    PassesRecord,
    PassRecord,
    StacksRecord,
)
from core.report.records.kernels import BinaryRecord, KernelRecord, ScheduleRecord
from core.report.records.run import (
    ExecutionsRecord,
    KernelTimesRecord,
    MemoryRecord,
    NoteRecord,
    SourceRecord,
    StepRecord,
)
from core.trace import TraceRecord
from core.trace.parsers import dynamo, events, inductor, worker
from core.trace.parsers.draft import ReportDraft, fields_of, keep, typed_parser
from core.trace.parsers.inductor import GRAPH_STAGES, fx_graph

Parser = Callable[[ReportDraft, TraceRecord], None]

# Records that a report or a compilation stores unchanged.
WHOLE: dict[str, Parser] = {
    f"artifact:compileboard_{name}": typed_parser(kind, keep)
    for name, kind in RECORDS.items()
    if kind in fields_of(Report) or kind in fields_of(Compilation)
}
PARSERS: dict[str, Parser] = {
    **WHOLE,
    "dynamo_start": dynamo.dynamo_start,
    "dynamo_cpp_guards_str": dynamo.guards,
    "create_symbol": dynamo.create_symbol,
    "create_unbacked_symbol": dynamo.create_unbacked_symbol,
    "guard_added_fast": dynamo.guard_added,
    "propagate_real_tensors": dynamo.propagate_real_tensors,
    "symbolic_shape_specialization": dynamo.specialization,
    "compilation_metrics": dynamo.compilation_metrics,
    "bwd_compilation_metrics": dynamo.backward_metrics,
    "artifact:dynamo_graph_break_reason": dynamo.graph_break,
    "artifact:dynamo_error": dynamo.error_text,
    "artifact:recompile_reasons": dynamo.recompile_reasons,
    **{kind: fx_graph(stage) for kind, stage in GRAPH_STAGES.items()},
    "inductor_output_code": inductor.inductor_output_code,
    "artifact:inductor_provenance_tracking_node_mappings": inductor.node_mappings,
    "artifact:inductor_provenance_tracking_kernel_stack_traces": inductor.kernel_stack_traces,
    "chromium_event": events.chromium_event,
    "artifact:fx_graph_cache_hit": events.cache_artifact,
    "artifact:fx_graph_cache_miss": events.cache_artifact,
    "artifact:fx_graph_cache_bypass": events.cache_artifact,
    "artifact:aotautograd_cache_hit": events.cache_artifact,
    "artifact:aotautograd_cache_miss": events.cache_artifact,
    "artifact:aotautograd_cache_bypass": events.cache_artifact,
    "artifact:torch_version": worker.torch_version,
    "artifact:compileboard_source": typed_parser(SourceRecord, worker.source),
    "artifact:compileboard_call": typed_parser(Call, worker.call),
    "artifact:compileboard_step": typed_parser(StepRecord, worker.step),
    "artifact:compileboard_note": typed_parser(NoteRecord, worker.note),
    "artifact:compileboard_guards": typed_parser(GuardsRecord, dynamo.recorded_guards),
    "artifact:compileboard_bytecode": typed_parser(BytecodeRecord, dynamo.recorded_bytecode),
    "artifact:compileboard_modules": typed_parser(ModulesRecord, worker.modules),
    "artifact:compileboard_stacks": typed_parser(StacksRecord, worker.stacks),
    "artifact:compileboard_pass": typed_parser(PassRecord, worker.graph_pass),
    "artifact:compileboard_passes": typed_parser(PassesRecord, worker.unchanged_passes),
    "artifact:compileboard_partition": typed_parser(PartitionRecord, worker.partition),
    "artifact:compileboard_kept": typed_parser(KeptRecord, worker.saved_for_backward),
    "artifact:compileboard_executions": typed_parser(ExecutionsRecord, worker.executions),
    "artifact:backend_table": worker.backend_table,
    "artifact:backend_text": worker.backend_text,
    "artifact:aoti_text": worker.package_text,
    "artifact:capture": worker.capture,
    "artifact:debug_file": worker.debug_file,
    "artifact:torch_logs": worker.torch_logs,
    "artifact:fx_graph_runnable": worker.graph_runnable,
    "artifact:compileboard_kernel": typed_parser(KernelRecord, worker.kernel),
    "artifact:compileboard_schedule": typed_parser(ScheduleRecord, worker.schedule),
    "artifact:compileboard_kernel_times": typed_parser(KernelTimesRecord, worker.kernel_times),
    "artifact:compileboard_roofline": typed_parser(Roofline, worker.roofline),
    "artifact:compileboard_memory": typed_parser(MemoryRecord, worker.memory),
    "artifact:compileboard_binary": typed_parser(BinaryRecord, worker.binary),
}

# Kinds that start with the name of the user's function.
ENDINGS: dict[str, Parser] = {
    "_ORIGINAL_BYTECODE": dynamo.original_bytecode,
    "_MODIFIED_BYTECODE": dynamo.modified_bytecode,
}


def parser_of(kind: str) -> Parser | None:
    """Return the parser for a kind of record; None if there is none."""
    return PARSERS.get(kind) or next((parse for end, parse in ENDINGS.items() if kind.endswith(end)), None)
