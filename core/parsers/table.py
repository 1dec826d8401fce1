"""PARSERS: which function reads which kind of record. Add a kind with one line here."""

from __future__ import annotations

from collections.abc import Callable

from core.parsers import binaries, dynamo, events, inductor, ours, passes, times
from core.parsers.draft import ReportDraft
from core.parsers.graphs import fx_graph
from core.trace import TraceRecord

Parser = Callable[[ReportDraft, TraceRecord], None]

PARSERS: dict[str, Parser] = {
    "dynamo_start": dynamo.dynamo_start,
    "dynamo_cpp_guards_str": dynamo.guards,
    "create_symbol": dynamo.create_symbol,
    "compilation_metrics": dynamo.compilation_metrics,
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
    "artifact:compileboard_job": ours.ours(ours.setting),
    "artifact:compileboard_source": ours.ours(ours.source),
    "artifact:compileboard_step": ours.ours(ours.step),
    "artifact:compileboard_note": ours.ours(ours.note),
    "artifact:compileboard_call": ours.ours(ours.call),
    "artifact:compileboard_timing": ours.ours(ours.timing),
    "artifact:compileboard_counters": ours.ours(ours.counters),
    "artifact:compileboard_error": ours.ours(ours.error),
    "artifact:compileboard_guards": ours.ours(dynamo.recorded_guards),
    "artifact:compileboard_modules": ours.ours(ours.modules),
    "artifact:compileboard_pass": ours.ours(passes.graph_pass),
    "artifact:compileboard_passes": ours.ours(passes.unchanged_passes),
    "artifact:compileboard_partition": ours.ours(passes.partition),
    "artifact:compileboard_kept": ours.ours(passes.kept),
    "artifact:compileboard_kernel": ours.ours(ours.kernel),
    "artifact:compileboard_schedule": ours.ours(ours.schedule),
    "artifact:compileboard_kernel_times": ours.ours(times.kernel_times),
    "artifact:compileboard_roofline": ours.ours(times.roofline),
    "artifact:compileboard_autotuning": ours.ours(times.autotuning),
    "artifact:compileboard_binary": ours.ours(binaries.binary),
    "artifact:compileboard_target_choice": ours.ours(binaries.target_choice),
}
