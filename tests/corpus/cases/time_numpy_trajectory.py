"""NumPy code with a loop of 50 steps becomes one large graph.

Source: https://github.com/pytorch/pytorch/issues/111441
Run: --backend inductor
Finds: unrolled loop
Cause: loop|unroll
Cure: body|nested_compile_region|step|while_loop|scan
Expects: graphs 1
"""

import numpy as np
import torch


def trajectory(errors, samples):
    errors, samples = errors.numpy(), samples.numpy()
    kept = []
    for index in range(50):
        losses = np.einsum("bd,bd->b", errors, samples[index])
        errors = errors - 0.05 * np.einsum("bd,b->bd", samples[index], losses)
        kept.append(np.sum(errors * errors, axis=1))
    return torch.from_numpy(np.stack(kept))


model = trajectory
torch.manual_seed(0)
inputs = (torch.ones(3, 4), torch.randn(50, 3, 4) * 0.3)


# Cured
@torch.compiler.nested_compile_region
def body(errors, sample):
    losses = torch.einsum("bd,bd->b", errors, sample)
    errors = errors - 0.05 * torch.einsum("bd,b->bd", sample, losses)
    return errors, (errors * errors).sum(1)


def model(errors, samples):
    kept = []
    for index in range(50):
        errors, norms = body(errors, samples[index])
        kept.append(norms)
    return torch.stack(kept)


def confirmed():
    counts = torch._dynamo.utils.get_compilation_metrics()[-1]
    return counts.graph_op_count < 300
