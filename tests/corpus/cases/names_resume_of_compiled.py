r"""Training saves the compiled model's state, and a plain model resumes from it.

Source: https://github.com/huggingface/pytorch-image-models/pull/2003
Finds: names of a compiled module or raised in a script
Cause: _orig_mod|prefix
Cure: _orig_mod|\.compile\(|in.place|strip|removeprefix|before compil|uncompiled
Expects: breaks 0
Run: --script
"""

import io

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))


model = torch.compile(build(), backend="eager")
model(torch.randn(2, 3, 8, 8))
file = io.BytesIO()
torch.save({"state_dict": model.state_dict()}, file)
file.seek(0)
resumed = build()
resumed.load_state_dict(torch.load(file)["state_dict"])

# Cured
import torch
import io
from torch import nn


def build():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))


model = build()
compiled = torch.compile(model, backend="eager")
compiled(torch.randn(2, 3, 8, 8))
file = io.BytesIO()
torch.save({"state_dict": model.state_dict()}, file)
file.seek(0)
resumed = build()
resumed.load_state_dict(torch.load(file)["state_dict"])
