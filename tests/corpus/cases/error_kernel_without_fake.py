"""A kernel's operator is registered for the CPU, and without a fake kernel.

Source: https://github.com/vllm-project/vllm/pull/44396
Finds: no fake kernel or not compiled: failed or graph breaks
Cause: fake|meta (kernel|implementation)|abstract
Cure: register_fake|fake (kernel|impl)
Expects: graphs 1, breaks 0
Lacks: cured
"""

import torch

library = torch.library.Library("unseen_gemm", "DEF")
library.define("fused_a_gemm(Tensor a, Tensor b) -> Tensor")
library.impl("fused_a_gemm", lambda a, b: torch.relu(a @ b), "CPU")


def model(a, b):
    return torch.ops.unseen_gemm.fused_a_gemm(a * 2, b) + 1


inputs = (torch.randn(3, 4), torch.randn(4, 5))

# Cured
torch.library.register_fake("unseen_gemm::fused_a_gemm", lambda a, b: a.new_empty(a.shape[0], b.shape[1]), lib=library)
