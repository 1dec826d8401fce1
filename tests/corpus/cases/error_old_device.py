"""The device is too old for Triton; a backend raises that error here.

Source: https://github.com/MIC-DKFZ/nnUNet/issues/2188
Run: --backend on_old_device
Finds: GPU too old
Cause: Triton does not support
Cure: aot_eager
Expects: graphs 1
"""

import torch

ERROR = "Found Tesla P100 which is too old to be supported by the triton GPU compiler, which is used as the backend."


def on_old_device(graph, example_inputs):
    raise RuntimeError(ERROR)


def model(rows):
    return rows.sin()


inputs = (torch.randn(4),)

# Cured
torch_compile = {"backend": "aot_eager"}
