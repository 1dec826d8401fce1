"""A second grid: shapes by a Halton sequence, where the first grid has few.

The sequence fills the logarithms of the sizes evenly and has no random start. Reductions, backwards, scatters and
`foreach` are Inductor's code; library calls are in `designed_calls`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks.devices.cases import BF16, F32, I64, Case, RandomInput

BASES = (2, 3, 5, 7, 11)
MOST_ELEMENTS = 2**26
aten: Any = torch.ops.aten


def halton(index: int, root: int) -> float:
    """Return an element of the Halton sequence of a base, between 0 and 1."""
    made, part = 0.0, 1.0
    while index:
        part /= root
        made += part * (index % root)
        index //= root
    return made


def shapes(count: int, *ranges: tuple[int, int, int]) -> Iterator[tuple[int, ...]]:
    """Yield sizes, even in the logarithm; a range is least, most, and what its sizes are multiples of."""
    for index in range(1, count + 1):
        yield tuple(
            max(1, round(low * (high / low) ** halton(index, root) / unit)) * unit
            for (low, high, unit), root in zip(ranges, BASES, strict=False)
        )


def designed_cases(scale: int = 1) -> Iterator[Case]:
    """Yield functions for Inductor; `scale` divides their rows, for a check without the device."""
    for part in (_inner, _outer, _middle, _images, _backwards, _scatters, _lists, _copies, _small):
        yield from part(scale)


def _dtypes() -> Iterator[torch.dtype]:
    return itertools.cycle((F32, BF16))


def _inner(scale: int) -> Iterator[Case]:
    made: list[Callable[..., Any]] = [
        lambda a: a.float().sum(-1),
        lambda a: torch.softmax(a, -1),
        lambda a: F.layer_norm(a, a.shape[-1:]),
        lambda a: a.amax(-1),
        lambda a: a * torch.rsqrt(a.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(a.dtype),
        lambda a: F.normalize(a, dim=-1),
        lambda a: torch.log_softmax(a.float(), -1),
        lambda a: (a * 2).mean(-1),
    ]
    points = shapes(64, (1, 500_000, 1), (8, 300_000, 8))
    for index, ((rows, columns), dtype) in enumerate(zip(points, _dtypes(), strict=False)):
        if 2**12 <= rows * columns <= MOST_ELEMENTS:
            whole = RandomInput((max(1, rows // scale), columns), dtype if index % 3 else F32)
            yield Case("inner rows", f"{index} {whole.shape}", made[index % len(made)], (whole,))


def _outer(scale: int) -> Iterator[Case]:
    made: list[tuple[int, Callable[..., Any]]] = [
        (1, lambda a: a.sum(0)),
        (2, lambda a, b: (a * b).float().sum(0)),
        (1, lambda a: (a.sum(0), a.relu())),
        (1, lambda a: a.amax(0)),
        (1, lambda a: F.batch_norm(a, None, None, training=True)),
    ]
    for index, ((rows, columns), dtype) in enumerate(
        zip(shapes(40, (64, 300_000, 1), (8, 16_384, 8)), _dtypes(), strict=False)
    ):
        if 2**14 <= rows * columns <= MOST_ELEMENTS:
            count, function = made[index % len(made)]
            whole = RandomInput((max(4, rows // scale), columns), dtype)
            yield Case("outer rows", f"{index} {whole.shape}", function, (whole,) * count)


def _middle(scale: int) -> Iterator[Case]:
    made: list[Callable[..., Any]] = [
        lambda a: a.sum(1),
        lambda a: a.sum((0, 2)),
        lambda a: a.mean(1),
        lambda a: a.amax(1),
        lambda a: (a * 2).sum((0, 1)),
        lambda a: torch.softmax(a, 1),
        lambda a: a.sum(2),
    ]
    for index, ((batch, rows, columns), dtype) in enumerate(
        zip(shapes(56, (2, 2_048, 1), (4, 4_096, 1), (8, 4_096, 8)), _dtypes(), strict=False)
    ):
        if 2**16 <= batch * rows * columns <= MOST_ELEMENTS:
            whole = RandomInput((max(1, batch // scale), rows, columns), dtype)
            yield Case("middle rows", f"{index} {whole.shape}", made[index % len(made)], (whole,))


def _images(scale: int) -> Iterator[Case]:
    made: list[Callable[..., Any]] = [
        lambda a, w: F.batch_norm(a, None, None, w, w, True),
        lambda a, w: F.silu(F.group_norm(a, 8, w, w)),
        lambda a, w: a.mean((2, 3)),
        lambda a, w: F.layer_norm(a.permute(0, 2, 3, 1), (a.shape[1],), w, w).permute(0, 3, 1, 2),
        lambda a, w: F.instance_norm(a, weight=w, bias=w),
        lambda a, w: F.adaptive_avg_pool2d(F.relu(a), 1),
        lambda a, w: F.avg_pool2d(a * 2, 2),
        lambda a, w: F.pixel_shuffle(a + 1, 2),
    ]
    for index, ((batch, channels, side), dtype) in enumerate(
        zip(shapes(48, (2, 128, 1), (16, 1_024, 8), (7, 128, 1)), _dtypes(), strict=False)
    ):
        if batch * channels * side * side <= MOST_ELEMENTS:
            order = (0, 3, 1, 2) if index % 4 in (1, 2) else ()
            sizes = (side, side, channels) if order else (channels, side, side)
            whole = RandomInput((max(1, batch // scale), *sizes), dtype, order=order)
            name = f"{index} {whole.shape} {order}"
            yield Case("images", name, made[index % len(made)], (whole, RandomInput((channels,), dtype)))


def _backwards(scale: int) -> Iterator[Case]:
    for (rows, columns), dtype in zip(shapes(20, (256, 65_536, 1), (64, 4_096, 8)), _dtypes(), strict=False):
        if rows * columns <= MOST_ELEMENTS:
            rows = max(4, rows // scale)
            whole, line, row = (
                RandomInput((rows, columns), dtype),
                RandomInput((columns,), dtype),
                RandomInput((rows, 1)),
            )
            name = f"{dtype} {rows}x{columns}"
            yield Case("backwards", f"layer_norm {name}", _norm_backward, (whole, whole, row, row, line))
            yield Case("backwards", f"rms_norm {name}", _rms_backward, (whole, whole, row, line))
            yield Case("backwards", f"softmax {name}", _softmax_backward, (whole, whole))
            yield Case("backwards", f"gelu {name}", _bias_gelu_backward, (whole, whole))
    for (batch, channels, side), dtype in zip(
        shapes(12, (8, 64, 1), (16, 512, 8), (7, 96, 1)), _dtypes(), strict=False
    ):
        if batch * channels * side * side <= MOST_ELEMENTS:
            whole = RandomInput((max(1, batch // scale), channels, side, side), dtype)
            line = RandomInput((channels,))
            name = f"{dtype} {whole.shape}"
            yield Case("backwards", f"batch_norm {name}", _batch_backward, (whole, whole, line, line, line))


def _norm_backward(g: Any, a: Any, mean: Any, rstd: Any, w: Any) -> Any:
    return aten.native_layer_norm_backward(g, a, [a.shape[-1]], mean, rstd, w, w, [True, True, True])


def _rms_backward(g: Any, a: Any, rstd: Any, w: Any) -> Any:
    wide, made = a.float() * rstd, g.float() * w.float()
    return (rstd * (made - wide * (made * wide).mean(-1, keepdim=True))).to(a.dtype), (g.float() * wide).sum(0)


def _softmax_backward(g: Any, out: Any) -> Any:
    return aten._softmax_backward_data(g, out, -1, out.dtype) * 0.125


def _bias_gelu_backward(g: Any, a: Any) -> Any:
    made = aten.gelu_backward(g, a)
    return made, made.float().sum(0)


def _batch_backward(g: Any, a: Any, w: Any, mean: Any, rstd: Any) -> Any:
    masked = torch.where(a > 0, g, torch.zeros((), dtype=g.dtype, device=g.device))
    return aten.native_batch_norm_backward(masked, a, w, None, None, mean, rstd, True, 1e-5, [True, True, True])


def _scatters(scale: int) -> Iterator[Case]:
    for (rows, width, count), dtype in zip(
        shapes(18, (64, 500_000, 1), (4, 1_024, 4), (1_024, 400_000, 1)), _dtypes(), strict=False
    ):
        if max(rows, count) * width > MOST_ELEMENTS:
            continue
        rows, count = max(8, rows // scale), max(8, count // scale)
        index, update = RandomInput((count,), I64, below=rows), RandomInput((count, width))
        table, name = RandomInput((rows, width), dtype), f"{dtype} {rows}x{width} {count}"
        pairs = RandomInput((max(1, count // 16), 16), I64, below=rows)
        yield Case("writes by index", f"index_put {name}", _put, (table, index, update))
        yield Case("writes by index", f"write {name}", _write, (table, index, update))
        yield Case("reads by index", f"gather {name}", lambda a, i: a[i] * 2, (table, index))
        yield Case("reads by index", f"bag {name}", lambda a, i: a[i].sum(1), (table, pairs))
    for (batch, points, width), dtype in zip(
        shapes(12, (2, 64, 1), (64, 4_096, 8), (4, 256, 4)), _dtypes(), strict=False
    ):
        if batch * points * width * 4 <= MOST_ELEMENTS:
            whole = RandomInput((max(1, batch // scale), points, width), dtype)
            near = RandomInput((max(1, batch // scale), 4 * points), I64, below=points)
            name = f"{dtype} {whole.shape}"
            yield Case("reads by index", f"points {name}", _points, (whole, near))
            yield Case("writes by index", f"scatter_add {name}", _scatter_add, (whole, near))


def _put(table: Any, index: Any, update: Any) -> Any:
    return torch.zeros_like(table, dtype=F32).index_put((index,), update, accumulate=True)


def _write(table: Any, index: Any, update: Any) -> Any:
    return table.index_put((index,), update.to(table.dtype))


def _points(a: Any, near: Any) -> Any:
    return a.gather(1, near.unsqueeze(-1).expand(-1, -1, a.shape[-1])) * 2


def _scatter_add(a: Any, near: Any) -> Any:
    index = near[:, : a.shape[1]].unsqueeze(-1).expand(-1, -1, a.shape[-1])
    return torch.zeros_like(a, dtype=F32).scatter_add(1, index, a.float())


def _lists(scale: int) -> Iterator[Case]:
    for index, (length, width) in enumerate(shapes(8, (2_048, 400_000, 1), (2, 24, 1))):
        parts = tuple(RandomInput((max(16, length * (1 + each % 5) // scale),)) for each in range(width))
        yield Case(f"lists {index}", f"foreach {length} {width}", _foreach, parts * 2)


def _foreach(*parts: Any) -> Any:
    half = len(parts) // 2
    sums = torch._foreach_add(torch._foreach_mul(parts[:half], 0.9), parts[half:], alpha=0.1)
    return torch._foreach_div(parts[:half], torch._foreach_add(torch._foreach_sqrt(torch._foreach_abs(sums)), 1e-8))


def _copies(scale: int) -> Iterator[Case]:
    made: list[Callable[..., Any]] = [
        lambda a: (a.permute(0, 2, 1, 3) * 2).contiguous(),
        lambda a: torch.roll(a + 1, (2, 3), (1, 2)),
        lambda a: torch.cat((a[..., a.shape[-1] // 2 :] * 2, a[..., : a.shape[-1] // 2]), -1),
        lambda a: (a.permute(0, 2, 3, 1) * 2).contiguous(),
        lambda a: F.glu(a, -1),
        lambda a: F.pad(a * 2, (0, 0, 1, 2)),
        lambda a: (a.transpose(-1, -2) + 1).contiguous(),
    ]
    for index, ((batch, length, heads, width), dtype) in enumerate(
        zip(shapes(42, (1, 128, 1), (16, 2_048, 1), (2, 64, 2), (16, 256, 8)), _dtypes(), strict=False)
    ):
        if 2**16 <= batch * length * heads * width <= MOST_ELEMENTS:
            whole = RandomInput((max(1, batch // scale), length, heads, width), dtype)
            yield Case("copies", f"{index} {whole.shape}", made[index % len(made)], (whole,))


def _small(scale: int) -> Iterator[Case]:
    made: list[tuple[int, Callable[..., Any]]] = [
        (3, lambda a, b, c: torch.sigmoid(a) * b + torch.sigmoid(b) * torch.tanh(c)),
        (2, lambda a, b: F.gelu(a + b, approximate="tanh")),
        (2, lambda a, b: F.softplus(a) * torch.exp(-b)),
        (2, lambda a, b: torch.where(a > 0, a, b * 0.1)),
        (2, lambda a, b: F.dropout(a * b, 0.1)),
        (2, lambda a, b: F.silu(a.float()).to(a.dtype) * b),
    ]
    for index, ((rows, columns), dtype) in enumerate(
        zip(shapes(42, (16, 65_536, 1), (32, 4_096, 8)), _dtypes(), strict=False)
    ):
        if 2**12 <= rows * columns <= MOST_ELEMENTS:
            count, function = made[index % len(made)]
            parts = RandomInput((max(1, rows // scale), columns), dtype), RandomInput((columns,), dtype)
            yield Case("elements", f"{index} {parts[0].shape}", function, (parts[0], *parts[1:], parts[0])[:count])
