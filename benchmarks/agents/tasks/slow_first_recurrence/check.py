"""Equal results and gradients, and a faster first call."""

import torch

from benchmarks.agents.checker import Rules, gradients

RULES = Rules(least_ops=7, loose_ops=240, first=1.3)
ENTRY = ("build", "pair")


def run(module, call):
    torch.manual_seed(52)
    model, forward = module.build()
    first = call(forward, torch.randn(3, 15, 12)).detach()
    out = call(forward, torch.randn(3, 15, 12))
    out.square().sum().backward()
    return [
        first,
        out.detach(),
        gradients(model),
        [name.removeprefix("_orig_mod.") for name, _ in model.named_parameters()],
    ]


def timed(module):
    _, forward = module.build()
    frames = torch.randn(3, 40, 12)

    def call():
        with torch.no_grad():
            forward(frames)

    return call
