r"""A grid of half precision is computed in another precision by Inductor.

Source: https://github.com/pytorch/pytorch/issues/172061
Run: --backend inductor
Finds: rounds otherwise or results differ
Cause: half|float16|precision|rounds
Cure: float32|emulate_precision_casts|float\(\)
Expects: graphs 1, results other
"""

import torch


def model(transform):
    return torch.nn.functional.affine_grid(transform, [3, 1, 8, 8, 8], align_corners=True)


inputs = (torch.randn(3, 3, 4).half(),)

# Cured


def model(transform):
    return torch.nn.functional.affine_grid(transform.float(), [3, 1, 8, 8, 8], align_corners=True)


def confirmed():
    fast = torch.compile(model)(*inputs)
    return torch.allclose(fast, model(*inputs), atol=1e-5)
