"""The kernels and calls that are found in output code."""

import pytest

from core.code.output_code import FoundKernel, direction, find_kernels

CPP = """# AOT ID: ['0_inference']
import torch
cpp_fused_relu_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
extern "C" void kernel() {}
''')


async_compile.wait(globals())
def call(args):
    # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.addmm]
    # [Provenance debug handles] extern_kernels.addmm:1
    extern_kernels.addmm(arg0, arg1, out=buf0)
    buf1, buf2 = torch.ops.aten.sort.default(buf0)
    buf3 = torch.ops.aten.view_as_real.default(buf1)
    buf4 = torch.ops.aten._conj.default(buf1)
    reinterpret = torch.ops.inductor._reinterpret_tensor(buf0, (8,))
    # [Provenance debug handles] cpp_fused_relu_0:2
    cpp_fused_relu_0(buf0)
    cpp_fused_relu_0(buf1)
"""
TRITON = """# AOT ID: ['3_backward']
triton_per_fused_sum_1 = async_compile.triton('triton_per_fused_sum_1', '''
@triton_heuristics.persistent_reduction(
    size_hints={'x': 8},
)
''', device_str='cuda')

def call(args):
        triton_per_fused_sum_1.run(arg0, buf0, 8, stream=stream0)
"""


@pytest.mark.parametrize(
    ("text", "way", "expected"),
    [
        (CPP, "inference", [
            FoundKernel("cpp_fused_relu_0", "cpp", False, "C++ loops", 3, 5, [18, 19], [2]),
            FoundKernel("extern_kernels.addmm", "extern", True, "extern", 12, 12, [12], [1]),
            FoundKernel("torch.ops.aten.sort.default", "extern", True, "extern", 13, 13, [13], []),
        ]),
        (
            TRITON,
            "backward",
            [FoundKernel("triton_per_fused_sum_1", "triton", False, "persistent reduction", 2, 6, [9], [])],
        ),
        ("", "", []),
    ],
    ids=["cpp", "triton", "empty"],
)  # fmt: skip
def test_kernels_are_found_in_output_code(text: str, way: str, expected: list[FoundKernel]) -> None:
    assert direction(text) == way
    assert find_kernels(text) == expected


def test_a_call_has_the_handles_of_its_own_name() -> None:
    text = CPP.replace("extern_kernels.addmm:1", "aten.addmm:1, other.mm:7, cpp_fused_relu_0:9")
    assert [kernel.handles for kernel in find_kernels(text)] == [[2], [1], []]
