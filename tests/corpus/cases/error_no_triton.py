"""Inductor finds no Triton; a backend raises that error here, since a CPU needs none.

Source: https://github.com/pytorch/pytorch/issues/143406
Run: --backend without_triton
Finds: no Triton
Cause: found no Triton
Cure: pip install triton
Lacks: cured
"""

import torch

ERROR = "Cannot find a working triton installation. Either the package is not installed or it is too old."


def without_triton(graph, example_inputs):
    raise RuntimeError(ERROR)


def model(rows):
    return rows.sin()


inputs = (torch.randn(4),)
