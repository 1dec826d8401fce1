"""A layer reads the scale of the request from a context variable.

Source: https://github.com/pytorch/pytorch/pull/190578
Finds: graph breaks at line 19
Cause: ContextVar|context variable|does not know
Cure: argument|outside|pass|before
Expects: breaks 0
"""

import contextvars

import torch

current_scale = contextvars.ContextVar("current_scale", default=0.5)


def scaled(rows):
    hidden = torch.sin(rows)
    return torch.cos(hidden * current_scale.get())


model = scaled
inputs = (torch.arange(6.0),)


# Cured
def model(rows, scale):
    hidden = torch.sin(rows)
    return torch.cos(hidden * scale)


inputs = (torch.arange(6.0), current_scale.get())
