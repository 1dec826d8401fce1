r"""CUDA graphs are asked for by an option, and the model is on the CPU.

Source: https://github.com/pytorch/pytorch/issues/111182
Run: --script
Finds: CUDA graphs skipped
Cause: CUDA graph|CPU
Cure: option|triton\.cudagraphs|GPU|remove
Expects: graphs 1
"""

import torch

network = torch.nn.Linear(4, 4)
fast = torch.compile(network, options={"triton.cudagraphs": True})
print(fast(torch.ones(2, 4)).shape)

# Cured
import torch

network = torch.nn.Linear(4, 4)
fast = torch.compile(network)
print(fast(torch.ones(2, 4)).shape)
