"""A class that is no tensor has `__torch_function__`, and each call gets a new object.

Source: https://github.com/pytorch/pytorch/issues/128964
"""

import torch


class Ragged:
    def __init__(self, values, offsets):
        self.values, self.offsets = values, offsets

    def sin(self):
        return torch.sin(self)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.sin:
            return cls(func(args[0].values), args[0].offsets)
        return NotImplemented


def model(ragged):
    return ragged.sin().values


offsets = torch.tensor([0, 3, 10])
calls = [(Ragged(torch.full((10,), float(number)), offsets),) for number in range(3)]
