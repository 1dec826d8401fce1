"""Names that the backend `accelerator` uses to register, capture and partition."""

from core.worker.private.name import PrivateName, rows

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
