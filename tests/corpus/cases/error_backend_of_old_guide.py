"""The name of the backend is from an old guide.

Source: https://github.com/huggingface/accelerate/issues/1977
Finds: unknown backend
Cause: backend|nvfuser|Invalid
Cure: inductor|list_backends|install|another|available
Expects: skipped 0
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
model = torch.compile(nn.Linear(8, 2), backend="aot_nvfuser")
print(tuple(model(torch.ones(3, 8)).shape))

# Cured
import torch
from torch import nn

torch.manual_seed(0)
model = torch.compile(nn.Linear(8, 2), backend="inductor")
print(tuple(model(torch.ones(3, 8)).shape))
