"""A dictionary of updates has other keys in each call, as of `replace(**kwargs)`.

Source: https://github.com/pytorch/tensordict/pull/1605
Finds: recompiles or near the recompile limit or not compiled: over the limit
Cause: (?i)key|dict
Cure: (?i)same keys|fixed|outside|values|tuple|separate|tensor|move
Expects: graphs 1, breaks 0, recompiles 0
Lacks: cured
"""

import torch


def model(state, updates):
    result = {**state, **updates}
    return torch.stack([value * 2 for value in result.values()]).sum(dim=0)


state = {"observation": torch.randn(4), "action": torch.randn(4), "reward": torch.randn(4)}
calls = [(state, {key: torch.randn(4)}) for key in ("observation", "action", "reward", "done")]
inputs = calls[0]

# Cured


def model(values):
    return (values * 2).sum(dim=0)


names = ("observation", "action", "reward", "done")
zeros = torch.zeros(4)
calls = [(torch.stack([{**state, **updates}.get(name, zeros) for name in names]),) for state, updates in calls]
inputs = calls[0]
