"""A list grows while a generator walks over it.

Source: https://github.com/pytorch/pytorch/issues/175855
"""

import torch


def model(rows):
    values = [rows.sum()]

    def walk():
        for value in values:
            if len(values) < 3:
                values.append(value + 1)
            yield value

    return torch.stack(list(walk())).sum()


inputs = (torch.ones(3),)
