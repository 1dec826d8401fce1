"""Short descriptions of torch's backends; other backends have their own description or none."""

from __future__ import annotations

ABOUT = {
    "inductor": "AOTAutograd, then Inductor: graph passes, fusion, generated C++ or Triton kernels",
    "eager": "runs Dynamo's graph op by op, as eager does",
    "eager_noexcept": "as eager, and turns what the graph raises into an error of Dynamo's",
    "eager_debug": "runs Dynamo's graph op by op, and checks each op against its schema",
    "pre_dispatch_eager": "traces Dynamo's graph once more before dispatch, prints it, and runs it op by op",
    "accelerator": "AOTAutograd with core ATen; what it has kernels for runs as programs in C++, the rest op by op",
    "aot_eager": "AOTAutograd with the min-cut partitioner; its graphs are run op by op",
    "aot_eager_default_partitioner": "AOTAutograd with the default partitioner; its graphs are run op by op",
    "aot_eager_decomp_partition": "AOTAutograd with Inductor's decompositions and partitioner; run op by op",
    "aot_eager_decomp_partition_crossref": "as aot_eager_decomp_partition, with each custom op checked against its "
    "fake implementation",
    "aot_eager_decomp_partition_with_mode": "as aot_eager_decomp_partition within a mode, which must be given to it: "
    "not for direct use",
    "invoke_subgraph": "AOTAutograd, with forward and backward each wrapped as a subgraph for an outer trace",
    "cudagraphs": "AOTAutograd, then CUDA graphs of its graphs, op by op; without a CUDA device they run as they are",
    "ts": "TorchScript of Dynamo's graph",
    "aot_ts": "AOTAutograd, then TorchScript of its graphs",
    "openxla": "AOTAutograd, then XLA; needs torch_xla",
    "openxla_eval": "XLA, without AOTAutograd: inference alone; needs torch_xla",
    "tvm": "Apache TVM; needs apache-tvm",
    "dynamo_minifier_backend": "looks for the smallest graph that fails to compile; torch calls it by itself: not for "
    "direct use",
    "dynamo_accuracy_minifier_backend": "looks for the smallest graph with wrong results; torch calls it by itself: "
    "not for direct use",
    "relu_compile_error_TESTING_ONLY": "fails to compile a graph with a relu: for torch's own tests",
    "relu_runtime_error_TESTING_ONLY": "makes a relu raise when it runs: for torch's own tests",
    "relu_accuracy_error_TESTING_ONLY": "makes a relu give wrong numbers: for torch's own tests",
    "non_leaf_compile_error_TESTING_ONLY": "fails to compile a graph with an input that is no leaf: for torch's own "
    "tests",
}
FOR_TESTS = "TESTING_ONLY"
