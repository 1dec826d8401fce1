"""Tolerances between compiled and eager by dtype: the only table for all comparisons of results.

`BY_NORM` is for a whole result: it limits the root mean square of the errors. Each error is relative to the
element's own magnitude or the typical magnitude around the element, whichever is larger. A single element may
differ by more. `BY_NORM_TF32` is that of float32 results whose products a GPU computed in TF32, with as many bits
of mantissa as float16. `BY_ELEMENT` is for a single kernel, which gets random inputs: each element is compared
relative to its own or the typical magnitude, whichever is larger. `TORCH_SAME` is the `tol` of torch's own
accuracy check, which runs beside ours: its default, or for narrow dtypes that of torch's benchmarks.
"""

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
BY_NORM_TF32 = BY_NORM["float16"]
BY_ELEMENT = {"float16": 2e-2, "bfloat16": 2e-2}
BY_ELEMENT_OTHERWISE = 1e-3
TORCH_SAME = {"float16": 1e-3, "bfloat16": 1e-2}
TORCH_OTHERWISE = 1e-4
