r"""A mask is drawn from probabilities, and the compiled code keeps other entries.

Source: https://github.com/pytorch/pytorch/issues/94855
Run: --backend inductor
Finds: random numbers or results differ
Cause: random|bernoulli
Cure: fallback_random
Expects: graphs 1
"""

import torch


def model(chances):
    return torch.bernoulli(chances) * 2


inputs = (torch.full((30,), 0.5),)

# Cured
torch_compile = {"backend": "aot_eager"}
