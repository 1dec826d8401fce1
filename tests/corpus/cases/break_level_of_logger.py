r"""Code that logs asks for the logger's level first.

Source: https://github.com/deepspeedai/DeepSpeed/pull/6999
Finds: graph breaks at line 19
Cause: logg
Cure: level once|outside
Not: Add the logging method
Expects: breaks 0
"""

import logging

import torch

log = logging.getLogger("model")


def model(rows):
    if log.isEnabledFor(logging.DEBUG):
        log.debug("rows %s", rows)
    return rows * 2


inputs = (torch.ones(3),)

# Cured
VERBOSE = log.isEnabledFor(logging.DEBUG)


def model(rows):
    if VERBOSE:
        log.debug("rows %s", rows)
    return rows * 2
