r"""The state of a module that was not compiled is loaded into a compiled one.

Source: https://github.com/pytorch/pytorch/issues/101107
Run: --script
Finds: names of a compiled module
Cause: names of the wrapper
Cure: _orig_mod\.load_state_dict
Not: remove `_orig_mod
Expects: skipped 0
"""

import torch

torch.manual_seed(0)
trained = torch.nn.Linear(4, 4)
served = torch.compile(torch.nn.Linear(4, 4), backend="eager")
served.load_state_dict(trained.state_dict())
served(torch.ones(2, 4))

# Cured
import torch

torch.manual_seed(0)
trained = torch.nn.Linear(4, 4)
served = torch.compile(torch.nn.Linear(4, 4), backend="eager")
served._orig_mod.load_state_dict(trained.state_dict())
served(torch.ones(2, 4))
