r"""Inductor finds no C++ compiler on the machine.

Source: https://github.com/pytorch/pytorch/issues/92745
Run: --backend inductor
Finds: not compiled: failed
Cause: no C compiler
Cure: apt-get install g\+\+
Expects: graphs 1
"""

import torch
import torch._inductor.config

torch._inductor.config.cpp.cxx = (None, "a-compiler-that-is-missing")


def model(rows):
    return rows.sin() + rows.cos()


inputs = (torch.randn(64),)

# Cured
torch._inductor.config.cpp.cxx = (None, "g++")
