r"""Packed batches come with a list of their documents' lengths, which has another number of entries each time.

Source: https://github.com/InternLM/xtuner/pull/1081
Finds: recompiles
Cause: len\(|lengths|list
Cure: tensor|pad|same (number|length)
Expects: recompiles 0
"""

import torch


def model(rows, lengths):
    return torch.stack([part.mean(0) for part in rows.split(lengths)]).sum(0)


packs = [[3, 5], [2, 2, 4], [1, 2, 3, 2], [8]]
calls = [(torch.arange(16.0).view(8, 2), lengths) for lengths in packs]

# Cured


def model(rows, weights):
    return (rows * weights[:, None]).sum(0)


def weights_of(lengths):
    return torch.cat([torch.full((length,), 1.0 / length) for length in lengths])


calls = [(torch.arange(16.0).view(8, 2), weights_of(lengths)) for lengths in packs]
