"""Jobs permitted on servers without user code: samples with flags, integers and fixed words.

No text from a visitor reaches a compiler, a path or a command: some of Inductor's options become part of
g++'s command line, and others name files that Inductor writes.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from core.accelerator.backends import SHIPPED_BACKENDS
from core.accelerator.program.program import PASSES
from core.analysis.repairs.settings import named_setting
from core.base.errors import AccessError, JobError
from core.base.words import number
from core.job import GIB, MAX_THREADS, MODES, CompileJob, OptionValue, job_from_json, job_to_json
from core.job.arguments import OwnCall, TensorSpec, parse_call
from core.job.checks import other_configuration
from core.job.gallery import sample
from core.job.options import OPTIONS as OPTIONS_OF_A_JOB
from core.job.options.call import FLAG, Names, OneOf, Whole
from core.runs.store import Run
from core.runs.tools.tasks import Interpret, Request

BACKENDS = (
    *SHIPPED_BACKENDS,
    "accelerator",
    "inductor",
    "aot_eager",
    "aot_eager_decomp_partition",
    "aot_eager_default_partitioner",
    "cudagraphs",
    "eager",
)
DEVICES = ("cpu", "cuda", "xpu", "mps")
MOST_CALL_CHARS = 2_000  #: limit: a call's arguments, where code is not allowed
MOST_ELEMENTS = 2**28  #: limit: elements of an input, where code is not allowed
MOST_SIZE = 2**16  #: limit: a dimension of a sample's input, where code is not allowed
MOST_MEMORY_BYTES = 1024 * GIB  #: limit: the memory limit of a visitor's job
MOST_PROGRAM = 2**31 - 1  #: a program id for the interpreter
CLOSED = "this option is not open to visitors of a server that does not run their code"
LITERALS = (bool, int, float, complex, type(None))

THRESHOLD = Whole(0, 10_000)

OPTIONS: dict[str, Whole | OneOf] = {
    "aggressive_fusion": FLAG,
    "allow_buffer_reuse": FLAG,
    "batch_fusion": FLAG,
    "benchmark_epilogue_fusion": FLAG,
    "benchmark_fusion": FLAG,
    "combo_kernel_max_num_nodes": Whole(1, 64),
    "combo_kernels": FLAG,
    "combo_kernels_pointwise_only": FLAG,
    "comprehensive_padding": FLAG,
    "constant_and_index_propagation": FLAG,
    "conv_1x1_as_mm": FLAG,
    "coordinate_descent_check_all_directions": FLAG,
    "coordinate_descent_search_radius": Whole(1, 4),
    "coordinate_descent_tuning": FLAG,
    "cpp.dynamic_threads": FLAG,
    "cpp.enable_concat_linear": FLAG,
    "cpp.enable_grouped_gemm_template": FLAG,
    "cpp.enable_loop_tail_vec": FLAG,
    "cpp.enable_tiling_heuristics": FLAG,
    "cpp.fallback_scatter_reduce_sum": FLAG,
    "cpp.gemm_max_k_slices": Whole(0, 64),
    "cpp.max_horizontal_fusion_size": Whole(1, 64),
    "cpp.min_chunk_size": Whole(1, 65_536),
    "cpp.no_redundant_loops": FLAG,
    "cpp.simdlen": OneOf((None, 0, 1, 128, 256, 512)),
    "cpp.threads": Whole(-1, 64),
    "cpp.weight_prepack": FLAG,
    "decompose_mem_bound_mm": FLAG,
    "delay_realize_cheap_outputs": FLAG,
    "dynamic_scale_rblock": FLAG,
    "emulate_precision_casts": FLAG,
    "epilogue_fusion": FLAG,
    "epilogue_fusion_first": FLAG,
    "fallback_random": FLAG,
    "force_layout_optimization": FLAG,
    "force_pointwise_cat": FLAG,
    "force_shape_pad": FLAG,
    "freezing": FLAG,
    "group_fusion": FLAG,
    "inplace_buffers": FLAG,
    "inplace_padding": FLAG,
    "joint_graph_constant_folding": FLAG,
    "keep_output_stride": FLAG,
    "kernel_name_max_ops": Whole(1, 30),
    "layout_optimization": FLAG,
    "loop_index_inversion_in_fusion": FLAG,
    "loop_ordering_after_fusion": FLAG,
    "max_autotune": FLAG,
    "max_autotune_gemm": FLAG,
    "max_autotune_pointwise": FLAG,
    "max_fusion_size": Whole(1, 512),
    "max_pointwise_cat_inputs": Whole(0, 64),
    "memory_planning": FLAG,
    "nan_asserts": FLAG,
    "online_softmax": FLAG,
    "pad_channels_last": FLAG,
    "pattern_matcher": FLAG,
    "permute_fusion": FLAG,
    "pick_loop_orders": FLAG,
    "prologue_fusion": FLAG,
    "realize_acc_reads_threshold": THRESHOLD,
    "realize_opcount_threshold": THRESHOLD,
    "realize_reads_threshold": THRESHOLD,
    "reorder_for_locality": FLAG,
    "reorder_for_peak_memory": FLAG,
    "score_fusion_memory_threshold": THRESHOLD,
    "shape_padding": FLAG,
    "size_asserts": FLAG,
    "split_cat_fx_passes": FLAG,
    "split_reductions": FLAG,
    "triton.coalesce_tiling_analysis": FLAG,
    "triton.codegen_upcast_to_fp32": FLAG,
    "triton.cooperative_reductions": FLAG,
    "triton.cudagraph_trees": FLAG,
    "triton.cudagraphs": FLAG,
    "triton.dense_indexing": FLAG,
    "triton.enable_persistent_tma_matmul": FLAG,
    "triton.max_tiles": Whole(1, 3),
    "triton.min_split_scan_rblock": Whole(1, 4_096),
    "triton.multi_kernel": Whole(0, 3),
    "triton.persistent_reductions": FLAG,
    "triton.prefer_nd_tiling": FLAG,
    "triton.spill_threshold": THRESHOLD,
    "triton.tile_reductions": FLAG,
    "triton.tiling_prevents_pointwise_fusion": FLAG,
    "triton.tiling_prevents_reduction_fusion": FLAG,
    "triton.use_block_ptr": FLAG,
    "unroll_reductions_threshold": Whole(1, 64),
    "use_mixed_mm": FLAG,
}


# Options of the backend `accelerator`.
ACCELERATOR: dict[str, Whole | OneOf | Names] = {
    "freeze": FLAG,
    "passes": Names(("all", "none", *PASSES)),
    "without": Names(),
}

DYNAMO: dict[str, Whole | OneOf] = {
    "allow_rnn": FLAG,
    "allow_unspec_int_on_nn_module": FLAG,
    "assume_static_by_default": FLAG,
    "automatic_dynamic_shapes": FLAG,
    "capture_dynamic_output_shape_ops": FLAG,
    "capture_scalar_outputs": FLAG,
    "enable_trace_contextlib": FLAG,
    "enable_trace_load_build_class": FLAG,
    "force_nn_module_property_static_shapes": FLAG,
    "force_parameter_static_shapes": FLAG,
    "graph_break_on_nn_param_ctor": FLAG,
    "inline_inbuilt_nn_modules": FLAG,
    "recompile_limit": Whole(1, 64),
    "specialize_float": FLAG,
    "specialize_int": FLAG,
    "suppress_errors": FLAG,
    "trace_autograd_ops": FLAG,
    "trace_numpy": FLAG,
}


# What a repair may set in a sample's file.
OF_REPAIRS: dict[str, Mapping[str, Whole | OneOf | Names]] = {
    "options": OPTIONS,
    "dynamo": DYNAMO,
    "functorch": {"activation_memory_budget": OneOf((0.5,))},
    "compile": {"dynamic": OneOf((None, False, True)), "fullgraph": FLAG, "mode": OneOf((None, *MODES))},
    "threads": {"threads": Whole(1, MAX_THREADS)},
}


def allowed(job: CompileJob) -> CompileJob:
    """Return the job, with every field in its declared type, if any visitor may submit it.

    Raises JobError if the job requires permission to run code.
    """
    typed = _through_json(job)
    for check in (_check_each, _check_model, _check_compile, _check_repairs, _check_device, _check_calls):
        check(typed)
    return typed


def allowed_request(run: Run, request: Request) -> Request:
    """Return the request itself if it runs no code from a visitor; raises AccessError."""
    if isinstance(request, Interpret):
        if request.code:
            raise AccessError("this server does not run code that visitors bring")
        if not all(0 <= axis <= MOST_PROGRAM for axis in request.program):
            raise AccessError("a program id is a whole number from 0 up")
    if request.kernel and run.status().kind == "log":
        raise AccessError("the tools run code that the log brings; this server does that for its own runs alone")
    return request


def _through_json(job: CompileJob) -> CompileJob:
    """Return the job after a JSON round trip, so that every field has its declared type."""
    try:
        return job_from_json(job_to_json(job))
    except (TypeError, UnicodeEncodeError):
        raise JobError("job", "it holds something that JSON cannot") from None


def _require(condition: bool, name: str, message: str) -> None:
    if not condition:
        raise JobError(name, f"{message}, since this server does not run code that visitors bring")


def _check_each(job: CompileJob) -> None:
    """Check each option by its rule for visitors; the checks below restrict some options further."""
    for option in OPTIONS_OF_A_JOB:
        value, rule = option.of(job), option.visitors
        if rule is True or value == option.default:
            continue
        if rule is False:
            raise JobError(option.path, CLOSED)
        _require(rule.holds(value), option.path, f"it takes {rule.words()}")


def _check_model(job: CompileJob) -> None:
    _require(job.model.kind == "sample", "model.kind", "only samples are compiled")
    sample(job.model.value)
    _require(job.model.name == "model", "model.name", "a sample is compiled as its `model`")


def _check_compile(job: CompileJob) -> None:
    other = other_configuration(job).compile if job.bits else None
    for where, options in (("compile", job.compile), ("rival", job.rival), ("bits", other)):
        if options is not None:
            _check_backend(f"{where}.backend", options.backend)
            _require(not options.backend_code, f"{where}.backend_code", "a backend is one of those that ship")
            rules = ACCELERATOR if options.backend == "accelerator" else OPTIONS
            _check_values(f"{where}.options", options.options or {}, rules)
    _check_values("conditions.dynamo", job.conditions.dynamo or {}, DYNAMO)
    if job.conditions.force_backend:
        _check_backend("conditions.force_backend", job.conditions.force_backend)


def _check_repairs(job: CompileJob) -> None:
    for where, name, value in (named_setting(repair) for step in job.repairs for repair in step):
        if where:
            _check_values(f"repairs.{where}", {name: value}, OF_REPAIRS.get(where, {}))


def _check_backend(field: str, name: str) -> None:
    _require(name in BACKENDS, field, f"it must be one of {', '.join(BACKENDS)}")


def _check_values(where: str, values: Mapping[str, OptionValue], rules: Mapping[str, Whole | OneOf | Names]) -> None:
    for name, value in values.items():
        rule = rules.get(name)
        field = f"{where}.{name[:60]}"
        if rule is None:
            raise JobError(field, CLOSED)
        _require(rule.holds(value), field, f"it takes {rule.words()}")


def _check_device(job: CompileJob) -> None:
    _require(job.device.partition(":")[0] in DEVICES, "device", f"it must be one of {', '.join(DEVICES)}")
    _require(job.memory_limit_bytes <= MOST_MEMORY_BYTES, "memory_limit_bytes", "at most 1,024 GiB")


def _check_calls(job: CompileJob) -> None:
    largest = max(job.sizes.values(), default=0)
    _require(largest <= MOST_SIZE, "sizes", f"a dimension has at most {number(MOST_SIZE)}")
    bounds = [bound or 0 for dim in job.aoti.dims for bound in (dim.least, dim.most)] if job.aoti else []
    _require(max(bounds, default=0) <= MOST_SIZE, "aoti.dims", f"a dimension has at most {number(MOST_SIZE)}")
    for index, text in enumerate(job.calls):
        field = f"calls[{index}]"
        _require(len(text) <= MOST_CALL_CHARS, field, f"at most {number(MOST_CALL_CHARS)} characters")
        call = parse_call(text, field)
        if isinstance(call, OwnCall):
            _require(max(call.sizes.values(), default=0) <= MOST_SIZE, field, f"at most {number(MOST_SIZE)}")
            continue
        leaves = list(_leaves([call.args, call.kwargs]))
        elements = sum(math.prod(leaf.shape) for leaf in leaves if isinstance(leaf, TensorSpec))
        _require(elements <= MOST_ELEMENTS, field, f"at most {number(MOST_ELEMENTS)} elements")
        plain = all(isinstance(leaf, (TensorSpec, *LITERALS)) for leaf in leaves)
        _require(plain, field, "an argument is made of tensors, numbers, True, False and None")


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the leaves of a nested argument, and the dictionary keys that are more than names."""
    if isinstance(value, (list, tuple)):
        for element in value:
            yield from _leaves(element)
    elif isinstance(value, dict):
        yield from (key for key in value if not (isinstance(key, str) and key.isidentifier()))
        yield from _leaves(list(value.values()))
    else:
        yield value
