"""A table that is an argument has other keys in each call.

Source: https://github.com/pytorch/pytorch/issues/143670
Finds: recompiles
Cause: table|dict|key
Cure: outside|before|caller|tensor|same keys
Expects: recompiles 1
"""

import torch


def model(x, table, n):
    if n in table:
        return x + 1
    return x + 2


x = torch.ones(2)
calls = [(x, {1: "a"}, 1), (x, {1: "a", 2: "b"}, 1), (x, {2: "b"}, 2), (x, {2: "b", 3: "c", 4: "d"}, 3)]


# Cured
def model(x, is_known):
    if is_known:
        return x + 1
    return x + 2


calls = [(x, True), (x, True), (x, True), (x, True)]
