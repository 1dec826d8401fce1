r"""Validation calls the original model, not the one that was compiled for it.

Source: https://github.com/huggingface/optimum-habana/pull/1993
Finds: not called
Cause: never|not called|original
Cure: compiled|call|assign|\.compile\(
Expects: graphs 1
Run: --script
"""

import torch

net = torch.nn.Linear(4, 2).eval()
validator = {"model": net, "compiled": torch.compile(net, backend="eager")}
with torch.no_grad():
    for batch in range(3):
        validator["model"](torch.ones(8, 4))

# Cured
import torch

net = torch.nn.Linear(4, 2).eval()
validator = {"model": net, "compiled": torch.compile(net, backend="eager")}
with torch.no_grad():
    for batch in range(3):
        validator["compiled"](torch.ones(8, 4))
