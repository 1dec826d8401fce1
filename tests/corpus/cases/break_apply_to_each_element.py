"""Each element is changed by a Python function with `apply_`.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0055.html
Finds: graph breaks at line 15
Cause: apply_|lambda|as_proxy|function
Cure: where|clamp|torch|vector
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    y = x * 3
    y = y.apply_(lambda value: value if value > 0 else value / 10)
    return y + 1


inputs = (torch.randn(4, 8),)

# Cured


def model(x):
    y = x * 3
    y = torch.where(y > 0, y, y / 10)
    return y + 1
