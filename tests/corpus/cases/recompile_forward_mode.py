r"""A server passes the mode of each step as a member of an enumeration.

Source: https://github.com/pytorch/pytorch/issues/142050
Finds: recompiles
Cause: mode|enum|Stage
Cure: tensor|each|expected|one .*per|mark
Expects: recompiles 0
"""

from enum import Enum

import torch


class Stage(Enum):
    PREFILL = 1
    EXTEND = 2
    DECODE = 3
    MIXED = 4


def model(rows, stage):
    return torch.sin(rows) / stage.value


calls = [(torch.arange(6.0), stage) for stage in Stage]

# Cured


def model(rows, stage):
    return torch.sin(rows) / stage


calls = [(torch.arange(6.0), torch.tensor(float(stage.value))) for stage in Stage]
