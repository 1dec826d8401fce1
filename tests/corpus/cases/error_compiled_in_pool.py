"""A daemonic worker compiles with a pool of processes; a backend starts one here.

Source: https://github.com/pytorch/pytorch/issues/97992
Run: --backend in_pool
Finds: compiled in a worker
Cause: daemonic
Cure: TORCHINDUCTOR_COMPILE_THREADS=1
Lacks: cured
"""

import torch


def in_pool(graph, example_inputs):
    raise AssertionError("daemonic processes are not allowed to have children")


def model(rows):
    return rows.sin()


inputs = (torch.randn(4),)
