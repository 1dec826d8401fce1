"""A warm-up follows a page that writes the mode in one word.

Source: https://theneuralbase.com/huggingface-transformers/learn/advanced/warm-up-request-jit-compilation/
Finds: unknown mode or raised in a script
Cause: reduceoverhead|mode
Cure: reduce-overhead
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.GELU()).eval()
compiled = torch.compile(model, mode="reduceoverhead", fullgraph=False)
with torch.no_grad():
    compiled(torch.randn(2, 4))

# Cured
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.GELU()).eval()
compiled = torch.compile(model, mode="reduce-overhead", fullgraph=False)
with torch.no_grad():
    compiled(torch.randn(2, 4))
