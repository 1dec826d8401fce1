"""Functions and calls beside the first grid: scans, windows, sorts, convolutions, attention, layouts.

The first grid has few of them, and its fit was wrong by factors of 1.5 to 8 for such kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks.devices import calls as base
from benchmarks.devices.calls import Call
from benchmarks.devices.cases import BF16, F32, I64, Case, RandomInput

SKINNY = (
    (16_384, 256, 13), (16_384, 96, 256), (16_384, 1, 256), (48, 100, 384), (32, 1_000, 640), (4_096, 16, 1_024),
    (1_024, 4_096, 512), (640, 640, 4_096), (40_000, 128, 256), (1_024, 16, 4_096), (2_048, 48, 192),
)  # fmt: skip


def more_cases(scale: int = 1) -> Iterator[Case]:
    """Yield functions for Inductor; `scale` divides their sizes, for a check without the device."""
    for part in (_scans, _added, _windows, _groups, _column_sums, _to_channels_last, _losses, _chains):
        yield from part(scale)


def _scans(scale: int) -> Iterator[Case]:
    rows = ((16_384, 64), (65_536, 256), (4_096, 1_024), (8_192, 4_096), (1_024, 16_384), (8, 1_048_576))
    for dtype in (F32, BF16):
        for count, length in rows:
            whole = RandomInput((max(2, count // scale), length), dtype)
            yield Case("inner_scan", f"cumsum {dtype} {whole.shape}", lambda a: (a * 2).cumsum(1), (whole,))
    for batch, length, width in ((16, 256, 8_192), (8, 1_024, 1_024), (64, 128, 512), (4, 2_048, 4_096), (2, 64, 256)):
        whole = RandomInput((max(1, batch // scale), length, width))
        yield Case("outer_scan", f"cumsum_time {whole.shape}", lambda a: a.cumsum(1), (whole,))
        yield Case("outer_scan", f"exp_cumsum {whole.shape}", lambda a: torch.exp(a).cumsum(1) * 0.5, (whole,))


def _added(scale: int) -> Iterator[Case]:
    for dtype in (F32, BF16):
        for rows, width, count in (
            (8_192, 1_024, 16_384),
            (40_000, 128, 400_000),
            (1_000, 64, 100_000),
            (512, 32, 4_096),
        ):
            rows, count = max(8, rows // scale), max(8, count // scale)
            parts = RandomInput((rows, width), dtype), RandomInput((count,), I64, below=rows)
            rest = RandomInput((count, width), dtype)
            name = f"{dtype} {rows}x{width} {count}"
            yield Case("row_adds", f"index_add {name}", lambda a, i, g: a.index_add(0, i, g), (*parts, rest))
            yield Case(
                "row_adds",
                f"index_add_wide {name}",
                lambda a, i, g: torch.zeros_like(a, dtype=F32).index_add(0, i, g.float()),
                (*parts, rest),
            )
            yield Case("row_gathers", f"two_gathers {name}", lambda a, i: torch.cat((a[i], a[i // 2]), 1), parts)


def _windows(scale: int) -> Iterator[Case]:
    for batch, channels, side, dtype, order in (
        (32, 64, 112, F32, ()),
        (48, 48, 96, F32, (0, 3, 1, 2)),
        (64, 256, 28, BF16, (0, 3, 1, 2)),
        (16, 64, 64, BF16, ()),
    ):
        batch = max(1, batch // scale)
        shape = (batch, side, side, channels) if order else (batch, channels, side, side)
        whole = RandomInput(shape, dtype, order=order)
        name = f"{dtype} {batch}x{channels}x{side} {order}"
        yield Case("window_backward", f"max_pool_backward {name}", _pooled, (whole, whole))
        yield Case("window", f"max_pool {name}", lambda a: F.max_pool2d(a, 3, 2, 1), (whole,))
        yield Case("window", f"avg_pool {name}", lambda a: F.avg_pool2d(a, 3, 1, 1), (whole,))
        yield Case("window", f"upsample {name}", lambda a: F.interpolate(F.silu(a), scale_factor=2.0), (whole,))
        yield Case(
            "window", f"bilinear {name}", lambda a: F.interpolate(a, scale_factor=2.0, mode="bilinear"), (whole,)
        )


def _pooled(a: Any, image: Any) -> Any:
    pooled, chosen = torch.ops.aten.max_pool2d_with_indices(image, [3, 3], [2, 2], [1, 1])
    backward = torch.ops.aten.max_pool2d_with_indices_backward
    return backward(pooled * 2, a, [3, 3], [2, 2], [1, 1], [1, 1], False, chosen)


def _groups(scale: int) -> Iterator[Case]:
    for batch, channels, side, dtype in (
        (16, 128, 64, BF16),
        (16, 256, 32, BF16),
        (8, 320, 32, BF16),
        (32, 64, 56, F32),
        (4, 512, 16, BF16),
        (64, 256, 14, F32),
    ):
        batch = max(1, batch // scale)
        weights = RandomInput((channels,), dtype)
        for order in ((), (0, 3, 1, 2)):
            shape = (batch, side, side, channels) if order else (batch, channels, side, side)
            parts = RandomInput(shape, dtype, order=order), weights, weights
            name = f"{dtype} {batch}x{channels}x{side} {order}"
            yield Case("image_norm", f"group_norm {name}", lambda a, w, b: F.silu(F.group_norm(a, 16, w, b)), parts)
            yield Case(
                "image_norm", f"batch_norm {name}", lambda a, w, b: F.batch_norm(a, None, None, w, b, True), parts
            )
            yield Case("image_norm", f"places {name}", lambda a, w, b: (a * 2).mean((2, 3)), parts)
    for rows, columns, dtype in ((8_192, 768, F32), (8_192, 2_048, BF16), (1_024, 3_072, F32)):
        pair = RandomInput((max(8, rows // scale), columns), dtype), RandomInput((columns,), dtype)
        name = f"{dtype} {rows}x{columns}"
        yield Case(
            "image_norm", f"batch_norm_1d {name}", lambda a, w: F.gelu(F.batch_norm(a, None, None, w, w, True)), pair
        )


def _column_sums(scale: int) -> Iterator[Case]:
    for rows, columns, dtype in (
        (8_192, 1_024, BF16), (8_192, 4_096, BF16), (16_384, 768, F32), (4_096, 16_384, BF16), (65_536, 128, F32),
        (400_000, 64, F32), (2_048, 2_048, F32),
    ):  # fmt: skip
        rows = max(8, rows // scale)
        whole, line = RandomInput((rows, columns), dtype), RandomInput((columns,), dtype)
        name = f"{dtype} {rows}x{columns}"
        yield Case("column_sums", f"gelu_backward {name}", _gelu_backward, (whole, whole))
        yield Case("column_sums", f"bias_backward {name}", lambda g: (g.sum(0), g * 2), (whole,))
        yield Case(
            "column_sums", f"weighted {name}", lambda g, a, w: ((g * a).sum(0), (g * w).sum(1)), (whole, whole, line)
        )
    for batch, length, width in ((32, 256, 640), (16, 1_024, 512), (64, 49, 768)):
        whole = RandomInput((max(1, batch // scale), length, width))
        yield Case("column_sums", f"mean_time {whole.shape}", lambda a: (a + 1).mean(1), (whole,))


def _gelu_backward(g: Any, a: Any) -> Any:
    made = torch.ops.aten.gelu_backward(g, a)
    return made, made.sum(0)


def _to_channels_last(scale: int) -> Iterator[Case]:
    for batch, channels, side, dtype in (
        (32, 3, 256, F32),
        (16, 4, 64, BF16),
        (48, 3, 192, F32),
        (32, 128, 32, BF16),
        (16, 256, 64, F32),
        (8, 1_024, 16, F32),
    ):
        shape = (max(1, batch // scale), channels, side, side)
        last = (shape[0], side, side, channels)
        name = f"{dtype} {shape}"
        yield Case(
            "channels",
            f"to_last {name}",
            lambda a: (a * 2).contiguous(memory_format=torch.channels_last),
            (RandomInput(shape, dtype),),
        )
        yield Case(
            "channels",
            f"to_first {name}",
            lambda a: (a * 2).contiguous(),
            (RandomInput(last, dtype, order=(0, 3, 1, 2)),),
        )
    for rows, columns in ((64, 9), (512, 2_304), (4_096, 1_024), (128, 147)):
        parts = RandomInput((rows, columns)), RandomInput((columns, rows))
        yield Case("channels", f"turned_add {rows}x{columns}", lambda a, b: a.t() + b, parts)


def _losses(scale: int) -> Iterator[Case]:
    for rows, columns in ((8_192, 16_384), (2_048, 32_000), (512, 1_000)):
        rows = max(8, rows // scale)
        parts = RandomInput((rows, columns), BF16), RandomInput((rows,), I64, below=columns)
        yield Case("loss", f"loss_backward {rows}x{columns}", _loss_backward, parts)
        yield Case(
            "loss", f"log_softmax {rows}x{columns}", lambda a, t: torch.log_softmax(a.float(), -1) + t[:, None], parts
        )


def _loss_backward(a: Any, target: Any) -> Any:
    logs = torch.log_softmax(a.float(), -1)
    chosen = torch.arange(logs.shape[1], device=a.device) == target[:, None]
    return ((logs.exp() - chosen.float()) * (1 / logs.shape[0])).to(a.dtype)


def _chains(scale: int) -> Iterator[Case]:
    """Yield functions with more ops of an element than the first grid has."""
    rows: list[tuple[str, int, Callable[..., Any]]] = [
        ("silu_gate", 3, lambda a, b, c: F.silu(a) * b + torch.sigmoid(c)),
        ("silu_backward", 2, lambda g, a: torch.ops.aten.silu_backward(g, a)),
        ("gelu_tanh", 1, lambda a: F.gelu(a, approximate="tanh")),
        ("softplus", 1, lambda a: F.softplus(a) * torch.tanh(a)),
        ("polynomial", 1, lambda a: ((((a * 0.1 + 1) * a + 2) * a - 3) * a + 4).clamp(-1, 1)),
        ("where", 3, lambda a, b, c: torch.where(a > 0, b * 2, c) + (b >= c).to(a.dtype)),
    ]
    for name, count, function in rows:
        for dtype, powers in ((F32, (18, 22, 25)), (BF16, (20, 24, 26))):
            for power in powers:
                whole = RandomInput((max(16, 2**power // scale),), dtype)
                yield Case("chain", f"{name} {dtype} {power}", function, (whole,) * count)


def more_calls(scale: int = 1) -> list[Call]:
    """Return library calls: convolutions, attention, narrow products, sorts."""
    made = [*_convolutions(scale), *_lines(scale), *_attention(scale), *_skinny(scale), *_sorts(scale)]
    return list({call.name: call for call in made if call.flops <= base.MOST_FLOPS.get(call.dtype, 1e13)}.values())


def _convolutions(scale: int) -> Iterator[Call]:
    rows = [
        # batch, channels in, side, channels out, kernel, stride, groups
        (16, 4, 64, 128, 3, 1, 1),
        (16, 128, 64, 128, 3, 1, 1),
        (16, 128, 32, 256, 3, 1, 1),
        (16, 384, 64, 128, 3, 1, 1),
        (16, 128, 64, 4, 3, 1, 1),
        (16, 256, 32, 768, 1, 1, 1),
        (48, 48, 96, 96, 3, 1, 1),
        (48, 96, 48, 192, 3, 2, 1),
        (48, 192, 24, 192, 3, 1, 1),
        (64, 384, 14, 384, 3, 1, 1),
        (8, 64, 256, 64, 5, 1, 1),
        (32, 3, 256, 640, 16, 16, 1),
        (32, 192, 28, 192, 3, 1, 192),
        (128, 256, 16, 64, 1, 1, 1),
        (2, 512, 32, 512, 3, 1, 1),
        (32, 160, 20, 320, 3, 2, 1),
    ]
    for dtype in ("bfloat16", "tfloat32"):
        for index, (batch, channels, side, out, kernel, stride, split) in enumerate(rows):
            sizes = {
                "batch": max(1, batch // scale),
                "channels": channels,
                "side": max(kernel, side // scale),
                "out": out,
                "kernel": kernel,
                "stride": stride,
                "groups": split,
                "channels_last": int(dtype == "bfloat16" or index % 2),
            }
            after = (sizes["side"] + 2 * (kernel // 2) - kernel) // stride + 1
            flops = 2 * sizes["batch"] * out * after * after * channels // split * kernel * kernel
            yield Call("convolution", dtype, sizes, flops, partial(base._convolution, sizes, dtype))
            yield Call(
                "convolution_backward", dtype, sizes, 2 * flops, partial(base._convolution_backward, sizes, dtype)
            )


def _lines(scale: int) -> Iterator[Call]:
    """Yield convolutions of one dimension."""
    for dtype in ("bfloat16", "tfloat32"):
        for batch, channels, length, out, kernel, split in (
            (16, 1_024, 259, 1_024, 4, 1_024),
            (8, 80, 3_000, 384, 3, 1),
            (32, 256, 512, 256, 5, 1),
            (8, 2_048, 2_048, 2_048, 4, 2_048),
        ):
            sizes = {"batch": max(1, batch // scale), "channels": channels, "length": length, "out": out}
            sizes |= {"kernel": kernel, "groups": split}
            after = length + 2 * (kernel // 2) - kernel + 1
            flops = 2 * sizes["batch"] * out * after * channels // split * kernel
            for op, factor in (("convolution_line", 1), ("convolution_line_backward", 2)):
                yield Call(op, dtype, sizes, factor * flops, partial(_line, op, sizes, dtype))


def _line(op: str, sizes: dict[str, int], dtype: str, device: str) -> Callable[[], Any]:
    image = base._random((sizes["batch"], sizes["channels"], sizes["length"]), dtype, device)
    weight = base._random((sizes["out"], sizes["channels"] // sizes["groups"], sizes["kernel"]), dtype, device)
    rest: list[Any] = [[1], [sizes["kernel"] // 2], [1], False, [0], sizes["groups"]]

    def forward() -> Any:
        return torch.ops.aten.convolution(image, weight, None, *rest)

    if op == "convolution_line":
        return forward
    grad, asked = torch.randn_like(forward()), [True, True, False]
    return lambda: torch.ops.aten.convolution_backward(grad, image, weight, None, *rest, asked)


def _attention(scale: int) -> Iterator[Call]:
    rows = [
        # batch, heads, queries, keys, width, causal
        (4, 16, 1_024, 1_024, 128, 1),
        (2, 16, 2_048, 2_048, 64, 1),
        (16, 16, 512, 512, 64, 1),
        (32, 10, 256, 256, 64, 0),
        (16, 4, 1_024, 1_024, 64, 0),
        (8, 8, 256, 77, 40, 0),
        (2, 8, 4_096, 4_096, 40, 0),
        (64, 8, 49, 49, 32, 0),
        (16, 12, 128, 128, 64, 1),
        (32, 16, 1, 1_024, 64, 0),
        (4, 6, 1_500, 1_500, 64, 0),
        (8, 16, 197, 197, 80, 0),
    ]
    for dtype in ("bfloat16", "float32"):
        for row in rows:
            forward, backward = base._attention_calls(dtype, row, scale)
            yield forward
            # A row of one query is a step of generation, which has no backward.
            if row[2] > 1:
                yield backward


def _skinny(scale: int) -> Iterator[Call]:
    for dtype in ("float32", "tfloat32", "bfloat16"):
        for m, n, k in SKINNY:
            m, n, k = max(2, m // scale), max(2, n // scale), max(2, k // scale)
            yield base._product("mm", dtype, m, n, k, "nt")
            yield base._product("mm", dtype, n, k, m, "tn")
            yield base._product("addmm", dtype, m, n, k, "nt")
        for batch, m, n, k in ((16_384, 7, 7, 96), (64, 1_024, 1_024, 64), (8, 2_048, 2_816, 1_024), (512, 49, 49, 32)):
            sizes = {"batch": max(1, batch // scale), "m": m, "n": n, "k": k}
            flops = 2 * sizes["batch"] * m * n * k
            shapes = (sizes["batch"], m, k), (sizes["batch"], k, n)
            yield Call("bmm", dtype, sizes, flops, partial(base._batch, dtype, *shapes))


def _sorts(scale: int) -> Iterator[Call]:
    for rows, columns in ((1, 16_384), (1, 1_048_576), (8_192, 8), (4_096, 1_024), (64, 65_536)):
        rows, columns = max(1, rows // scale), max(4, columns // scale)
        sizes = {"rows": rows, "columns": columns}
        yield Call("sort", "float32", sizes, 0, partial(_sorted, "sort", "float32", sizes))
        yield Call("sort", "int64", sizes, 0, partial(_sorted, "sort", "int64", sizes))
        yield Call("topk", "float32", sizes, 0, partial(_sorted, "topk", "float32", sizes))


def _sorted(op: str, dtype: str, sizes: dict[str, int], device: str) -> Callable[[], Any]:
    shape = (sizes["rows"], sizes["columns"])
    values = torch.randint(0, 1_000, shape, device=device) if dtype == "int64" else base._random(shape, dtype, device)
    if op == "topk":
        return lambda: torch.topk(values, 2)
    return lambda: torch.sort(values, stable=True)
