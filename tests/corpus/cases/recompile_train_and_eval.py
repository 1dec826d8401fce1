"""A model is trained and evaluated in turn: two compilations are right.

Source: https://github.com/pytorch/pytorch/issues/110803
Finds: recompiles
Cause: training|eval
Cure: two compilations are expected
Expects: recompiles 1
"""

import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.ReLU())
x = torch.randn(3, 4)


def calls():
    for training in (True, False, True, False):
        model.train(training)
        yield (x,)


# Cured: nothing to do
