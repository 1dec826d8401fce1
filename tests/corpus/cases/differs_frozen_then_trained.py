"""Weights are folded into the compiled code, and then loaded anew.

Source: https://github.com/pytorch/pytorch/issues/104984
Finds: results differ
Cause: freez|folded|weights
Cure: freezing|compile again|reset|after
Expects: graphs 1
Run: --backend inductor
"""

import torch
import torch._inductor.config

torch._inductor.config.freezing = True
layer = torch.nn.Linear(4, 4).eval()


def model(x):
    with torch.no_grad():
        return layer(x)


def calls():
    for value in (1.0, 2.0):
        layer.load_state_dict({"weight": torch.full((4, 4), value), "bias": torch.zeros(4)})
        with torch.no_grad():
            yield (torch.ones(2, 4),)


# Cured
torch._inductor.config.freezing = False
