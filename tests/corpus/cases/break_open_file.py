"""A helper that is called in each step opens a file.

Source: https://github.com/pytorch/pytorch/issues/133185
Finds: graph breaks at line 15
Cause: open|file
Cure: outside|before|once|__init__
Expects: breaks 0
"""

import torch


def model(x):
    y = x.sin()
    with open("/dev/null") as file:
        text = file.read()
    return y + len(text)


inputs = (torch.ones(5),)


# Cured
with open("/dev/null") as file:
    text = file.read()


def model(x):
    return x.sin() + len(text)
