r"""A hook that is registered for all modules runs twice for the compiled one.

Source: https://github.com/pytorch/pytorch/issues/149502
Finds: results differ
Cause: hook
Cure: register_forward_pre_hook|\.compile\(\)|module itself|OptimizedModule
Expects: graphs 1
"""

import torch
from torch.nn.modules import module as modules

modules._global_forward_pre_hooks.clear()
model = torch.nn.Linear(3, 2)
handle = modules.register_module_forward_pre_hook(lambda module, args: (args[0] + 1,))
inputs = (torch.ones(1, 3),)

# Cured
handle.remove()
torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
model.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
