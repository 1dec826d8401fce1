"""The one reader of output code: two ways to the definitions, one rule for extern kernels, the wrapper's names."""

import ast

import pytest

from core import load_text
from core.code.output_code import (
    Buffers,
    Definition,
    Shape,
    buffers,
    call_arguments,
    definition_in,
    definitions,
    find_kernels,
    is_collective,
    is_extern_kernel,
    tensor_names,
)
from tests.support.logs import recorded_report
from tests.support.places import TRACES

WRAPPER = """
    buf0 = empty_strided_cpu((8, 64), (64, 1), torch.float32)
    buf3 = reinterpret_tensor(buf1, (8, 64), (64, 1), 0); del buf1  # reuse
    buf4 = buf3; del buf3  # reuse
    buf5 = buf4[1]
    arg0_1 = rand_strided((4, ), (1, ), device='cpu', dtype=torch.int64)
"""
TRITON = "k = async_compile.triton('triton_', '''\n@triton.jit\n''', device_str='cuda')"
CPP = "k = async_compile.cpp_pybinding(['float*'], r'''x''')"


@pytest.mark.parametrize("scenario", ["control_flow", "dynamic_batch", "foreign", "training_step"])
def test_definitions_are_the_same_by_lines_and_by_the_tree(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    kernels = [kernel for compilation in recorded_report(log).compilations for kernel in compilation.kernels]
    codes = {load_text(log, kernel.output_code) for kernel in kernels}
    assert codes
    for text in codes:
        by_lines = [kernel.name for kernel in find_kernels(text) if not kernel.extern]
        assert by_lines == [kernel.name for kernel in definitions(ast.parse(text))]


def test_a_definition_shows_its_name_its_language_and_its_texts() -> None:
    assert definition_in(TRITON) == Definition("k", "triton", ("triton_", "\n@triton.jit\n"))
    assert definition_in(CPP) == Definition("k", "cpp_pybinding", ("x",))


def test_a_calls_arguments_and_the_tensors_in_them_are_read() -> None:
    text = "x = 1\n    extern_kernels.mm(buf0, reinterpret_tensor(arg0_1, (8, 4), (1, 8), 0), out=buf2)\ny = (\n"
    call = call_arguments(text, 2)
    assert call == ("buf0", "reinterpret_tensor(arg0_1, (8, 4), (1, 8), 0)")
    assert tensor_names([*call, "buf0"]) == ["buf0", "arg0_1"]
    assert call_arguments(text, 1) == call_arguments(text, 3) == ()


@pytest.mark.parametrize("statement", ["k = f(1)", "async_compile.wait(globals())", "k = (", ""])
def test_another_statement_is_no_definition(statement: str) -> None:
    assert definition_in(statement) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("extern_kernels.mm", True),
        ("aten.index_put_", True),
        ("inductor_ops.resize_storage_bytes_", True),
        ("torch.ops.mylib.embed.default", True),
        ("torch.ops._c10d_functional.all_reduce_.default", True),
        ("aten.view", False),
        ("torch.ops.aten.permute.default", False),
        ("torch.ops.inductor._reinterpret_tensor", False),
        ("inductor_ops._alloc_from_pool", False),
        ("torch.ops.inductor._alloc_from_pool", False),
        ("torch.ops.profiler._record_function_enter_new.default", False),
        ("aten.sym_size", False),
        ("reinterpret_tensor", False),
        ("torch.cuda.synchronize", False),
    ],
)
def test_an_extern_kernel_is_a_call_of_a_library_that_runs_something(name: str, expected: bool) -> None:
    assert is_extern_kernel(name) is expected
    assert [kernel.name for kernel in find_kernels(f"    buf0 = {name}(buf1)")] == [name] * expected


def test_a_collective_is_a_kernel_that_one_process_cannot_repeat() -> None:
    assert is_collective("torch.ops._c10d_functional.all_reduce_.default")
    assert not is_collective("extern_kernels.mm")


def test_the_wrapper_says_which_buffer_goes_by_which_name() -> None:
    found = buffers(WRAPPER)
    assert found == Buffers(
        {"buf3": "buf1", "buf4": "buf3"},
        {"buf5": ("buf4", 1)},
        {"buf0": Shape("float32", "(8, 64)", "(64, 1)"), "arg0_1": Shape("int64", "(4, )", "(1, )")},
    )
    assert found.aliases("buf4") == ("buf4", "buf3", "buf1")
