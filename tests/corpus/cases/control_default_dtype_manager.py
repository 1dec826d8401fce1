"""A context manager of the user sets the default data type while tensors are made.

Source: https://github.com/pytorch/pytorch/issues/112787
"""

import torch


class DefaultDtype:
    def __init__(self, dtype):
        self.previous, self.new = torch.get_default_dtype(), dtype

    def __enter__(self):
        torch.set_default_dtype(self.new)

    def __exit__(self, kind, value, trace):
        torch.set_default_dtype(self.previous)


def model(rows):
    for index in range(3):
        with DefaultDtype(torch.float64):
            rows = rows + torch.ones(3) * index
    return rows


inputs = (torch.zeros(3),)
