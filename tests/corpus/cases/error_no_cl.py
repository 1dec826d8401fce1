r"""No C++ compiler is there.

Source: https://github.com/ultralytics/ultralytics/pull/25115
Finds: not compiled: failed
Cause: compiler
Cure: g\+\+|install|CXX|compiler
Expects: graphs 1
Run: --backend inductor
"""

import torch
import torch._inductor.config

torch._inductor.config.cpp.cxx = ("/nowhere/g++",)


def model(x):
    return x.sin() + 1


inputs = (torch.ones(3),)


# Cured
torch._inductor.config.cpp.cxx = (None, "g++")
