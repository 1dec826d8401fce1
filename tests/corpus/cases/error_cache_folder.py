"""The folder of Inductor's cache belongs to another user; a backend raises that error here.

Source: https://github.com/pytorch/pytorch/issues/91005
Run: --backend without_folder
Finds: cache not writable
Cause: Another user owns
Cure: TORCHINDUCTOR_CACHE_DIR
Lacks: cured
"""

import torch


def without_folder(graph, example_inputs):
    raise PermissionError(13, "Permission denied", "/tmp/torchinductor_somebody/ab")


def model(rows):
    return rows.sin()


inputs = (torch.randn(4),)
