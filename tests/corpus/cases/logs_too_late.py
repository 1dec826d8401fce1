r"""TORCH_LOGS is set after torch was imported, and nothing is logged.

Source: https://github.com/pytorch/pytorch/issues/121038
Finds: TORCH_LOGS set too late
Cause: set after torch was imported
Cure: set_logs\(dynamic=logging.DEBUG\)
Expects: graphs 1
"""

import os

import torch

os.environ["TORCH_LOGS"] = "+dynamic"


def model(rows):
    return rows.sin()


inputs = (torch.ones(4),)

# Cured
import logging

del os.environ["TORCH_LOGS"]
torch._logging.set_logs(dynamic=logging.DEBUG)


def confirmed():
    return logging.getLogger("torch.fx.experimental.symbolic_shapes").getEffectiveLevel() == logging.DEBUG
