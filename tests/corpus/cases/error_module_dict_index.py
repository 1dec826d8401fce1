r"""A compiled dictionary of modules is asked for one of them.

Source: https://github.com/pytorch/pytorch/issues/159831
Finds: container methods of a compiled module
Cause: subscript|OptimizedModule|__getitem__|index
Cure: _orig_mod|\.compile\(\)|each|in place|original|the module
Expects: graphs 2, breaks 0
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
heads = nn.ModuleDict({"boxes": nn.Linear(8, 4), "classes": nn.Linear(8, 3)})
compiled = torch.compile(heads, backend="eager")
features = torch.ones(2, 8)
for name in ("boxes", "classes"):
    print(name, [round(value, 4) for value in compiled[name](features).sum(0).tolist()])

# Cured
import torch
from torch import nn

torch.manual_seed(0)
heads = nn.ModuleDict({"boxes": nn.Linear(8, 4), "classes": nn.Linear(8, 3)})
for name, head in heads.items():
    heads[name] = torch.compile(head, backend="eager")
features = torch.ones(2, 8)
for name in ("boxes", "classes"):
    print(name, [round(value, 4) for value in heads[name](features).sum(0).tolist()])
