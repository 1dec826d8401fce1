"""Names of AOTAutograd, Inductor and AOTInductor, and of Triton for a target that is not present."""

from core.worker.private.dynamo import PrivateName, rows

PASSES = (
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
    PrivateName(
        "torch._inductor.compile_fx", "view_to_reshape", "wrapped: rewrites the whole graph, and no observer sees it"
    ),
    *rows(
        "torch._functorch._aot_autograd.graph_compile",
        "wrapped: rewrites the whole graph, and no observer sees it",
        "tensorify_python_scalars",
        "run_joint_graph_passes_on_hops",
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
)
OBJECTS = (
    PrivateName("torch._inductor.codecache", "_worker_compile_cpp", "wrapped: an object whose build was killed goes"),
    PrivateName("torch._inductor.codecache", "LOCK_TIMEOUT", "how long torch waits for another build of an object"),
    PrivateName("torch.utils._filelock", "FileLock", "held by whoever builds an object"),
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
CUDAGRAPHS = rows(
    "torch._inductor.cudagraph_trees",
    "wrapped: counts warm-up runs, recordings and replays",
    "CUDAGraphTreeManager.run_eager",
    "CUDAGraphTreeManager.record_function",
    "CUDAGraphTreeManager.execute_node",
)
SCHEDULER = (
    *rows(
        "torch._inductor.config",
        "called with the scheduler's nodes around fusion",
        "_pre_fusion_custom_pass",
        "_post_fusion_custom_pass",
    ),
    PrivateName("torch._inductor.config", "trace.provenance_tracking_level", "raised: which nodes became which kernel"),
    PrivateName("torch._inductor.config", "patch", "sets what a run needs, and puts it back"),
    PrivateName("torch._functorch.config", "patch", "sets what a run needs, and puts it back"),
    PrivateName("torch._inductor.config", "fallback_random", "whether compiled draws the random numbers of eager"),
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
    PrivateName("torch._ops", "OpOverload._schema", "which arguments of a library's call are written"),
    PrivateName("torch.utils.flop_counter", "flop_registry", "torch's formulas for the FLOPs of a call"),
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
CPP = (
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
)
AOTI = (
    *rows("torch._inductor", "makes a package, and loads it", "aoti_compile_and_package", "aoti_load_package"),
    PrivateName("torch._dynamo.eval_frame", "OptimizedModule._orig_mod", "the model that the file itself compiled"),
)


ABSENT = (
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
)
TRITON = (
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
        *(
            "jit.KernelInterface",
            "jit.JITFunction.run",
            "jit.JITFunction.__call__",
            "autotuner.Autotuner.run",
            "interpreter.InterpretedFunction",
        ),
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
