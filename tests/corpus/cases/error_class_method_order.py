r"""The decorator of the compiler stands above `classmethod`, and raises.

Source: https://github.com/pytorch/pytorch/pull/190673
Run: --script
Finds: not callable or raised in a script
Cause: classmethod|class method
Cure: classmethod.*(above|first|order|outer)|(below|under|inside|order|swap).*classmethod
Expects: graphs 1
"""

import torch


class Grid:
    step = 0.5

    @torch.compile(backend="eager")
    @classmethod
    def snap(cls, points):
        return (points / cls.step).round() * cls.step


print(Grid.snap(torch.rand(3)).shape)

# Cured
import torch


class Grid:
    step = 0.5

    @classmethod
    @torch.compile(backend="eager")
    def snap(cls, points):
        return (points / cls.step).round() * cls.step


print(Grid.snap(torch.rand(3)).shape)
