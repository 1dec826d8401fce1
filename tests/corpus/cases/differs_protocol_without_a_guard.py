"""A second object of the class gets the answer of the first to `isinstance` with a protocol.

Source: https://github.com/pytorch/pytorch/issues/196127
Finds: results differ
Cause: (?i)isinstance|protocol|guard
Cure: (?i)hasattr|outside|disable|eager|argument|attribute
Expects: breaks 0
Lacks: explained
"""

from typing import Protocol, runtime_checkable

import torch


@runtime_checkable
class HasPorts(Protocol):
    ports: tuple


class Device:
    def __init__(self, with_ports):
        if with_ports:
            self.ports = (1, 2)


def model(x, device):
    return x + 1 if isinstance(device, HasPorts) else x - 1


x = torch.ones(3)
calls = [(x, Device(True)), (x, Device(False))]
inputs = calls[0]

# Cured


def model(x, device):
    return x + 1 if hasattr(device, "ports") else x - 1
