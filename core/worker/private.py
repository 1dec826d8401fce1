"""The names of torch and Triton that the worker leans on and nobody promised: where, why, and since which torch.

A private name has an underscore in its path, or belongs to Triton, which does not say what is public; names of torch
that are public but replaced stand here, too. `tests/live/test_private_names.py` looks each up in the torch that is
installed, and refuses a private name in the worker that is not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FIRST = "2.11"


@dataclass(frozen=True, slots=True)
class PrivateName:
    """One name: the module that has it, its path in there, and what is done with it.

    `since` is the first of the supported versions of torch that has it, `until` the first that has it no more; `build`
    is `cuda` where only a build for CUDA has it.
    """

    module: str
    attribute: str
    why: str
    since: str = FIRST
    until: str = ""
    build: str = ""

    @property
    def full(self) -> str:
        """The name with its module."""
        return f"{self.module}.{self.attribute}"


def _rows(module: str, why: str, *attributes: str) -> Iterator[PrivateName]:
    """Names of one module that are used for one reason."""
    return (PrivateName(module, attribute, why) for attribute in attributes)


LOG = (
    PrivateName("torch._logging", "trace_structured", "writes our records into torch's own log"),
    *_rows(
        "torch._logging._internal",
        "a process that was forked after the import of torch begins its log, and sees whether it is still the file",
        "trace_log",
        "LOG_TRACE_HANDLER",
        "LazyTraceHandler.root_dir",
    ),
    PrivateName("torch._guards", "CompileContext.current_compile_id", "names the compilation that a record belongs to"),
    PrivateName("torch._guards", "TracingContext.try_get", "tells which outputs AOTAutograd saves for the backward"),
    *_rows("torch._dynamo.utils", "read before and after a call: what was compiled, and from which cache", "counters"),
    *_rows("torch._inductor", "counts the kernels that were generated", "metrics"),
)
DYNAMO = (
    PrivateName("torch._dynamo", "list_backends", "which backends a job may name"),
    PrivateName("torch._dynamo", "optimize", "compiles with a backend that is an object, as torch.compile does inside"),
    PrivateName(
        "torch._dynamo.backends.registry", "_COMPILER_FNS", "a backend that the file registers is taken out again"
    ),
    PrivateName("torch._dynamo.convert_frame", "_compile", "replaced: within a frame's compile the target is there"),
    *_rows(
        "torch._dynamo.guards",
        "replaced: takes the guards as soon as they are made",
        "CheckFunctionManager.__init__",
        "CheckFunctionManager.guard_manager",
    ),
    PrivateName("torch._C._dynamo.guards", "RelationalGuard", "torch prints a guard of several values once"),
    PrivateName("torch._dynamo.symbolic_convert", "tls", "its current_tx names the module whose forward is traced"),
    PrivateName(
        "torch._dynamo.variables.builder",
        "wrap_to_fake_tensor_and_record",
        "replaced: tensors that Dynamo makes of Python numbers stay on the CPU",
    ),
    PrivateName("torch.nn", "Module._compiled_call_impl", "what Module.compile() left, which a call would take"),
    PrivateName("torch._dynamo.eval_frame", "_torchdynamo_orig_callable", "on a model that the file itself compiled"),
    PrivateName(
        "torch._dynamo.decorators", "_dynamo_dynamic_indices", "as all its _dynamo_ marks, given to a tensor's copy"
    ),
)
PASSES = (
    *_rows(
        "torch._inductor.compile_fx",
        "wrapped: a round of passes, whose graph is looked at before and after",
        "_recursive_pre_grad_passes",
        "_recursive_joint_graph_passes",
        "_recursive_post_grad_passes",
    ),
    PrivateName(
        "torch._inductor.compile_fx", "view_to_reshape", "wrapped: rewrites the whole graph, and no observer sees it"
    ),
    *_rows(
        "torch._functorch._aot_autograd.graph_compile",
        "wrapped: rewrites the whole graph, and no observer sees it",
        "tensorify_python_scalars",
        "run_joint_graph_passes_on_hops",
    ),
    *_rows(
        "torch._inductor.pattern_matcher",
        "wrapped: which pattern matched, and how often",
        "LoweringPatternEntry.apply",
        "GraphPatternEntry.apply",
        "ReplacementPatternEntry.apply",
        "PatternMatcherPass",
    ),
    *_rows(
        "torch.fx.passes.graph_transform_observer",
        "wrapped: torch's own observer of passes",
        "GraphTransformObserver.apply_gm_pass",
        "GraphTransformObserver.apply_graph_pass",
        "GraphTransformObserver.__enter__",
        "GraphTransformObserver.__exit__",
    ),
    *_rows(
        "torch.fx.graph",
        "prints single nodes as torch prints them in the whole graph",
        "_Namespace",
        "Graph._codegen",
        "CodeGen._gen_python_code",
    ),
    PrivateName("torch.fx.node", "_format_arg", "compares arguments as text, which adds no guards on symbolic sizes"),
)
PARTITION = (
    PrivateName(
        "torch._inductor.compile_fx",
        "min_cut_rematerialization_partition",
        "wrapped: the partitioner that Inductor gives to AOTAutograd",
    ),
    PrivateName(
        "torch._functorch.partitioners",
        "minimum_cut",
        "wrapped: the edges of its network hold torch's reasons; before, NetworkX's function of that name",
        since="2.15",
    ),
)
SCHEDULER = (
    *_rows(
        "torch._inductor.config",
        "called with the scheduler's nodes around fusion",
        "_pre_fusion_custom_pass",
        "_post_fusion_custom_pass",
    ),
    PrivateName("torch._inductor.config", "trace.provenance_tracking_level", "raised: which nodes became which kernel"),
    PrivateName("torch._inductor.config", "patch", "sets what a run needs, and puts it back"),
    PrivateName("torch._functorch.config", "patch", "sets what a run needs, and puts it back"),
    PrivateName("torch._inductor.config", "fallback_random", "whether compiled draws the random numbers of eager"),
    *_rows(
        "torch._inductor",
        "replaced, wherever it was imported: each kernel with the nodes behind it",
        "debug.set_kernel_post_grad_provenance_tracing",
        "codegen.triton.set_kernel_post_grad_provenance_tracing",
        "codegen.cpp.set_kernel_post_grad_provenance_tracing",
    ),
    PrivateName("torch._inductor.virtualized", "V.graph", "the graph that Inductor lowers at the moment"),
    *_rows(
        "torch._inductor.graph",
        "read of the graph that is lowered: its number, its direction, its buffers",
        "GraphLowering.graph_id",
        "GraphLowering.is_backward",
        "GraphLowering.is_inference",
        "GraphLowering.graph_inputs",
        "GraphLowering.graph_outputs",
        "GraphLowering.constants",
        "GraphLowering.buffers",
        "GraphLowering.sizevars",
        "GraphLowering.try_get_buffer",
        "GraphLowering.get_output_names",
        "SubgraphLowering",
    ),
    *_rows(
        "torch._inductor.scheduler",
        "read of the scheduler's nodes: what they touch, and what fusion lets them leave out",
        "BaseSchedulerNode.read_writes",
        "BaseSchedulerNode.get_buffer_names",
        "Scheduler.can_buffer_be_removed_through_fusion",
        "SchedulerNode._body",
        "NopKernelSchedulerNode",
    ),
    *_rows(
        "torch._inductor.ir",
        "which of Inductor's values move memory, and which FX node an extern kernel is",
        "IRNode",
        "ExternKernel",
        "MultiOutput",
        "MultiOutputLayout",
        "NoneLayout",
    ),
    *_rows("torch._inductor.dependencies", "what one access of a node touches", "MemoryDep", "StarDep"),
    PrivateName("torch._ops", "OpOverload._schema", "which arguments of a library's call are written"),
    PrivateName("torch._inductor.fx_utils", "count_flops_fx", "FLOPs of an FX node"),
)
TIMING = (
    PrivateName(
        "torch._inductor.runtime.triton_heuristics",
        "CachingAutotuner.benchmark_all_configs",
        "wrapped: the time of each config",
    ),
    PrivateName(
        "torch._inductor.select_algorithm", "AlgorithmSelectorCache.log_results", "wrapped: the time of each choice"
    ),
    PrivateName("torch._inductor.codecache", "PyCodeCache.modules", "the output codes that this process has loaded"),
    PrivateName("torch._inductor.runtime.benchmarking", "benchmarker", "times a kernel as Inductor times it"),
    PrivateName("torch._inductor.runtime.cache_dir_utils", "cache_dir", "where measured ceilings are kept"),
    PrivateName("torch.cuda", "_sleep", "keeps the device busy while the work that is timed is queued"),
    PrivateName("torch.ops.mkldnn", "_is_mkldnn_bf16_supported", "whether the CPU has products of bfloat16 to measure"),
)
VALUES = (
    *_rows("torch.utils._pytree", "tensors in nested arguments and results", "tree_leaves", "tree_map_only"),
    PrivateName("torch.utils._dtype_abbrs", "dtype_abbrs", "dtypes as torch's logs write them"),
    PrivateName(
        "torch.utils._python_dispatch",
        "is_traceable_wrapper_subclass",
        "a tensor that is made of others is compared by them",
    ),
)
CPP = (
    *_rows(
        "torch._inductor.cpp_builder",
        "Inductor's own command for a C++ kernel",
        "CppBuilder",
        "CppTorchDeviceOptions",
    ),
    *_rows(
        "torch._inductor.codecache",
        "the precompiled header of that command",
        "_get_cpp_prefix_header",
        "_precompile_header",
    ),
    PrivateName(
        "torch._inductor.codecache", "_resolve_needs_vec_isa", "whether a source takes vectors; before, all do", "2.13"
    ),
    PrivateName("torch._inductor.config", "cpp_cache_precompile_headers", "whether there is such a header"),
    *_rows("torch._inductor.cpu_vec_isa", "the vectors of that command", "pick_vec_isa", "invalid_vec_isa"),
    PrivateName("torch._inductor.cpu_vec_isa", "valid_vec_isa_list", "asked once before any fork: it takes seconds"),
    *_rows("torch._inductor.fx_passes.joint_graph", "traces patterns once, before any fork", "lazy_init"),
    *_rows("torch._inductor.fx_passes.post_grad", "traces patterns once, before any fork", "lazy_init"),
)
ABSENT = (
    *_rows(
        "torch.cuda",
        "replaced: answers for a device that is not there",
        *("is_available", "is_initialized", "device_count", "current_device", "get_device_properties"),
        *("get_device_capability", "get_device_name", "is_bf16_supported", "is_tf32_supported", "set_device"),
        *("synchronize", "is_current_stream_capturing", "get_rng_state", "set_rng_state"),
        *("_exchange_device", "_maybe_exchange_device", "_lazy_init"),
    ),
    PrivateName(
        "torch._C",
        "_cuda_cudaCachingAllocator_is_enabled",
        "replaced: asked before CUDA graphs are planned",
        since="2.13",
        build="cuda",
    ),
    *_rows(
        "torch._subclasses.fake_tensor",
        "replaced: fake tensors make nothing real on the device",
        "init_gpu_context",
        "FakeTensorMode.avoid_device_init",
    ),
    *_rows(
        "torch._subclasses",
        "replaced: what the user's code holds is described as if it lay on the target",
        "fake_tensor.FakeTensorMode.from_tensor",
        "meta_utils.MetaTensorDescriber.describe_tensor",
    ),
    PrivateName("torch", "_TorchCompileInductorWrapper", "Inductor as torch.compile calls it, with its options"),
    PrivateName("torch._inductor.compile_fx", "compile_fx_backward", "replaced: kernels of a backward count from one"),
    PrivateName("torch._inductor.debug", "reset_provenance_globals", "kernels of a backward count from one"),
    PrivateName(
        "torch._inductor.codecache", "PyCodeCache.load_by_key_path", "replaced: a module for the target is not executed"
    ),
    PrivateName("torch._inductor.codecache", "PyCodeCache.load", "imports a Triton kernel's source"),
    *_rows(
        "torch._inductor.select_algorithm",
        "replaced: autotuning without a clock takes the library's kernel",
        "AlgorithmSelectorCache.do_autotuning",
        "ExternKernelCaller",
    ),
    *_rows(
        "torch._inductor.fx_passes.pad_mm",
        "replaced or asked: whether a product is padded, as far as torch's rule goes without a clock",
        "_should_pad",
        "get_cached_should_pad",
        "get_alignment_size",
        "get_padded_length",
    ),
    PrivateName("torch.library", "Library._destroy", "takes our kernels of attention out again"),
)
TRITON = (
    *_rows(
        "torch._inductor.runtime.triton_heuristics",
        "what Inductor gives to Triton's compiler for a config",
        "CachingAutotuner._create_compile_meta",
        "CachingAutotuner._create_compile_options",
        "CachingAutotuner.device_props",
    ),
    PrivateName("torch._inductor.runtime.triton_helpers", "set_driver_to_gpu", "replaced: kernels call it at import"),
    *_rows("triton", "compiles a kernel for a target that need not be here", "compile", "compiler.ASTSource"),
    PrivateName("triton.backends.compiler", "GPUTarget", "a target as Triton writes it"),
    PrivateName("triton.runtime.driver", "driver.set_active", "lets a driver be Triton's that only names the target"),
    PrivateName("triton.testing", "nvsmi", "replaced: the clock of a device that is not there"),
    PrivateName("triton.backends.nvidia.compiler", "get_ptxas", "the assembler that Triton takes for an architecture"),
    PrivateName("triton", "knobs.nvidia.nvdisasm", "the disassembler that comes with Triton"),
    PrivateName("triton", "__file__", "where cuobjdump lies, for which Triton has no name"),
    *_rows(
        "triton.runtime.interpreter",
        "wrapped: what a program of a kernel loads and stores",
        "interpreter_builder.create_masked_load",
        "interpreter_builder.create_masked_store",
        "interpreter_builder.create_atomic_rmw",
        "interpreter_builder.grid_idx",
        "GridExecutor._init_args_hst",
    ),
)
PRIVATE_NAMES = (*LOG, *DYNAMO, *PASSES, *PARTITION, *SCHEDULER, *TIMING, *VALUES, *CPP, *ABSENT, *TRITON)
