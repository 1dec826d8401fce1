"""`isinstance` with a tuple of protocols is False in compiled code.

Source: https://github.com/pytorch/pytorch/issues/195969
Finds: results differ
Cause: (?i)isinstance|protocol
Cure: (?i)isinstance|hasattr|separate|outside|disable|eager
Expects: graphs 1, breaks 0
Lacks: explained
"""

from typing import Protocol, runtime_checkable

import torch


@runtime_checkable
class HasPorts(Protocol):
    ports: tuple


@runtime_checkable
class HasFoo(Protocol):
    def foo(self) -> int: ...


class Switch:
    ports = (1, 2)

    def foo(self):
        return 1


switch = Switch()


def model(x):
    if isinstance(switch, (HasPorts, HasFoo)):
        return x + 1
    return x - 1


inputs = (torch.ones(3),)

# Cured


def model(x):
    if isinstance(switch, HasPorts) or isinstance(switch, HasFoo):
        return x + 1
    return x - 1
