"""The function adds a key to its input dictionary.

Source: https://github.com/pytorch/pytorch/issues/175858
Finds: recompiles
Cause: loss|key
Cure: same keys
Expects: recompiles 0
Run: --script
"""

import torch


def step(state):
    state["loss"] = state["seen"].square().mean()
    return state["loss"] * 2


compiled = torch.compile(step, backend="eager")
state = {"seen": torch.ones(4)}
for _ in range(3):
    compiled(state)


# Cured
torch._dynamo.reset()
torch._dynamo.utils.counters.clear()
torch._dynamo.utils.clear_compilation_metrics()
compiled = torch.compile(step, backend="eager")
state = {"seen": torch.ones(4), "loss": torch.zeros(())}
for _ in range(3):
    compiled(state)
