"""How far compiled may be from eager, by dtype: the one table for all that compares results.

A whole result is compared by the root mean square of its errors, each a part of the magnitude around it, which errors
of single elements hardly move: `BY_NORM`. A kernel alone gets random values instead of the run's, and says for each
element whether it is eager's, relative to its own magnitude or the typical one, whichever is larger: `BY_ELEMENT`.
"""

from __future__ import annotations

BY_NORM = {
    "float64": 1e-9,
    "float32": 2e-5,
    "float16": 2e-3,
    "bfloat16": 1e-2,
    "complex128": 1e-9,
    "complex64": 2e-5,
    "float8_e4m3fn": 5e-2,
    "float8_e4m3fnuz": 5e-2,
    "float8_e5m2": 1e-1,
    "float8_e5m2fnuz": 1e-1,
}
BY_ELEMENT = {"float16": 2e-2, "bfloat16": 2e-2}
BY_ELEMENT_OTHERWISE = 1e-3
