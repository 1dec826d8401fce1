"""A transform strips the class of its input with as_subclass, though it is a plain tensor already.

Source: https://github.com/pytorch/pytorch/issues/129651
Finds: graph breaks at line 15
Cause: as_subclass|subclass
Cure: as_subclass|remove|outside|before
Expects: breaks 0, graphs 1
"""

import torch


def model(image):
    image = image.float() / 255
    plain = image.as_subclass(torch.Tensor)
    return (plain - 0.5) / 0.25


inputs = (torch.randint(0, 256, (3, 8, 8)),)

# Cured


def model(image):
    image = image.float() / 255
    return (image - 0.5) / 0.25
