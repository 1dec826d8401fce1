"""Optional entries of a dictionary are added and removed between calls.

Source: https://github.com/xdit-project/xDiT/pull/781
Finds: recompiles
Cause: options|dict|key
Cure: None|same keys|always
Expects: recompiles 1
"""

import torch


def attended(x, shift=None, scale=None, other=0, more=0):
    x = x.sin() if scale is None else x * scale
    return x if shift is None else x + shift


def model(x, options):
    return attended(x, **options)


x, part = torch.randn(4), torch.randn(4)
calls = [
    (x, {}),
    (x, {"shift": part}),
    (x, {"shift": part, "other": 1}),
    (x, {}),
    (x, {"shift": part, "other": 1, "more": 2}),
]


# Cured
calls = [(x, {"shift": each, "scale": None, "other": 1, "more": 2}) for each in (None, part, part, None, part)]
