r"""A dictionary of modules is compiled, and the code takes one by its key.

Source: https://github.com/pytorch/pytorch/issues/159831
Run: --script
Finds: container methods of a compiled module
Cause: wrapper
Cure: _orig_mod|module\.compile\(\)
Expects: skipped 0
"""

import torch

torch.manual_seed(0)
heads = torch.compile(torch.nn.ModuleDict({"a": torch.nn.Linear(4, 4)}), backend="eager")
print(heads["a"](torch.ones(2, 4)).shape)

# Cured
import torch

torch.manual_seed(0)
heads = torch.compile(torch.nn.ModuleDict({"a": torch.nn.Linear(4, 4)}), backend="eager")
print(heads._orig_mod["a"](torch.ones(2, 4)).shape)
