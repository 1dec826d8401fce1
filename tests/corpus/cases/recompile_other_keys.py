r"""A loop over a dictionary compiles for the keys that each batch happens to have.

Source: https://github.com/pytorch/pytorch/issues/151122
Finds: recompiles
Cause: has other keys
Cure: only the values
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def model(features):
    total = 0
    for name, feature in features.items():
        if not name.startswith("note"):
            total = total + feature * 2
    return total


calls = [({"x": torch.ones(2), f"note {number}": torch.ones(2)},) for number in range(4)]

# Cured
calls = [({"x": torch.ones(2)},) for _ in range(4)]
