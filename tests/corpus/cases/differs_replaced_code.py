"""A reload replaces the code of a method after the first call.

Source: https://github.com/pytorch/pytorch/pull/198124
Finds: results differ
Cause: __code__|guard|method|stale|code
Cure: reset|attribute|argument|pass|assign|recompile
Expects: skipped 0
Lacks: cured
"""

import torch


def doubled(self, rows):
    return rows * 2.0


def ninefold(self, rows):
    return rows * 9.0


def fresh(function):
    return type(function)(function.__code__, globals())


class Strategy:
    apply = fresh(doubled)


strategy = Strategy()


def model(rows):
    return strategy.apply(rows) + 1


def calls():
    Strategy.apply.__code__ = doubled.__code__
    yield (torch.ones(3),)
    Strategy.apply.__code__ = ninefold.__code__
    yield (torch.ones(3),)


# Cured
def model(rows, apply):
    return apply(strategy, rows) + 1


def calls():
    yield torch.ones(3), doubled
    yield torch.ones(3), ninefold
