"""A recurrent loop of 96 steps is unrolled into one large graph.

Source: https://github.com/pytorch/pytorch/issues/97155
Run: --backend inductor
Finds: unrolled loop
Cause: Dynamo unrolls loops
Cure: nested_compile_region
Expects: graphs 1
"""

import torch

torch.manual_seed(0)


def body(state, step):
    return torch.tanh(state * 0.9 + step.sin())


def model(state, steps):
    for index in range(96):
        state = body(state, steps[index])
    return state


inputs = (torch.zeros(4, 8), torch.randn(96, 4, 8))

# Cured


def model(state, steps):
    for index in range(96):
        state = region(state, steps[index])
    return state


region = torch.compiler.nested_compile_region(body)


def confirmed():
    counts = torch._dynamo.utils.get_compilation_metrics()[-1]
    return counts.graph_op_count < 300
