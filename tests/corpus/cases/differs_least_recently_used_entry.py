r"""`OrderedDict.move_to_end` of a cache is lost in compiled code, so that the wrong entry goes.

Source: https://github.com/pytorch/pytorch/issues/198189
Finds: results differ
Cause: (?i)move_to_end|OrderedDict|\border|dictionary|side effect
Cure: (?i)pop|insert|outside|eager|disable|not compiled
Expects: graphs 1, breaks 0
"""

import collections

import torch


def model(x, cache):
    cache.move_to_end("a")
    return x + 1, cache


inputs = (torch.ones(2), collections.OrderedDict([("a", torch.tensor(1.0)), ("b", torch.tensor(2.0))]))

# Cured


def model(x, cache):
    cache["a"] = cache.pop("a")
    return x + 1, cache
