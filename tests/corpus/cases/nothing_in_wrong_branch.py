r"""The line that compiles stands in a branch that this configuration does not take.

Source: https://github.com/kijai/ComfyUI-WanVideoWrapper/issues/579
Run: --script
Finds: nothing compiled
Cause: never|not (reached|called|run)|no call|branch
Cure: indent|branch|reach|out of|call torch\.compile
Expects: graphs 1
"""

import torch

settings = {"compile": True, "swap_blocks": 0}
network = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.SiLU())
if settings["swap_blocks"] > 0:
    network[0].requires_grad_(False)
    if settings["compile"]:
        network = torch.compile(network, backend="eager")
print(network(torch.ones(2, 3)).shape)

# Cured
import torch

settings = {"compile": True, "swap_blocks": 0}
network = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.SiLU())
if settings["swap_blocks"] > 0:
    network[0].requires_grad_(False)
if settings["compile"]:
    network = torch.compile(network, backend="eager")
print(network(torch.ones(2, 3)).shape)


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
