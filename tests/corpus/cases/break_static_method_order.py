"""The decorator of the compiler stands above `staticmethod`.

Source: https://github.com/pytorch/pytorch/issues/190659
Run: --script
Finds: graph breaks or nothing compiled
Cause: staticmethod|static method
Cure: staticmethod.*(above|below|first|order|outer)|(swap|exchange|order|below|under).*(staticmethod|decorator)
Expects: breaks 0
"""

import torch


class Geometry:
    @torch.compile(backend="eager")
    @staticmethod
    def lengths(edges):
        return (edges * edges).sum(-1).sqrt()


print(Geometry.lengths(torch.ones(3, 2)))

# Cured
import torch


class Geometry:
    @staticmethod
    @torch.compile(backend="eager")
    def lengths(edges):
        return (edges * edges).sum(-1).sqrt()


print(Geometry.lengths(torch.ones(3, 2)))
