"""One call of a program: by the extension module of Python and by ctypes, which look at inputs alike."""

import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.accelerator import segment_of
from core.base.errors import ProgramError

pytestmark = pytest.mark.torch


@pytest.fixture(params=["extension", "ctypes"])
def calls(request: pytest.FixtureRequest) -> Callable[..., Any]:
    from core.accelerator.segment import call_by_ctypes, program_call

    found, _ = program_call()
    assert found is not call_by_ctypes, "this Python has its headers, and so an extension module"
    return call_by_ctypes if request.param == "ctypes" else found


def test_a_module_that_cannot_be_loaded_is_replaced_by_ctypes_and_the_reason_is_known(tmp_path: Path) -> None:
    from core.accelerator.segment import call_by_ctypes, fastest_call

    damaged = tmp_path / "call.so"
    damaged.write_bytes(b"no module")

    def not_built() -> Path:
        raise ProgramError("there is no Python.h in /usr/include")

    for build, reason in ((lambda: damaged, "call.so"), (not_built, "there is no Python.h")):
        call, words = fastest_call(build)
        assert call is call_by_ctypes
        assert words.startswith("The accelerator's programs are called through ctypes")
        assert reason in words


def called(call: Callable[..., Any], function: Callable[..., Any], *inputs: Any) -> Callable[..., Any]:
    """A program for such inputs, started by `call` with any."""
    from core.accelerator.segment import allocate

    compiled = segment_of(function, *inputs).first
    plans = compiled.inputs, compiled.outputs
    # The program lives as long as what starts it.
    return lambda *given: call(compiled.loaded.address, *plans, allocate, 1, given)


def test_inputs_that_lie_otherwise_than_planned_are_not_read(calls: Callable[..., Any]) -> None:
    import torch

    x = torch.randn(3, 1, 4)
    start = called(calls, torch.neg, x)
    others = {
        "as planned": x,
        "other strides where the size is 1": torch.as_strided(x.clone(), (3, 1, 4), (4, 99, 1)),
        "transposed": torch.randn(4, 1, 3).transpose(0, 2),
        "other sizes": torch.randn(3, 4),
        "more rows": torch.randn(4, 1, 4),
        "another dtype": x.double(),
    }
    found = {name: start(tensor) for name, tensor in others.items()}
    assert [name for name, done in found.items() if done is None] == [*others][2:]
    for name in [*others][:2]:
        (result,), seconds, _ = found[name]
        assert torch.equal(result, -x)
        assert seconds > 0


def test_strides_of_a_tensor_without_elements_do_not_count(calls: Callable[..., Any]) -> None:
    import torch

    start = called(calls, torch.neg, torch.empty(0, 3))
    assert start(torch.empty(3, 0).t())[0][0].shape == (0, 3)


def test_a_call_takes_many_inputs_in_any_order(calls: Callable[..., Any]) -> None:
    import torch

    inputs = [torch.full((2,), float(value)) for value in range(40)]
    segment = segment_of(lambda *values: torch.cat(values), *inputs)
    given = [inputs[index] for index in segment.order]
    start = called(calls, lambda *values: torch.cat(values), *given)
    assert torch.equal(start(*given)[0][0], torch.cat(inputs))


def test_what_is_no_tensor_or_is_missing_is_an_error(calls: Callable[..., Any]) -> None:
    import torch

    start = called(calls, torch.add, torch.ones(4), torch.ones(4))
    with pytest.raises(IndexError):
        start(torch.ones(4))
    with pytest.raises(AttributeError):
        start(torch.ones(4), 3)


def test_memory_that_the_runtime_refuses_is_an_error_with_its_reason(calls: Callable[..., Any]) -> None:
    import torch

    start = called(calls, torch.neg, torch.ones(2))
    odd = torch.frombuffer(bytearray(9), dtype=torch.float32, offset=1, count=2)
    with pytest.raises(ProgramError, match="one of the inputs is not at a multiple of 4 bytes: number 0"):
        start(odd)


def test_a_call_keeps_nothing_of_its_inputs_and_results(calls: Callable[..., Any]) -> None:
    import torch

    x, other = torch.ones(4), torch.ones(2)
    start = called(calls, torch.neg, x)
    before = sys.getrefcount(x), sys.getrefcount(other), sys.getrefcount(None)
    results = [start(x)[0][0] for _ in range(100)]
    refused = [start(other) for _ in range(100)]
    assert len({result.data_ptr() for result in results}) == 100
    watched = [weakref.ref(result) for result in results]
    del results, refused
    assert {reference() for reference in watched} == {None}
    after = sys.getrefcount(x), sys.getrefcount(other)
    assert after == before[:2]
    assert abs(sys.getrefcount(None) - before[2]) < 50


def test_a_segment_copies_an_input_that_lies_otherwise_and_counts_the_copy() -> None:
    import torch

    x, turned = torch.randn(3, 3), torch.randn(3, 3).t()
    segment = segment_of(lambda a: a.relu() + a, x)
    assert torch.equal(segment(turned), turned.relu() + turned)
    assert (segment.crossings.calls, segment.crossings.copies) == (1, 1)
