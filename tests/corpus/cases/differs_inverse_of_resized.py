"""A matrix that is nearly singular, since it was made larger, is inverted.

Source: https://github.com/pytorch/pytorch/issues/150165
Finds: results differ or rounds otherwise
Cause: condition|rounding|singular
Cure: float64|double|pinv|regular
Expects: breaks 0, results other
Run: --backend inductor
"""

import torch


def model(x):
    large = torch.nn.functional.interpolate(x, size=(16, 16), mode="bilinear", align_corners=True)
    return torch.inverse(large)


inputs = (torch.randn(1, 1, 8, 8, generator=torch.Generator().manual_seed(0)),)


# Cured
def model(x):
    large = torch.nn.functional.interpolate(x, size=(16, 16), mode="bilinear", align_corners=True)
    return torch.linalg.pinv(large.double(), rtol=1e-3).float()


def confirmed():
    return bool(torch.allclose(torch.compile(model)(*inputs), model(*inputs), atol=1e-3))
