"""An assertion prints the value that violates it.

Source: https://github.com/pytorch/pytorch/issues/94844
Finds: graph breaks at line 21
Cause: assert|data-dependent|value|branch
Cure: _assert|_check|message|remove|outside
Expects: breaks 0
"""

import torch


class Rescale(torch.nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.log_scale = torch.nn.Parameter(torch.zeros(features))
        self.shift = torch.nn.Parameter(torch.zeros(features))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        scale = self.log_scale.exp()
        assert (scale > 0).all(), f"the scale must be positive, but is {scale.min()}"
        return rows * scale + self.shift


model = Rescale(6)
inputs = (torch.linspace(-1, 1, 12).reshape(2, 6),)
training = True


# Cured
class Checked(Rescale):
    def forward(self, rows):
        scale = self.log_scale.exp()
        assert (scale > 0).all(), "the scale must be positive"
        return rows * scale + self.shift


model = Checked(6)
