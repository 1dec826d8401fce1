"""A generator within the compiled function.

Source: https://github.com/pytorch/pytorch/issues/134030
"""

import torch


def parts(rows):
    for part in rows.split(2):
        yield part.sin()


def model(rows):
    return torch.cat(list(parts(rows)))


inputs = (torch.ones(6),)
