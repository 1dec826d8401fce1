r"""A checkpoint of a compiled model is loaded with strict=False, and nothing of it arrives.

Source: https://github.com/FareedKhan-dev/train-llm-from-scratch/issues/36
Finds: names of a compiled module
Cause: _orig_mod|prefix
Cure: _orig_mod|\.compile\(|in.place|strip|removeprefix|before compil|uncompiled
Expects: breaks 0
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
model = torch.compile(nn.Linear(4, 4), backend="eager")
x = torch.randn(2, 4)
model(x)
checkpoint = model.state_dict()
plain = nn.Linear(4, 4)
plain.load_state_dict({key.removeprefix("module."): value for key, value in checkpoint.items()}, strict=False)


def confirmed():
    return torch.equal(plain(x), model(x))


# Cured
import torch
from torch import nn

torch.manual_seed(0)
model = torch.compile(nn.Linear(4, 4), backend="eager")
x = torch.randn(2, 4)
model(x)
checkpoint = model.state_dict()
plain = nn.Linear(4, 4)
plain.load_state_dict({key.removeprefix("_orig_mod."): value for key, value in checkpoint.items()})


def confirmed():
    return torch.equal(plain(x), model(x))
