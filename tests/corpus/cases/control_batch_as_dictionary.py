"""A batch is a dictionary, which is asked for its methods.

Source: https://github.com/pytorch/pytorch/issues/134577
"""

import torch


def model(batch):
    if hasattr(batch, "to"):
        batch = batch.to("cpu")
    return batch["pixels"].relu() + 1


inputs = ({"pixels": torch.randn(3)},)
