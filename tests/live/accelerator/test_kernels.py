"""Each kernel of the runtime against torch in float64, over random sizes, layouts and dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from core.accelerator.program.program import Opcode, Reduction, StepOp, double_bits

if TYPE_CHECKING:
    import torch

pytestmark = pytest.mark.torch
TIMES = 200
COMPARING = {StepOp.EQ, StepOp.NE, StepOp.LT, StepOp.LE, StepOp.GT, StepOp.GE}
LOGICAL = {StepOp.LOGICAL_NOT, StepOp.LOGICAL_AND, StepOp.LOGICAL_OR}


def dtype_of(chance: Random) -> torch.dtype:
    import torch

    return chance.choice([torch.float32, torch.float32, torch.bfloat16])


def functions() -> dict[StepOp, tuple[int, Any]]:
    """What torch computes for each step, with the number of its operands."""
    import torch
    from torch.nn import functional

    same = {op: getattr(torch, op.name.lower()) for op in StepOp if hasattr(torch, op.name.lower())}
    one = {"NEG", "ABS", "EXP", "LOG", "SQRT", "RSQRT", "RECIPROCAL", "SIN", "COS", "TANH", "ERF", "SIGMOID", "RELU"}
    counts = {op: 1 if op.name in one or op == StepOp.LOGICAL_NOT else 2 for op in same}
    return {
        **{op: (counts[op], call) for op, call in same.items()},
        StepOp.IDENTITY: (1, lambda x: x),
        StepOp.WHERE: (3, lambda c, x, y: torch.where(c != 0, x, y)),
        StepOp.GELU: (1, functional.gelu),
        StepOp.GELU_TANH: (1, lambda x: functional.gelu(x, approximate="tanh")),
        StepOp.SILU: (1, functional.silu),
    }


@pytest.mark.parametrize("op", StepOp)
def test_a_step_computes_what_torch_computes(op: StepOp) -> None:
    import torch

    from tests.support.kernel_calls import agree, numbers, shape, step

    count, function = functions()[op]
    chance = Random(op.value)
    torch.manual_seed(op.value)
    for _ in range(max(6, TIMES // len(StepOp))):
        sizes, kind = shape(chance, chance.randrange(4)), torch.bool if op in LOGICAL else dtype_of(chance)
        inputs = [numbers(chance, sizes, kind) for _ in range(count)]
        for at in range(1, count):
            if sizes and chance.random() < 0.5:
                inputs[at] = numbers(chance, [*sizes[:-1], 1], kind).expand(sizes)
        made = torch.bool if op in COMPARING | LOGICAL else kind
        wanted = function(*(value if kind == torch.bool else value.double() for value in inputs)).to(made)
        agree(chance, step(op, made), inputs, [wanted])


def test_a_product_computes_what_torch_computes() -> None:
    import torch

    from tests.support.kernel_calls import agree, numbers, product, shape

    chance = Random(1)
    torch.manual_seed(1)
    for _ in range(TIMES):
        m, k = shape(chance, 2)
        n, *batch = shape(chance, chance.choice([1, 1, 2, 3]), least=chance.choice([0, 1]))[:3]
        batch = [min(size, 3) for size in batch]
        kind = dtype_of(chance)
        inputs = [numbers(chance, [*batch, m, k], kind), numbers(chance, [*batch, k, n], kind)]
        agree(chance, product(), inputs, [(inputs[0].double() @ inputs[1].double()).to(kind)])


def test_softmax_and_its_logarithm_compute_what_torch_computes() -> None:
    import torch

    from tests.support.kernel_calls import agree, instruction, numbers, shape

    chance = Random(2)
    torch.manual_seed(2)
    for _ in range(TIMES):
        x, is_log = numbers(chance, shape(chance, chance.randrange(1, 4)), dtype_of(chance)), chance.random() < 0.5
        call = torch.log_softmax if is_log else torch.softmax
        agree(chance, instruction(Opcode.SOFTMAX, is_log), [x], [call(x.double(), -1).to(x.dtype)])


@pytest.mark.parametrize("op", [Opcode.LAYER_NORM, Opcode.RMS_NORM])
def test_a_norm_computes_what_torch_computes(op: Opcode) -> None:
    import torch

    from tests.support.kernel_calls import agree, instruction, numbers, shape

    chance = Random(op.value)
    torch.manual_seed(op.value)
    for _ in range(TIMES):
        sizes = shape(chance, chance.randrange(1, 4), least=1)
        dims, kind = chance.randrange(1, len(sizes) + 1), dtype_of(chance)
        x, inner = numbers(chance, sizes, kind), sizes[-dims:]
        weights = [torch.randn(inner).to(kind) for _ in range(chance.randrange(3 if op == Opcode.LAYER_NORM else 2))]
        exact = [value.double() for value in weights]
        if op == Opcode.LAYER_NORM:
            wanted = torch.nn.functional.layer_norm(x.double(), inner, *exact, eps=0.01)
        else:
            wanted = torch.nn.functional.rms_norm(x.double(), inner, *exact, eps=0.01)
        agree(chance, instruction(op, double_bits(0.01), dims), [x, *weights], [wanted.to(kind)])


def test_a_reduction_computes_what_torch_computes() -> None:
    import torch

    from tests.support.kernel_calls import agree, instruction, numbers, shape

    calls = {
        Reduction.SUM: torch.sum,
        Reduction.MEAN: torch.mean,
        Reduction.AMAX: torch.amax,
        Reduction.AMIN: torch.amin,
    }
    chance = Random(3)
    torch.manual_seed(3)
    for _ in range(TIMES):
        kind = chance.choice(list(Reduction))
        x = numbers(chance, shape(chance, chance.randrange(1, 5), least=int(kind >= Reduction.AMAX)), dtype_of(chance))
        dims = chance.sample(range(x.dim()), chance.randrange(1, x.dim() + 1))
        wanted = calls[kind](x.double(), dims).to(x.dtype)
        agree(chance, instruction(Opcode.REDUCE, kind, sum(1 << dim for dim in dims)), [x], [wanted])


def test_an_embedding_and_parts_that_are_joined_are_torchs_own() -> None:
    import torch

    from tests.support.kernel_calls import agree, instruction, numbers, shape

    chance = Random(4)
    torch.manual_seed(4)
    for _ in range(TIMES // 2):
        kind = dtype_of(chance)
        table = numbers(chance, shape(chance, 2, least=1), kind)
        index = torch.randint(len(table), [min(size, 9) for size in shape(chance, chance.randrange(3))])
        agree(chance, instruction(Opcode.EMBEDDING), [table, index], [table[index]])
        sizes, dim = shape(chance, 3), chance.randrange(3)
        parts = [numbers(chance, _with(sizes, dim, chance.randrange(4)), kind) for _ in range(chance.randrange(1, 4))]
        agree(chance, instruction(Opcode.CONCATENATE, dim), parts, [torch.cat(parts, dim)])


def _with(sizes: Sequence[int], dim: int, size: int) -> list[int]:
    return [size if at == dim else other for at, other in enumerate(sizes)]


def test_attention_computes_what_torch_computes() -> None:
    import torch

    from tests.support.kernel_calls import agree, instruction, numbers

    chance = Random(5)
    torch.manual_seed(5)
    for _ in range(TIMES):
        batch, groups, heads, queries = (chance.choice([0, 1, 1, 2]), *(chance.choice([1, 2]) for _ in "gh"), 0)
        queries, keys, depth, width = (chance.choice([1, 2, 7, 33, 49, 64]) for _ in range(4))
        causal, kind, scale = chance.random() < 0.5, dtype_of(chance), chance.choice([0.1, 1.0])
        sides = [(groups * heads, queries, depth), (groups, keys, depth), (groups, keys, width)]
        q, k, v = (numbers(chance, [batch, *sizes], kind) for sizes in sides)
        scores = q.double() @ k.double().repeat_interleave(heads, 1).transpose(-1, -2) * scale
        if causal:
            scores = scores.masked_fill(~torch.ones(queries, keys, dtype=torch.bool).tril(), -torch.inf)
        inputs = [q, k, v]
        if chance.random() < 0.5:
            mask = numbers(chance, [1, chance.choice([1, groups * heads]), queries, keys], kind)
            inputs.append(mask.masked_fill(mask < -1, -torch.inf).expand(scores.shape))
            scores = scores + inputs[3].double()
        seen = scores.amax(-1, keepdim=True) > -torch.inf
        wanted = (scores.softmax(-1).where(seen, 0.0) @ v.double().repeat_interleave(heads, 1)).to(kind)
        sums = scores.logsumexp(-1).where(seen[..., 0], 0.0).float()
        agree(chance, instruction(Opcode.ATTENTION, double_bits(scale), causal), inputs, [wanted, sums])
