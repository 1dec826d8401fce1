"""A module keeps a table that its first call fills, so that the second call compiles again.

Source: https://github.com/pytorch/pytorch/issues/171488
Finds: recompiles
Cause: changed its length|has the key
Cure: outside of the compiled function|before
Expects: recompiles 0
"""

import torch

table = {}


def model(rows, name):
    if name not in table:
        table[name] = 1
    return rows.sin()


calls = [(torch.ones(2), "sine")] * 3

# Cured
full = {"sine": 1}


def model(rows, name):
    if name not in full:
        full[name] = 1
    return rows.sin()
