"""The code multiplies by an attribute of a class, which changes between calls.

Source: https://github.com/pytorch/pytorch/issues/176851
Finds: recompiles
Cause: factor
Cure: dynamic=True|tensor
Expects: recompiles 0
"""

import torch


class State:
    factor = 1.0


def model(rows):
    return rows * State.factor


def calls():
    for factor in (1.5, 2.5, 3.5, 4.5):
        State.factor = factor
        yield (torch.ones(2),)


# Cured


class TensorState:
    factor = torch.tensor(1.0)


def model(rows):
    return rows * TensorState.factor


def calls():
    for factor in (1.5, 2.5, 3.5, 4.5):
        TensorState.factor.fill_(factor)
        yield (torch.ones(2),)
