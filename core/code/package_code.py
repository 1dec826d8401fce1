"""Kernels in the C++ code of an AOTInductor package: the loops that it defines, and its calls of libraries and Triton.

extern "C"  void  cpp_fused_relu_1(const float* in_ptr0,
                       float* out_ptr0)
{
    …
}
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_addmm_out(buf0, _frozen_param1, arg0_1, …));
    launchKernel(kernels.triton_poi_fused_relu_1, …);
    call_triton_poi_fused_relu_1(buf0, 512, this->device_idx_, stream, kernels, this->cubin_dir_);
"""

from __future__ import annotations

import re
from bisect import bisect_left

from core.code.output_code import FoundKernel

DEFINED = re.compile(r'^extern "C"\s+(?:\w+ +)*void\s+(\w+)\(')
LIBRARY = re.compile(r"\b(aoti_torch_(?:cpu|cuda|xpu|mps)_(?!view_dtype\b)\w+)\(")
TRITON = re.compile(r"\blaunchKernel\(\s*kernels\.(\w+)|^\s+call_(triton_\w+)\(")
MOST_SIGNATURE_LINES = 200


def package_kernels(text: str) -> list[FoundKernel]:
    """Return every kernel in order; the calls of a kernel that the text defines are in another text."""
    lines = text.split("\n")
    ends = [number for number, line in enumerate(lines, 1) if line.startswith("}")]
    kernels: dict[str, FoundKernel] = {}
    for number, line in enumerate(lines, 1):
        if match := DEFINED.match(line):
            body = _body(lines, number)
            if body is not None:
                after = bisect_left(ends, body)
                last = ends[after] if after < len(ends) else len(lines)
                kernels.setdefault(match[1], FoundKernel(match[1], "cpp", False, "C++ loops", number, last))
        elif match := LIBRARY.search(line):
            called = kernels.setdefault(match[1], FoundKernel(match[1], "extern", True, "extern", number, number))
            called.calls.append(number)
        elif match := TRITON.search(line):
            name = match[1] or match[2]
            launched = kernels.setdefault(name, FoundKernel(name, "triton", False, "Triton", number, number))
            launched.calls.append(number)
    return list(kernels.values())


def _body(lines: list[str], first: int) -> int | None:
    """Return the line that opens the body of a function, which begins in line `first`; None for a declaration."""
    for number, line in enumerate(lines[first - 1 : first - 1 + MOST_SIGNATURE_LINES], first):
        if line.rstrip().endswith((";", "{")):
            return number if line.rstrip().endswith("{") else None
    return None
