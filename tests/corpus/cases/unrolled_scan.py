"""A state-space layer walks over its time steps in a loop of Python.

Source: https://github.com/pytorch/pytorch/issues/50688
Finds: unrolled loop
Cause: loop|unroll|iteration
Cure: scan|while_loop|vectori|cumsum|cumprod|matmul|compile.{0,40}(body|step|cell)|one (operation|product)
Expects: breaks 0
"""

import torch


def model(decay, drive, state):
    states = []
    for step in range(drive.shape[1]):
        state = decay * state + drive[:, step]
        states.append(state)
    return torch.stack(states, 1)


inputs = (torch.rand(4) * 0.5 + 0.4, torch.randn(2, 128, 4), torch.zeros(2, 4))


def confirmed():
    graphs = []

    def keep(graph_module, example_inputs):
        graphs.append(graph_module)
        return graph_module.forward

    torch._dynamo.reset()
    torch.compile(model, backend=keep)(*inputs)
    return len(graphs[0].graph.nodes) < 50


# Cured: a product with the powers of the decay
def model(decay, drive, state):
    steps = torch.arange(drive.shape[1])
    gap = steps[:, None] - steps[None, :]
    powers = torch.where(gap[..., None] >= 0, decay ** gap.clamp(min=0)[..., None], 0.0)
    return torch.einsum("tsc,bsc->btc", powers, drive) + decay ** (steps[:, None] + 1) * state[:, None]
