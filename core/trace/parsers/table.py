"""PARSERS: which function reads which kind of record. Add a kind with one line here."""

from __future__ import annotations

from collections.abc import Callable

from core.report import (
    Autotuning,
    Call,
    CallNumerics,
    Crossing,
    Export,
    GraphNumerics,
    Invocation,
    Package,
    PackageRun,
    PackageTimes,
    Pipeline,
    RangeTrial,
    TargetChoice,
)
from core.report.records.aoti import ExportRecord, PackageRecord, PackageRunRecord, PackageTimesRecord, RangeTrialRecord
from core.report.records.backend import ExecutionsRecord, InvocationRecord
from core.report.records.frames import BytecodeRecord
from core.report.records.graphs import (
    GuardsRecord,
    KeptRecord,
    ModulesRecord,
    PartitionRecord,
    PassesRecord,
    PassRecord,
    StacksRecord,
)
from core.report.records.kernels import BinaryRecord, KernelRecord, ScheduleRecord, TargetChoiceRecord
from core.report.records.measured import AutotuningRecord, KernelTimesRecord, RivalRecord, RooflineRecord, TimingRecord
from core.report.records.memory import MemoryRecord
from core.report.records.numerics import CallNumericsRecord, GraphNumericsRecord
from core.report.records.pipeline import CrossingRecord, PipelineRecord
from core.report.records.run import (
    CallRecord,
    CountersRecord,
    ErrorRecord,
    JobRecord,
    NoteRecord,
    SourceRecord,
    StepRecord,
)
from core.trace import TraceRecord
from core.trace.parsers import aoti, backend, dynamo, events, inductor, memory, ours, passes, symbols, times
from core.trace.parsers.draft import ReportDraft
from core.trace.parsers.graphs import fx_graph
from core.trace.parsers.typed import listed, typed

Parser = Callable[[ReportDraft, TraceRecord], None]

PARSERS: dict[str, Parser] = {
    "dynamo_start": dynamo.dynamo_start,
    "dynamo_cpp_guards_str": dynamo.guards,
    "create_symbol": symbols.create_symbol,
    "create_unbacked_symbol": symbols.create_unbacked_symbol,
    "guard_added_fast": symbols.guard_added,
    "propagate_real_tensors": symbols.propagate_real_tensors,
    "symbolic_shape_specialization": symbols.specialization,
    "compilation_metrics": dynamo.compilation_metrics,
    "bwd_compilation_metrics": dynamo.backward_metrics,
    "artifact:dynamo_graph_break_reason": dynamo.graph_break,
    "artifact:dynamo_error": dynamo.error_text,
    "artifact:recompile_reasons": dynamo.recompile_reasons,
    "dynamo_output_graph": fx_graph("dynamo_output_graph"),
    "artifact:before_pre_grad_graph": fx_graph("before_pre_grad_graph"),
    "artifact:after_pre_grad_graph": fx_graph("after_pre_grad_graph"),
    "artifact:before_joint_graph": fx_graph("before_joint_graph"),
    "artifact:after_joint_graph": fx_graph("after_joint_graph"),
    "aot_joint_graph": fx_graph("aot_joint_graph"),
    "aot_forward_graph": fx_graph("aot_forward_graph"),
    "aot_backward_graph": fx_graph("aot_backward_graph"),
    "aot_inference_graph": fx_graph("aot_inference_graph"),
    "artifact:before_post_grad_graph": fx_graph("before_post_grad_graph"),
    "artifact:inductor_post_grad_graph": fx_graph("inductor_post_grad_graph"),
    "artifact:after_post_grad_graph": fx_graph("inductor_post_grad_graph"),
    "inductor_post_grad_graph": fx_graph("inductor_post_grad_graph"),
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
    "artifact:torch_version": ours.torch_version,
    "artifact:compileboard_job": typed(JobRecord, ours.setting),
    "artifact:compileboard_source": typed(SourceRecord, ours.source),
    "artifact:compileboard_step": typed(StepRecord, ours.step),
    "artifact:compileboard_note": typed(NoteRecord, ours.note),
    "artifact:compileboard_call": typed(CallRecord, listed(Call)),
    "artifact:compileboard_timing": typed(TimingRecord, times.timing),
    "artifact:compileboard_rival": typed(RivalRecord, times.rival),
    "artifact:compileboard_call_numerics": typed(CallNumericsRecord, listed(CallNumerics)),
    "artifact:compileboard_graph_numerics": typed(GraphNumericsRecord, listed(GraphNumerics)),
    "artifact:compileboard_counters": typed(CountersRecord, ours.counters),
    "artifact:compileboard_error": typed(ErrorRecord, ours.error),
    "artifact:compileboard_guards": typed(GuardsRecord, dynamo.recorded_guards),
    "artifact:compileboard_bytecode": typed(BytecodeRecord, dynamo.recorded_bytecode),
    "artifact:compileboard_modules": typed(ModulesRecord, ours.modules),
    "artifact:compileboard_stacks": typed(StacksRecord, ours.stacks),
    "artifact:compileboard_pass": typed(PassRecord, passes.graph_pass),
    "artifact:compileboard_passes": typed(PassesRecord, passes.unchanged_passes),
    "artifact:compileboard_partition": typed(PartitionRecord, passes.partition),
    "artifact:compileboard_kept": typed(KeptRecord, passes.kept),
    "artifact:compileboard_pipeline": typed(PipelineRecord, listed(Pipeline)),
    "artifact:compileboard_crossing": typed(CrossingRecord, listed(Crossing)),
    "artifact:compileboard_invocation": typed(InvocationRecord, listed(Invocation)),
    "artifact:compileboard_executions": typed(ExecutionsRecord, backend.executions),
    "artifact:backend_table": backend.told_table,
    "artifact:backend_text": backend.told_text,
    "artifact:compileboard_export": typed(ExportRecord, listed(Export)),
    "artifact:compileboard_range_trial": typed(RangeTrialRecord, listed(RangeTrial)),
    "artifact:compileboard_package": typed(PackageRecord, listed(Package)),
    "artifact:compileboard_package_run": typed(PackageRunRecord, listed(PackageRun)),
    "artifact:compileboard_package_times": typed(PackageTimesRecord, listed(PackageTimes)),
    "artifact:aoti_text": aoti.package_text,
    "artifact:compileboard_kernel": typed(KernelRecord, ours.kernel),
    "artifact:compileboard_schedule": typed(ScheduleRecord, ours.schedule),
    "artifact:compileboard_kernel_times": typed(KernelTimesRecord, times.kernel_times),
    "artifact:compileboard_roofline": typed(RooflineRecord, times.roofline),
    "artifact:compileboard_memory": typed(MemoryRecord, memory.memory),
    "artifact:compileboard_autotuning": typed(AutotuningRecord, listed(Autotuning)),
    "artifact:compileboard_binary": typed(BinaryRecord, ours.binary),
    "artifact:compileboard_target_choice": typed(TargetChoiceRecord, listed(TargetChoice)),
}

# Kinds that begin with the name of the user's function.
ENDINGS: dict[str, Parser] = {
    "_ORIGINAL_BYTECODE": dynamo.original_bytecode,
    "_MODIFIED_BYTECODE": dynamo.modified_bytecode,
}


def parser_of(kind: str) -> Parser | None:
    """The function that reads a kind; None where none does."""
    return PARSERS.get(kind) or next((parse for end, parse in ENDINGS.items() if kind.endswith(end)), None)
