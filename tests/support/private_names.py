"""Private names of torch and Triton that the worker uses, with the reason and the torch versions.

A private name has an underscore in its path, or belongs to Triton, which does not document its public names.
Public names of torch that the worker replaces are listed, too. `tests/live/test_private_names.py` looks up each name
in the installed torch, and fails if the worker uses a private name that is not listed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

FIRST = "2.11"
UNOBSERVED = "wrapped: rewrites the whole graph, and no observer sees it"


@dataclass(frozen=True, slots=True)
class PrivateName:
    """A private name of torch: its module, its path there, and why it is used.

    `since` is the first supported torch version that has it, `until` the first that no longer has it; `build` is `cuda`
    if only a CUDA build has it.
    """

    module: str
    attribute: str
    why: str
    since: str = FIRST
    until: str = ""
    build: str = ""

    @property
    def full(self) -> str:
        """Return the name with its module."""
        return f"{self.module}.{self.attribute}"


def rows(module: str, why: str, *attributes: str) -> Iterator[PrivateName]:
    """Return a row for each name of a module; all have the same reason."""
    return (PrivateName(module, attribute, why) for attribute in attributes)


PRIVATE_NAMES = (
    PrivateName("torch._logging", "trace_structured", "writes our records into torch's own log"),
    PrivateName("torch.autograd.profiler", "_is_profiler_enabled", "a profiler of the user's own is left running"),
    PrivateName("torch._logging", "set_logs", "chooses messages as TORCH_LOGS does"),
    *rows(
        "torch._logging._internal",
        "a process that was forked after the import of torch begins its log, and sees whether it is still the file",
        "trace_log",
        "LOG_TRACE_HANDLER",
        "LazyTraceHandler.root_dir",
    ),
    PrivateName("torch._logging._internal", "_track_handler", "a script's own TORCH_TRACE is written, too"),
    *rows(
        "torch._logging._internal",
        "records torch's own log messages, by the names that TORCH_LOGS takes",
        "log_registry",
        "TorchLogsFormatter",
        "_init_logs",
        "_is_torch_handler",
        "_is_valid_module",
    ),
    PrivateName("torch._logging.structured", "INTERN_TABLE", "names the files of the stacks that torch has logged"),
    PrivateName("torch._guards", "CompileContext.current_compile_id", "names the compilation that a record belongs to"),
    PrivateName("torch._guards", "CompileContext.try_get", "keeps it for what is recorded after the call"),
    PrivateName("torch._guards", "compile_context", "names that compilation again when it is recorded"),
    PrivateName("torch._guards", "TracingContext.try_get", "tells which outputs AOTAutograd saves for the backward"),
    *rows(
        "torch._dynamo.debug_utils",
        "writes a minified graph as a script, and copies inputs for trials",
        "NNModuleToString",
        "NNModuleToString.convert",
        "cast_to_fp64",
        "clone_inputs_retaining_gradness",
    ),
    *rows("torch._dynamo.utils", "compares the results of a minified graph", "same"),
    *rows("torch._dynamo.utils", "read before and after a call: what was compiled, and from which cache", "counters"),
    *rows("torch._inductor", "counts the kernels that were generated", "metrics"),
    *rows(
        "torch._dynamo.utils",
        "gives each recompile of a user's process its label",
        "register_hook_for_recompile_user_context",
        "get_hook_for_recompile_user_context",
        "reset_recompile_user_contexts",
    ),
    *rows("torch._dynamo.convert_frame", "which functions were compiled before recording", "input_codes.seen"),
    PrivateName("torch._dynamo", "config.recompile_limit", "how often a frame may be compiled, as the user left it"),
    PrivateName("torch._dynamo", "config._config", "which settings a job may name, their defaults and their aliases"),
    PrivateName("torch._inductor", "config._config", "which options a job may name, their defaults and their aliases"),
    PrivateName("torch._dynamo", "mark_dynamic", "marks the dimensions that a job names"),
    PrivateName("torch._dynamo", "config.patch", "captures again what a captured graph may hold"),
    PrivateName(
        "torch._dynamo", "list_backends", "which backends a job may name, and which are for debugging, or experimental"
    ),
    PrivateName("torch._inductor", "list_mode_options", "which modes there are, and what each sets"),
    PrivateName("torch._dynamo", "optimize", "compiles with a backend that is an object, as torch.compile does inside"),
    PrivateName(
        "torch._dynamo.backends.registry", "_COMPILER_FNS", "a backend that the file registers is taken out again"
    ),
    PrivateName("torch._dynamo.backends.registry", "_BACKENDS", "a script sees torch's own backends alone"),
    *rows(
        "torch._dynamo.eval_frame",
        "wrapped while a script runs: returns what torch.compile returns",
        "OptimizeContext",
        "OptimizeContext.__call__",
    ),
    PrivateName("torch", "_has_compatible_shallow_copy_type", "a tensor is moved in place, or swapped"),
    PrivateName(
        "torch._library.custom_ops",
        "OPDEFS",
        "each copy of a file defines its custom ops again, and all call the last one",
    ),
    PrivateName(
        "torch._dynamo.convert_frame", "register_bytecode_hook", "called with a frame's code before and after Dynamo"
    ),
    PrivateName("torch._dynamo.convert_frame", "_compile", "replaced: within a frame's compile the target is there"),
    *rows(
        "torch._dynamo.guards",
        "replaced: takes the guards as soon as they are made",
        "CheckFunctionManager.__init__",
        "CheckFunctionManager.guard_manager",
    ),
    PrivateName("torch._dynamo.guards", "profile_guard_manager", "replaced in a trial, which needs no time of guards"),
    PrivateName(
        "torch._dynamo.output_graph",
        "OutputGraph.call_user_compiler",
        "wrapped: what a backend is given, and what it returns, however torch.compile came by it",
    ),
    *rows(
        "torch._dynamo.convert_frame",
        "replaced while a script runs: torch is about to compile a frame, in this call of the script",
        "ConvertFrameAssert",
        "ConvertFrameAssert.__call__",
    ),
    PrivateName("threading", "_threading_atexits", "called at the end of a script: executors stop their threads there"),
    PrivateName("torch._dynamo.eval_frame", "skip_code", "the recorder around a script's call is not traced"),
    PrivateName("torch._dynamo.eval_frame", "_stance.stance", "the stance in which a script makes a call"),
    PrivateName("torch._dynamo.eval_frame", "innermost_backend", "the backend as torch.compile was given it"),
    PrivateName("torch._dynamo.exc", "RestartAnalysis", "raised through a backend, it is no fault of the backend's"),
    *rows(
        "torch.fx._lazy_graph_module",
        "a graph that writes its code when it first runs does so before it is watched",
        "_LazyGraphModule",
        "_LazyGraphModule._lazy_forward",
    ),
    PrivateName("torch.fx", "Node._pretty_print_target", "the target of a node as torch writes it"),
    PrivateName("torch._C._dynamo.guards", "RelationalGuard", "torch prints a guard of several values once"),
    PrivateName(
        "torch._C._dynamo.guards", "RootGuardManager.clone_manager", "a copy without some values is timed without them"
    ),
    PrivateName(
        "torch._C._dynamo.eval_frame", "set_guard_complete_hook", "tells whether a frame had code that was good"
    ),
    PrivateName(
        "torch._dynamo.eval_frame", "_debug_get_cache_entry_list", "the codes of a frame, the one used last first"
    ),
    PrivateName("torch._dynamo.symbolic_convert", "tls", "its current_tx names the module whose forward is traced"),
    PrivateName(
        "torch._dynamo.variables.builder",
        "wrap_to_fake_tensor_and_record",
        "replaced: tensors that Dynamo makes of Python numbers stay on the CPU",
    ),
    PrivateName("torch.nn", "Module._call_impl", "a frame of a module's call, in a traceback"),
    PrivateName("torch.nn", "Module._wrapped_call_impl", "the same"),
    PrivateName("torch.nn", "Module._compiled_call_impl", "what Module.compile() left, which a call would take"),
    PrivateName("torch._dynamo.eval_frame", "_torchdynamo_disable", "on a model that is not to be compiled"),
    PrivateName("torch._dynamo.eval_frame", "_torchdynamo_orig_callable", "on a model that the file itself compiled"),
    PrivateName(
        "torch._dynamo.decorators", "_dynamo_dynamic_indices", "as all its _dynamo_ marks, given to a tensor's copy"
    ),
    *rows(
        "torch.utils._pytree", "tensors in nested arguments and results", "tree_flatten", "tree_leaves", "tree_map_only"
    ),
    PrivateName(
        "torch.utils._python_dispatch", "TorchDispatchMode", "asks for float64 where a narrower float is named"
    ),
    PrivateName("torch.utils._dtype_abbrs", "dtype_abbrs", "dtypes as torch's logs write them"),
    PrivateName(
        "torch.utils._python_dispatch",
        "is_traceable_wrapper_subclass",
        "a tensor that is made of others is compared by them",
    ),
    PrivateName("torch._C", "DisableTorchFunctionSubclass", "tensors of a user's subclass are compared by value"),
    PrivateName("torch._dynamo", "register_backend", "puts the backend's name among those that torch knows"),
    PrivateName("torch._dynamo.backends.common", "aot_autograd", "captures ATen graphs, forward and backward"),
    PrivateName("torch._decomp", "core_aten_decompositions", "which ops are taken apart, and into what"),
    PrivateName(
        "torch._functorch.partitioners",
        "min_cut_rematerialization_partition",
        "divides the joint graph as Inductor does",
    ),
    PrivateName("torch._subclasses.fake_tensor", "unset_fake_temporarily", "parameters that become constants are real"),
    PrivateName("torch._dynamo.decorators", "_dynamo_static_input_type", "tells parameters from what a call brings"),
    *rows(
        "torch.ops.aten",
        "ATen ops that there are kernels for",
        *("_softmax", "_log_softmax", "_to_copy", "_unsafe_view", "_fused_rms_norm"),
        "_scaled_dot_product_flash_attention_for_cpu",
    ),
    PrivateName("torch._ops", "OpOverload", "tells an ATen op from a function on sizes"),
    PrivateName("torch._C._dynamo.guards", "_empty_strided_cpu", "allocates results, as Inductor's code does"),
    *rows("torch.fx.passes.infra.partitioner", "proposes segments without cycles", "CapabilityBasedPartitioner"),
    *rows("torch.fx.passes.utils.fuser_utils", "makes each segment a module", "fuse_by_partitions"),
    *rows("torch.fx.passes.operator_support", "is asked about each node", "OperatorSupportBase"),
    *rows("torch._functorch.fx_minifier", "leaves the smallest graph that still fails or differs", "minifier"),
    *rows(
        "torch._inductor.debug",
        "wrapped: the texts that TORCH_COMPILE_DEBUG=1 writes",
        "DebugContext",
        "DebugContext.__getattr__",
        "DebugFormatter",
        "DebugFormatter._write_ir",
    ),
    *rows(
        "torch._inductor.compiler_bisector",
        "looks for the part of torch.compile without which the model neither fails nor differs",
        "CompilerBisector.do_bisect",
        "CompilerBisector.delete_bisect_status",
        "CompilerBisector.bisection_enabled",
        "BACKENDS",
        "BisectionResult",
        "ConfigChange",
    ),
    *rows(
        "torch._inductor.compile_fx",
        "wrapped: a round of passes, whose graph is looked at before and after",
        "_recursive_pre_grad_passes",
        "_recursive_joint_graph_passes",
        "_recursive_post_grad_passes",
    ),
    PrivateName("torch._inductor.compile_fx", "view_to_reshape", UNOBSERVED),
    *rows(
        "torch._functorch._aot_autograd.graph_compile",
        UNOBSERVED,
        "tensorify_python_scalars",
        "run_joint_graph_passes_on_hops",
    ),
    *rows(
        "torch._functorch._aot_autograd.graph_compile",
        "wrapped: the graph that AOTAutograd traced",
        "aot_stage2_inference",
        "aot_stage2_autograd",
    ),
    *rows(
        "torch._inductor.pattern_matcher",
        "wrapped: which pattern matched, and how often",
        "LoweringPatternEntry.apply",
        "GraphPatternEntry.apply",
        "ReplacementPatternEntry.apply",
        "PatternMatcherPass",
    ),
    *rows(
        "torch.fx.passes.graph_transform_observer",
        "wrapped: torch's own observer of passes",
        "GraphTransformObserver.apply_gm_pass",
        "GraphTransformObserver.apply_graph_pass",
        "GraphTransformObserver.__enter__",
        "GraphTransformObserver.__exit__",
    ),
    *rows(
        "torch.fx.graph",
        "prints single nodes as torch prints them in the whole graph",
        "_Namespace",
        "Graph._codegen",
        "CodeGen._gen_python_code",
    ),
    PrivateName("torch.fx.node", "_format_arg", "compares arguments as text, which adds no guards on symbolic sizes"),
    PrivateName("torch._inductor.codecache", "_worker_compile_cpp", "wrapped: an object whose build was killed goes"),
    PrivateName("torch._inductor.codecache", "LOCK_TIMEOUT", "how long torch waits for another build of an object"),
    PrivateName("torch.utils._filelock", "FileLock", "held by whoever builds an object"),
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
    PrivateName("torch._inductor.codecache", "FxGraphCachePickler.debug_lines", "wrapped: the parts of each cache key"),
    *rows(
        "torch._inductor.cudagraph_trees",
        "wrapped: counts warm-up runs, recordings and replays",
        "CUDAGraphTreeManager.run_eager",
        "CUDAGraphTreeManager.record_function",
        "CUDAGraphTreeManager.execute_node",
    ),
    PrivateName("torch.compiler._cache", "CacheArtifactManager.deserialize", "sizes of the parts of a bundle"),
    PrivateName("torch._dynamo.dynamo_profiler", "DynamoProfilerState.dump_stats", "replaced: recorded", since="2.13"),
    PrivateName(
        "torch._dynamo.output_graph",
        "OutputGraph.mark_bytecode_tracing_stop",
        "wrapped: ends a profile at a graph break",
        since="2.13",
    ),
    *rows(
        "torch._inductor.config",
        "called with the scheduler's nodes around fusion",
        "_pre_fusion_custom_pass",
        "_post_fusion_custom_pass",
    ),
    PrivateName("torch._inductor.config", "trace.provenance_tracking_level", "raised: which nodes became which kernel"),
    PrivateName("torch._inductor.config", "patch", "sets what a run needs, and puts it back"),
    *rows("torch._functorch.config", "patched, and read for a cache key", "patch", "get_serializable_config_copy"),
    PrivateName("torch._inductor.config", "fallback_random", "whether compiled draws the random numbers of eager"),
    PrivateName("torch._dynamo.config", "use_numpy_random_stream", "whether compiled draws NumPy's random numbers"),
    *rows(
        "torch._inductor",
        "replaced, wherever it was imported: each kernel with the nodes behind it",
        "debug.set_kernel_post_grad_provenance_tracing",
        "codegen.triton.set_kernel_post_grad_provenance_tracing",
        "codegen.cpp.set_kernel_post_grad_provenance_tracing",
    ),
    PrivateName("torch._inductor.virtualized", "V.graph", "the graph that Inductor lowers at the moment"),
    *rows(
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
        "GraphLowering.compile_to_module",
        "GraphLowering.name_to_buffer",
        "SubgraphLowering",
    ),
    *rows(
        "torch._inductor.scheduler",
        "read of the scheduler's nodes: what they touch, and what fusion lets them leave out",
        "BaseSchedulerNode.read_writes",
        "BaseSchedulerNode.get_buffer_names",
        "Scheduler.can_buffer_be_removed_through_fusion",
        "SchedulerNode._body",
        "NopKernelSchedulerNode",
    ),
    *rows(
        "torch._inductor.ir",
        "which of Inductor's values move memory, and which FX node an extern kernel is",
        "IRNode",
        "ExternKernel",
        "MultiOutput",
        "MultiOutputLayout",
        "NoneLayout",
    ),
    *rows("torch._inductor.dependencies", "what one access of a node touches", "MemoryDep", "StarDep"),
    PrivateName("torch._ops", "OpOverload._opname", "tells exact ops and dropout from others"),
    PrivateName("torch._ops", "OpOverload._schema", "which arguments of a library's call are written"),
    PrivateName("torch.utils.flop_counter", "flop_registry", "torch's formulas for the FLOPs of a call"),
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
    *rows(
        "torch._inductor.cpp_builder",
        "Inductor's own command for a C++ kernel",
        "CppBuilder",
        "CppTorchDeviceOptions",
    ),
    *rows(
        "torch._inductor.codecache",
        "the precompiled header of that command",
        "_get_cpp_prefix_header",
        "_precompile_header",
    ),
    PrivateName(
        "torch._inductor.codecache", "_resolve_needs_vec_isa", "whether a source takes vectors; before, all do", "2.13"
    ),
    PrivateName("torch._inductor.config", "cpp_cache_precompile_headers", "whether there is such a header"),
    *rows("torch._inductor.cpu_vec_isa", "the vectors of that command", "pick_vec_isa", "invalid_vec_isa"),
    PrivateName("torch._inductor.cpu_vec_isa", "valid_vec_isa_list", "asked once before any fork: it takes seconds"),
    *rows("torch._inductor.fx_passes.joint_graph", "traces patterns once, before any fork", "lazy_init"),
    *rows("torch._inductor.fx_passes.post_grad", "traces patterns once, before any fork", "lazy_init"),
    *rows("torch._inductor", "makes a package, and loads it", "aoti_compile_and_package", "aoti_load_package"),
    PrivateName("torch._dynamo.eval_frame", "OptimizedModule._orig_mod", "the model that the file itself compiled"),
    *rows(
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
    *rows(
        "torch._subclasses.fake_tensor",
        "replaced: fake tensors make nothing real on the device",
        "init_gpu_context",
        "FakeTensorMode.avoid_device_init",
    ),
    *rows(
        "torch._subclasses.fake_tensor",
        "replaced: the results of an operator that torch would run on zeros of the device",
        "run_fallback_kernel",
        "FakeTensor",
    ),
    *rows("torch.utils._pytree", "arguments and results of an operator, one by one", "tree_map", "tree_unflatten"),
    *rows(
        "torch.backends.cudnn",
        "replaced: answers for a device that is not there",
        *("m", "is_available", "_init", "version"),
    ),
    PrivateName(
        "torch._C",
        "_dispatch_has_kernel_for_dispatch_key",
        "whether an operator has code for the CPU, where torch would run it on zeros of the device",
    ),
    PrivateName(
        "torch._meta_registrations",
        "_create_grouped_mm_output_tensor",
        "sizes and strides of grouped products, for the one that has no meta function",
    ),
    PrivateName("torch._prims_common", "suggest_memory_format", "the layout of a batch norm's gradient"),
    *rows(
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
    *rows(
        "torch._inductor.select_algorithm",
        "replaced: autotuning without a clock takes the library's kernel",
        "AlgorithmSelectorCache.do_autotuning",
        "ExternKernelCaller",
    ),
    *rows(
        "torch._inductor.fx_passes.pad_mm",
        "replaced or asked: whether a product is padded, as far as torch's rule goes without a clock",
        "_should_pad",
        "get_cached_should_pad",
        "get_alignment_size",
        "get_padded_length",
    ),
    PrivateName("torch.library", "Library._destroy", "takes our kernels of attention out again"),
    *rows(
        "torch._inductor.runtime.triton_heuristics",
        "what Inductor gives to Triton's compiler for a config",
        "CachingAutotuner._create_compile_meta",
        "CachingAutotuner._create_compile_options",
        "CachingAutotuner.device_props",
    ),
    PrivateName("torch._inductor.runtime.triton_helpers", "set_driver_to_gpu", "replaced: kernels call it at import"),
    *rows("triton", "compiles a kernel for a target that need not be here", "compile", "compiler.ASTSource"),
    PrivateName("triton.backends.compiler", "GPUTarget", "a target as Triton writes it"),
    PrivateName("triton.runtime.driver", "driver.set_active", "lets a driver be Triton's that only names the target"),
    *rows(
        "triton.runtime",
        "replaced: what user code launches without a GPU, Triton's interpreter runs",
        "jit.KernelInterface",
        "jit.JITFunction.run",
        "jit.JITFunction.__call__",
        "autotuner.Autotuner.run",
        "interpreter.InterpretedFunction",
    ),
    PrivateName("torch._dynamo", "explain", "torch's own summary of what Dynamo captures"),
    PrivateName("torch._dynamo", "disable", "keeps Triton's interpreter out of graphs, with a reason"),
    PrivateName(
        "torch.export._trace",
        "custom_triton_ops_decomposition_disabled",
        "replaced: an operator made by triton_op is called as it is where no GPU is",
    ),
    PrivateName("triton.testing", "nvsmi", "replaced: the clock of a device that is not there"),
    PrivateName("triton.backends.nvidia.compiler", "get_ptxas", "the assembler that Triton takes for an architecture"),
    PrivateName("triton", "knobs.compilation.listener", "set: gets the time of each stage of a compilation"),
    PrivateName("triton", "knobs.nvidia.nvdisasm", "the disassembler that comes with Triton"),
    PrivateName("triton", "__file__", "where cuobjdump lies, for which Triton has no name"),
    *rows(
        "triton.runtime.interpreter",
        "wrapped: what a program of a kernel loads and stores",
        "interpreter_builder.create_masked_load",
        "interpreter_builder.create_masked_store",
        "interpreter_builder.create_atomic_rmw",
        "interpreter_builder.grid_idx",
        "GridExecutor._init_args_hst",
    ),
)
