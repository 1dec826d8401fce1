"""A training argument still names a backend that torch no longer has.

Source: https://github.com/huggingface/transformers/pull/22140
Finds: unknown backend or raised in a script
Cause: aot_nvfuser|backend
Cure: inductor|list_backends|known backend|installed
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
compiled = torch.compile(model, backend="aot_nvfuser")
compiled(torch.randn(2, 4))

# Cured
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
compiled = torch.compile(model, backend="inductor")
compiled(torch.randn(2, 4))
