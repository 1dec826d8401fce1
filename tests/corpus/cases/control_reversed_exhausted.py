"""A reversed iterator is used up in the function, as in plain Python.

Source: https://github.com/pytorch/pytorch/pull/185629
"""

import torch


def model(rows):
    backward = reversed([rows, rows * 2, rows * 3])
    newest = next(backward)
    rest = list(backward)
    return newest - sum(rest) + len(list(backward))


inputs = (torch.ones(3),)
