"""Each call gets a partial function with another name of the reduction.

Source: https://github.com/pytorch/pytorch/pull/108846
Finds: recompiles
Cause: how|partial|keyword|text|string
Cure: tensor|outside|separate|own|one compiled|functions?
Expects: recompiles 0
"""

import functools

import torch


def reduce(rows, how):
    if how == "mean":
        return rows.mean(0)
    if how == "sum":
        return rows.sum(0)
    return rows.amax(0)


def model(rows, reduction):
    return reduction(torch.relu(rows))


rows = torch.linspace(-2, 2, 12).reshape(4, 3)
calls = [(rows, functools.partial(reduce, how=how)) for how in ("mean", "sum", "max", "mean")]


# Cured
def model(rows, number):
    kept = torch.relu(rows)
    return torch.stack([kept.mean(0), kept.sum(0), kept.amax(0)]).index_select(0, number).squeeze(0)


calls = [(rows, torch.tensor([number])) for number in (0, 1, 2, 0)]
