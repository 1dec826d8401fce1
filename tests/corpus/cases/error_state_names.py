r"""The state of a compiled module is loaded into one that is not compiled.

Source: https://github.com/pytorch/pytorch/issues/101107
Run: --script
Finds: names of a compiled module
Cause: names of the wrapper
Cure: _orig_mod\.state_dict
Expects: skipped 0
"""

import torch

torch.manual_seed(0)
compiled = torch.compile(torch.nn.Linear(4, 4), backend="eager")
compiled(torch.ones(2, 4))
fresh = torch.nn.Linear(4, 4)
fresh.load_state_dict(compiled.state_dict())

# Cured
import torch

torch.manual_seed(0)
compiled = torch.compile(torch.nn.Linear(4, 4), backend="eager")
compiled(torch.ones(2, 4))
fresh = torch.nn.Linear(4, 4)
fresh.load_state_dict(compiled._orig_mod.state_dict())
