"""A log message within the model breaks the graph.

Source: https://github.com/tenstorrent/tt-torch/issues/852
Finds: graph breaks at line 19
Cause: logg
Cure: only in eager mode|ignore_logging_functions
Expects: breaks 0, graphs 1
"""

import logging

import torch

logger = logging.getLogger(__name__)


def model(x):
    x = x.relu()
    logger.warning("largest value %s", x.max())
    return x + 1


inputs = (torch.randn(4, 8),)


# Cured
def model(x):
    x = x.relu()
    if not torch.compiler.is_compiling():
        logger.warning("largest value %s", x.max())
    return x + 1
