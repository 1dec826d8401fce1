"""Names of torch's log and of Dynamo, and the row of the table."""

from collections.abc import Iterator
from dataclasses import dataclass

FIRST = "2.11"


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
    """Return the names of a module that are used for the same reason."""
    return (PrivateName(module, attribute, why) for attribute in attributes)


LOG = (
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
)
DYNAMO = (
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
    PrivateName("torch.nn", "Module._compiled_call_impl", "what Module.compile() left, which a call would take"),
    PrivateName("torch._dynamo.eval_frame", "_torchdynamo_disable", "on a model that is not to be compiled"),
    PrivateName("torch._dynamo.eval_frame", "_torchdynamo_orig_callable", "on a model that the file itself compiled"),
    PrivateName(
        "torch._dynamo.decorators", "_dynamo_dynamic_indices", "as all its _dynamo_ marks, given to a tensor's copy"
    ),
)
VALUES = (
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
)
ACCELERATOR = (
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
)
