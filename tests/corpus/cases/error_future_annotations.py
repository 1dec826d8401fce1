r"""A custom op is defined in a function with annotations as text, and their names are local ones.

Source: https://github.com/pytorch/pytorch/issues/185659
Run: --script
Finds: raised in a script or custom op schema
Cause: annotation|infer_schema
Cure: __future__|schema|module level|global
Expects: graphs 0
"""

from __future__ import annotations


def register():
    import torch as library

    @library.library.custom_op("weather::gradient", mutates_args=())
    def gradient(field: library.Tensor) -> library.Tensor:
        return field.diff()

    return gradient


print(register())

# Cured
import torch


def register():
    @torch.library.custom_op("weather::gradient_of_field", mutates_args=())
    def gradient(field: torch.Tensor) -> torch.Tensor:
        return field.diff()

    return gradient


register()
