"""A disabled helper is defined in the compiled function, so each call has another.

Source: https://github.com/pytorch/pytorch/pull/157566
Finds: graph breaks
Cause: disable
Cure: outside|module level|remove|move
Expects: breaks 0, recompiles 0
"""

import torch


def model(x):
    @torch.compiler.disable
    def helper(y):
        return y.sin()

    made = helper(x + 1)
    return made * 2


calls = [(torch.randn(4),) for _ in range(4)]


# Cured
def model(x):
    def helper(y):
        return y.sin()

    made = helper(x + 1)
    return made * 2
