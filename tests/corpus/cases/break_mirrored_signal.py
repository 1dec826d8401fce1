r"""A signal is padded by reflection with NumPy.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0087.html
Finds: graph breaks at line 16
Cause: pad|numpy|NotImplemented
Cure: torch|F\.pad|functional\.pad|concatenate|outside
Expects: breaks 0, graphs 1
"""

import numpy as np
import torch


def model(signal):
    signal = signal * 2
    padded = np.pad(signal, 2, mode="reflect")
    return padded[:-2] + padded[2:]


inputs = (np.arange(8.0),)

# Cured


def model(signal):
    signal = signal * 2
    padded = np.concatenate([np.flip(signal[1:3]), signal, np.flip(signal[-3:-1])])
    return padded[:-2] + padded[2:]
