"""A compiled optimizer step loops over 80 parameters.

Source: https://github.com/pytorch/pytorch/issues/110506
Run: --backend inductor
Finds: unrolled loop
Cause: loop|unroll|large graph|nodes|operations
Cure: foreach|_foreach|stack|body|nested_compile_region|flat
Expects: graphs 1
"""

import torch

torch.manual_seed(0)
parameters = [torch.randn(4, 3) for _ in range(80)]
gradients = [torch.randn(4, 3) for _ in range(80)]
moments = [torch.zeros(4, 3) for _ in range(80)]


@torch.no_grad()
def step(parameters, gradients, moments):
    updated = []
    for parameter, gradient, moment in zip(parameters, gradients, moments):
        moment = moment * 0.9 + gradient * 0.1
        parameter = parameter * 0.999
        updated.append(parameter - 0.01 * moment / (moment.abs() + 1e-8))
    return updated


model = step
inputs = (parameters, gradients, moments)


# Cured
@torch.no_grad()
def model(parameters, gradients, moments):
    moments = moments * 0.9 + gradients * 0.1
    updated = parameters * 0.999 - 0.01 * moments / (moments.abs() + 1e-8)
    return list(updated.unbind(0))


inputs = (torch.stack(parameters), torch.stack(gradients), torch.stack(moments))


def confirmed():
    counts = torch._dynamo.utils.get_compilation_metrics()[-1]
    return counts.graph_op_count < 100
