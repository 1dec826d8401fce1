"""Work done once before all runs: resolving MKL's functions, and building Inductor's precompiled C++ header.

The header takes 10–18 s the first time on a machine, while the user is still choosing.
"""

from __future__ import annotations

import os

import torch

# Functions that ATen calls in MKL's vector math: IMPLEMENT_VML_MKL in its header vml.h.
VECTOR_MATH = (
    *("acos", "asin", "atan", "cos", "erf", "erfc", "erfinv", "exp", "log", "log10", "log2"),
    *("sin", "sqrt", "tan", "tanh", "trunc"),
)


def resolve_vector_math() -> None:
    """Call each function of MKL's vector math once, on one element, so that forked processes inherit MKL's choice.

    MKL chooses a function's kernel at its first call. If several threads make that call at once, one of them may use a
    kernel of low accuracy for its part (pytorch/pytorch issue 188792). One element needs no other thread.
    """
    for dtype in (torch.float32, torch.float64):
        value = torch.full((1,), 0.5, dtype=dtype)
        for name in VECTOR_MATH:
            getattr(value, name)()


def warm_up() -> None:
    """Compile the smallest possible C++ kernel."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    torch.compile(lambda x: x.sin() + 1)(torch.ones(64))
