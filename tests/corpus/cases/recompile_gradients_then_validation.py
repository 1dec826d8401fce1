"""A model is warmed up with gradients, and the loop that is measured has none.

Source: https://github.com/huggingface/accelerate/pull/2964
Finds: recompiles
Cause: grad
Cure: no_grad|inference_mode|warm|same
Expects: recompiles 0
Run: --script
"""

import torch

net = torch.nn.Linear(4, 2).eval()
compiled = torch.compile(net, backend="eager")
compiled(torch.ones(8, 4))
with torch.no_grad():
    for _ in range(3):
        compiled(torch.ones(8, 4))

# Cured
import torch

net = torch.nn.Linear(4, 2).eval()
compiled = torch.compile(net, backend="eager")
with torch.no_grad():
    compiled(torch.ones(8, 4))
    for _ in range(3):
        compiled(torch.ones(8, 4))
