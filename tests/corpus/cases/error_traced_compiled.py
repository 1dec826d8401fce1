"""A counter of operations traces a compiled module by torch.jit.trace.

Source: https://github.com/facebookresearch/fvcore/issues/150
Run: --script
Finds: traced while compiled
Cause: torch refuses
Cure: _orig_mod
Expects: skipped 0
"""

import torch

torch.manual_seed(0)
compiled = torch.compile(torch.nn.Linear(4, 4), backend="eager")
torch.jit.trace(compiled, (torch.ones(2, 4),))

# Cured
import torch

torch.manual_seed(0)
compiled = torch.compile(torch.nn.Linear(4, 4), backend="eager")
torch.jit.trace(compiled._orig_mod, (torch.ones(2, 4),))
