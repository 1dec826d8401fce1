"""NumPy's own random numbers are drawn by a graph break.

Source: https://github.com/pytorch/pytorch/pull/145293
Finds: graph breaks at line 17
Cause: NumPy|numpy
Cure: [Dd]raw.*before the call|input
Expects: breaks 0, graphs 1
Run: --backend eager --dynamo use_numpy_random_stream=True
"""

import numpy as np

import torch


def model(x):
    return x + torch.from_numpy(np.random.randn(8)).float()


inputs = (torch.randn(4, 8),)


# Cured
def model(x, noise):
    return x + noise


np.random.seed(0)
inputs = (*inputs, torch.from_numpy(np.random.randn(8)).float())
