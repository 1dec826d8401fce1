"""Functions of one number, over all magnitudes of float32, in units in the last place of the exact value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from core.accelerator.program.program import StepOp

if TYPE_CHECKING:
    import torch

pytestmark = pytest.mark.torch
STEP = 16411  # of the 2³² patterns of bits: a prime, so that mantissas of all kinds are met
MOST_ULP = {
    StepOp.EXP: 2.0,
    StepOp.LOG: 2.0,
    StepOp.SIN: 2.0,
    StepOp.COS: 2.0,
    StepOp.TANH: 6.0,
    StepOp.ERF: 6.0,
    StepOp.SIGMOID: 3.0,
    StepOp.SQRT: 1.0,
    StepOp.RSQRT: 1.5,
}


def everywhere() -> torch.Tensor:
    """Numbers of all magnitudes, both signs: denormals, zeros, infinities and NaN among them."""
    import torch

    bits = torch.arange(-(2**31), 2**31, STEP, dtype=torch.int64).to(torch.int32)
    special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-45, -1e-45, 1.0, 88.7228, -87.4, -103.9])
    return torch.cat([bits.view(torch.float32), torch.linspace(-20, 20, 200_001), special])


def computed(op: StepOp, x: torch.Tensor) -> torch.Tensor:
    import torch

    from tests.support.kernel_calls import called, step

    found = torch.empty_like(x)
    called(step(op, torch.float32), [x], [found], 1)
    return found


@pytest.mark.parametrize("op", MOST_ULP)
def test_a_function_is_near_the_exact_value_wherever_it_is_called(op: StepOp) -> None:
    import torch

    function: Any = getattr(torch, op.name.lower())
    x = everywhere()
    found, exact = computed(op, x), function(x.double())
    rounded = exact.float()
    assert torch.equal(found.isnan(), rounded.isnan())
    is_large = rounded.isinf() | found.isinf()
    assert bool((found[is_large] == rounded[is_large]).all())
    # Below, exp(-x) is infinite, for torch as well.
    finite = ~(is_large | rounded.isnan() | ((x < -87) if op == StepOp.SIGMOID else False))
    wanted = exact[finite]
    exponent = torch.frexp(wanted).exponent.clamp(min=-125)
    ulp = torch.ldexp(torch.ones_like(wanted), exponent - 24)
    distance = (found[finite].double() - wanted).abs() / ulp
    assert float(distance.max()) <= MOST_ULP[op], x[finite][distance.argmax()]


@pytest.mark.parametrize("exponent", [0.5, -0.5, 2, 3, -1, -2, 0, 1, 1.5])
def test_a_power_is_torchs_own_for_zeros_infinities_and_numbers_below_zero(exponent: float) -> None:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    from core.accelerator.backend import divide
    from core.accelerator.lowering import Support
    from core.accelerator.segment import SegmentModule

    x = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, -8.0, 2.25, 1e-40, 3e38])
    graph = make_fx(lambda x: x**exponent, tracing_mode="fake")(x)
    (name,) = divide(graph, Support())
    segment = SegmentModule(graph.get_submodule(name), name, 63, {})
    torch.testing.assert_close(segment(x), x**exponent, equal_nan=True, rtol=1e-6, atol=0)


def test_the_logarithm_of_softmax_keeps_its_digits_where_the_numbers_are_large() -> None:
    import torch

    from core.accelerator.program.program import Opcode
    from tests.support.kernel_calls import called, instruction

    torch.manual_seed(0)
    x = torch.randn(16, 1000) + 1000
    found = torch.empty_like(x)
    called(instruction(Opcode.SOFTMAX, 1), [x], [found], 1)
    torch.testing.assert_close(found, x.double().log_softmax(-1).float(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("special", ["inf", "-inf", "nan"])
def test_rows_with_numbers_that_are_not_finite_are_torchs_own(special: str) -> None:
    import torch

    from core.accelerator.program.program import Opcode, Reduction, double_bits
    from tests.support.kernel_calls import Made, called, instruction

    torch.manual_seed(1)
    x = torch.randn(9, 200)
    for row, column in ((0, 0), (3, 77), (5, 199), (8, 63)):
        x[row, column] = float(special)
    calls: list[tuple[Made, torch.Tensor]] = [
        (instruction(Opcode.LAYER_NORM, double_bits(1e-5), 1), torch.nn.functional.layer_norm(x, (200,))),
        (instruction(Opcode.SOFTMAX, 0), x.softmax(-1)),
        (instruction(Opcode.SOFTMAX, 1), x.log_softmax(-1)),
        (instruction(Opcode.REDUCE, Reduction.SUM, 2), x.sum(1)),
        (instruction(Opcode.REDUCE, Reduction.AMAX, 2), x.amax(1)),
        (instruction(Opcode.REDUCE, Reduction.AMIN, 1), x.amin(0)),
        (instruction(Opcode.REDUCE, Reduction.MEAN, 1), x.mean(0)),
    ]
    for made, wanted in calls:
        found = torch.empty_like(wanted)
        called(made, [x], [found], 1)
        torch.testing.assert_close(found, wanted, equal_nan=True, rtol=1e-5, atol=1e-5)
