"""Tolerances between compiled and eager by dtype: the only table for all comparisons of results.

A whole result is compared by the root mean square of its errors, each relative to the magnitude around it; errors of
single elements hardly change it: `BY_NORM`. A single kernel gets random inputs instead of the run's, and each element
is compared relative to its own or the typical magnitude, whichever is larger: `BY_ELEMENT`.
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
