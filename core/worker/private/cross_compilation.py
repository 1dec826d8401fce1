"""Names that simulate a device that is not present, and names of Triton, which compiles for it."""

from core.worker.private.name import PrivateName, rows

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
    PrivateName("torch._dynamo", "disable", "keeps Triton's interpreter out of graphs, with a reason"),
    PrivateName(
        "torch.export._trace",
        "custom_triton_ops_decomposition_disabled",
        "replaced: an operator made by triton_op is called as it is where no GPU is",
    ),
    PrivateName("triton.testing", "nvsmi", "replaced: the clock of a device that is not there"),
    PrivateName("triton.backends.nvidia.compiler", "get_ptxas", "the assembler that Triton takes for an architecture"),
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
