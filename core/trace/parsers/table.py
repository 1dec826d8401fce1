"""Table of parsers by kind of record, and the frames of compilations that Dynamo did not start.

A new kind of record needs a line in the table, unless the report stores the record unchanged. Exports,
AOTInductor packages, compiled autograd and Inductor alone are compilations without a frame of Dynamo. Torch
logs their records without a compile id, or with an id such as `!0` for compiled autograd. The record of an
exported program ends its export.
"""

from collections.abc import Callable

from core.report import Compilation, Frame, Report
from core.report.records import RECORDS
from core.trace.parsers import dynamo, events, inductor, vllm, worker
from core.trace.parsers.draft import CompilationDraft, ReportDraft, fields_of, keep, typed_parser
from core.trace.parsers.inductor import GRAPH_STAGES, fx_graph
from core.trace.reader import TraceRecord

EXPORT_ID = "export"
EXPORT = "export"
PACKAGE = "AOTInductor"
AHEAD_OF_TIME = "compile_fx_aot"
DUMPS = "graphs"
_program = fx_graph("exported_program")


def exported_program(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the program that `torch.export` returned, and end the export.

    Symbols that were logged before the program belong to the same export.
    """
    if record.compile_id:
        _program(draft, record)
        return
    traced = draft.compilations.get("")
    if traced is not None and (traced.graphs or traced.kernels):
        draft.close_root(traced.id)
    _program(draft, record)
    draft.close_root(EXPORT_ID)


def is_root(compilation: CompilationDraft) -> bool:
    """Return True if a compilation without a frame has graphs or kernels, or is an export."""
    return bool(compilation.graphs or compilation.kernels or compilation.exported)


def root_frame(draft: ReportDraft, compilation: CompilationDraft) -> Frame:
    """Return a frame for a compilation without one; the name of the frame is the kind of compilation."""
    return Frame("", 0, _kind(draft, compilation))


def _kind(draft: ReportDraft, compilation: CompilationDraft) -> str:
    stages = {graph.stage for graph in compilation.graphs}
    if compilation.id.startswith("!"):
        return f"compiled autograd {compilation.id}"
    if "exported_program" in stages:
        return EXPORT
    if compilation.packaged or (stages - {"dumped"} and any(phase.name == AHEAD_OF_TIME for phase in draft.phases)):
        return PACKAGE
    if compilation.kernels or any(graph.lowered for graph in compilation.graphs):
        return "Inductor"
    if any(stage.startswith("aot_") for stage in stages):
        return "AOTAutograd"
    return EXPORT if compilation.exported else DUMPS


Parser = Callable[[ReportDraft, TraceRecord], None]

# Parsers of the worker's own records, by name in `RECORDS`, which has the type of each.
RECORDED: dict[str, Callable[..., None]] = {
    "cache_key": events.cache_key,
    "source": worker.source,
    "call": worker.call,
    "step": worker.step,
    "note": worker.note,
    "guards": dynamo.recorded_guards,
    "bytecode": dynamo.recorded_bytecode,
    "modules": worker.modules,
    "stacks": worker.stacks,
    "pass": worker.graph_pass,
    "passes": worker.unchanged_passes,
    "partition": worker.partition,
    "kept": worker.saved_for_backward,
    "invocation": worker.keyed,
    "pipeline": worker.keyed,
    "crossing": worker.crossing,
    "executions": worker.executions,
    "kernel": worker.kernel,
    "schedule": worker.schedule,
    "kernel_times": worker.kernel_times,
    "roofline": worker.roofline,
    "memory": worker.memory,
    "binary": worker.binary,
}
PARSERS: dict[str, Parser] = {
    **{
        f"artifact:compileboard_{name}": typed_parser(kind, RECORDED.get(name, keep))
        for name, kind in RECORDS.items()
        if name in RECORDED or kind in fields_of(Report) or kind in fields_of(Compilation)
    },
    "dynamo_start": dynamo.dynamo_start,
    "dynamo_cpp_guards_str": dynamo.guards,
    "create_symbol": events.create_symbol,
    "create_unbacked_symbol": events.create_unbacked_symbol,
    "guard_added_fast": events.guard_added,
    "propagate_real_tensors": events.propagate_real_tensors,
    "guard_added": events.guard_added,
    "propagate_real_tensors_provenance": events.propagate_provenance,
    "guard_on_data_dependent_error": events.data_dependent_error,
    "missing_fake_kernel": events.missing_kernel,
    "mismatched_fake_kernel": events.mismatched_kernel,
    "expression_created": events.expression_created,
    "symbolic_shape_specialization": events.specialization,
    "compilation_metrics": events.metrics("compilation", dynamo.compilation_metrics),
    "bwd_compilation_metrics": events.metrics("backward", dynamo.backward_metrics),
    "compilation_metrics_runtime": events.metrics("run time"),
    "bwd_compilation_metrics_runtime": events.metrics("backward at run time"),
    "artifact:torch._functorch.config": events.config,
    "artifact:graph_execution": events.graph_execution,
    "artifact:inductor_graph_execution": events.graph_execution,
    "artifact:dynamo_graph_break_reason": dynamo.graph_break,
    "artifact:dynamo_error": dynamo.error_text,
    "artifact:recompile_reasons": dynamo.recompile_reasons,
    **{kind: fx_graph(stage) for kind, stage in GRAPH_STAGES.items()},
    "exported_program": exported_program,
    "graph_dump:inductor_aot_code": inductor.package_code,
    "graph_dump:inductor_aot_kernel_code": inductor.package_code,
    "graph_dump:inductor_aot_wrapper_code": inductor.package_code,
    "inductor_output_code": inductor.inductor_output_code,
    "artifact:aot_forward_graph_fw_metadata": inductor.aot_metadata,
    "artifact:inductor_collective_schedule": inductor.collectives,
    "artifact:inductor_runtime_and_tensor_meta": inductor.estimates,
    "artifact:inductor_triton_kernel_to_post_grad_nodes": inductor.post_grad_nodes,
    "artifact:triton_kernel_info": inductor.kernel_info,
    "artifact:inductor_provenance_tracking_node_mappings": inductor.node_mappings,
    "artifact:inductor_provenance_tracking_kernel_stack_traces": inductor.kernel_stack_traces,
    "chromium_event": events.chromium_event,
    "artifact:fx_graph_cache_hit": events.cache_artifact,
    "artifact:fx_graph_cache_miss": events.cache_artifact,
    "artifact:fx_graph_cache_bypass": events.cache_artifact,
    "artifact:aotautograd_cache_hit": events.cache_artifact,
    "artifact:aotautograd_cache_miss": events.cache_artifact,
    "artifact:aotautograd_cache_bypass": events.cache_artifact,
    "artifact:vllm_compile_event": vllm.compile_event,
    "artifact:vllm_compilation_config": vllm.compilation_config,
    "artifact:vllm_piecewise_compile_start": vllm.piecewise_start,
    "artifact:torch_version": worker.torch_version,
    "artifact:backend_table": worker.backend_table,
    "artifact:backend_text": worker.backend_text,
    "artifact:aoti_text": worker.package_text,
    "artifact:capture": worker.capture,
    "artifact:debug_file": worker.debug_file,
    "artifact:torch_logs": worker.torch_logs,
    "artifact:fx_graph_runnable": worker.graph_runnable,
}

# Kinds that start with the name of the user's function.
ENDINGS: dict[str, Parser] = {
    "_ORIGINAL_BYTECODE": dynamo.original_bytecode,
    "_MODIFIED_BYTECODE": dynamo.modified_bytecode,
}


def parser_of(kind: str) -> Parser | None:
    """Return the parser for a kind of record; None if there is none."""
    return PARSERS.get(kind) or next((parse for end, parse in ENDINGS.items() if kind.endswith(end)), None)
