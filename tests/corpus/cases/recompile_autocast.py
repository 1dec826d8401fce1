"""Some calls are within autocast, others not: two compilations are right.

Source: https://github.com/pytorch/pytorch/issues/166268
Finds: recompiles
Cause: autocast
Cure: two compilations are expected
Expects: recompiles 1
Run: --script
"""

import torch

layer = torch.nn.Linear(4, 4)
compiled = torch.compile(lambda x: layer(x).float(), backend="eager")
for enabled in (True, False, True, False):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled), torch.no_grad():
        compiled(torch.ones(3, 4))


# Cured: nothing to do
