"""Phases are unwrapped by NumPy in a compiled function: the function is not among those that Dynamo knows.

Source: https://github.com/pytorch/pytorch/pull/109710
Finds: graph breaks at line 16
Cause: unwrap|numpy
Cure: torch|outside|custom_op|rewrite
Expects: breaks 0, graphs 1
"""

import numpy as np
import torch


def model(angles):
    doubled = angles * 2
    phases = np.unwrap(doubled)
    return phases - phases.mean()


inputs = (np.linspace(0, 3, 12) % 1.5,)

# Cured


def model(angles):
    doubled = angles * 2
    steps = np.diff(doubled)
    wrapped = (steps + np.pi) % (2 * np.pi) - np.pi
    phases = doubled + np.concatenate([np.zeros(1), np.cumsum(wrapped - steps)])
    return phases - phases.mean()
