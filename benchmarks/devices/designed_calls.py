"""Library calls of the second grid: products, convolutions, attention, sorts, additions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch

from benchmarks.devices import calls as base
from benchmarks.devices.calls import Call
from benchmarks.devices.cases import BF16
from benchmarks.devices.designed import MOST_ELEMENTS, aten, shapes

FLOPS = {"bfloat16": 4e11, "float16": 4e11, "tfloat32": 2e11, "float32": 5e10}


def designed_calls(scale: int = 1) -> list[Call]:
    """Return library calls; `scale` divides their sizes, for a check without the device."""
    made = [*_products(scale), *_batches(scale), *_convolutions(scale), *_attention(scale), *_sorts(scale)]
    made += _puts(scale)
    return list({call.name: call for call in made if call.flops <= FLOPS.get(call.dtype, 1e13)}.values())


def _products(scale: int) -> Iterator[Call]:
    for dtype, count in (("bfloat16", 90), ("tfloat32", 70), ("float32", 80), ("float16", 10)):
        points = shapes(count, (32, 100_000, 8), (16, 8_192, 8), (8, 8_192, 8))
        for index, (m, n, k) in enumerate(points):
            m, n, k = max(2, m // scale) + (index % 9 == 8), max(2, n // scale), max(2, k // scale)
            layout = ("nt", "nn", "nt", "tn")[index % 4]
            if m * n <= 2**29 and m * k <= 2**29:
                yield base._product("addmm" if index % 3 == 0 else "mm", dtype, m, n, k, layout)


def _batches(scale: int) -> Iterator[Call]:
    for dtype in ("bfloat16", "tfloat32", "float32"):
        for batch, m, n, k in shapes(32, (2, 4_096, 1), (8, 2_048, 8), (8, 2_048, 8), (8, 1_024, 8)):
            if batch * max(m * n, m * k, n * k) <= MOST_ELEMENTS * 4:
                batch = max(1, batch // scale)
                sizes, flops = {"batch": batch, "m": m, "n": n, "k": k}, 2 * batch * m * n * k
                yield Call("bmm", dtype, sizes, flops, partial(base._batch, dtype, (batch, m, k), (batch, k, n)))


def _convolutions(scale: int) -> Iterator[Call]:
    for dtype in ("bfloat16", "tfloat32"):
        for part, count in enumerate((44, 20, 14)):
            points = shapes(count, (2, 256, 1), (16, 768, 16), (8, 144, 1), (16, 768, 16))
            for index, (batch, channels, side, out) in enumerate(points):
                kernel, stride = ((3, 1), (1, 1), (3, 2), (3, 1), (5, 1), (1, 2), (7, 1))[index % 7]
                groups = (1, channels, (2, 4, 8, 16)[index % 4])[part]
                channels = 3 if not part and index % 11 == 10 else channels
                out = channels if part == 1 else out
                if batch * side * side * max(channels, out) <= MOST_ELEMENTS:
                    yield from _convolution(
                        scale, dtype, index, (batch, channels, side, out, max(kernel, 3 * (part == 1)), stride, groups)
                    )


def _convolution(scale: int, dtype: str, index: int, row: Sequence[int]) -> Iterator[Call]:
    batch, channels, side, out, kernel, stride, groups = row
    sizes = {"batch": max(1, batch // scale), "channels": channels, "side": max(kernel, side // scale), "out": out}
    sizes |= {"kernel": kernel, "stride": stride, "groups": groups, "channels_last": int(index % 3 > 0)}
    after = (sizes["side"] + 2 * (kernel // 2) - kernel) // stride + 1
    flops = 2 * sizes["batch"] * out * after * after * channels // groups * kernel * kernel
    yield Call("convolution", dtype, sizes, flops, partial(base._convolution, sizes, dtype))
    if index % 2:
        backward = partial(base._convolution_backward, sizes, dtype)
        yield Call("convolution_backward", dtype, sizes, 2 * flops, backward)


def _attention(scale: int) -> Iterator[Call]:
    for dtype, count in (("bfloat16", 26), ("float32", 22), ("float16", 4)):
        points = shapes(count, (1, 64, 1), (2, 32, 1), (32, 4_096, 1), (32, 128, 8))
        for index, (batch, heads, queries, width) in enumerate(points):
            keys = (queries, queries, 77)[index % 3] if index % 4 else queries
            row = (batch, heads, queries, keys, width, int(index % 2 and keys == queries))
            if batch * heads * queries * width <= MOST_ELEMENTS:
                yield from base._attention_calls(dtype, row, scale)


def _sorts(scale: int) -> Iterator[Call]:
    points = [row for row in shapes(60, (1, 65_536, 1), (16, 1_000_000, 1), (1, 64, 1)) if row[0] * row[1] <= 2**24]
    for index, (rows, columns, most) in enumerate(points):
        dtype = ("float32", "bfloat16", "float32", "int64")[index % 4]
        sizes = {"rows": max(1, rows // scale), "columns": columns}
        if index % 2:
            yield Call("sort", dtype, sizes, 0, partial(_sorted, dtype, sizes))
        else:
            sizes["k"] = min(most, columns)
            yield Call("topk", dtype, sizes, 0, partial(_sorted, dtype, sizes))


def _sorted(dtype: str, sizes: dict[str, int], device: str) -> Callable[[], Any]:
    shape, most = (sizes["rows"], sizes["columns"]), sizes.get("k")
    values = torch.randint(0, 1_000, shape, device=device) if dtype == "int64" else base._random(shape, dtype, device)
    return (lambda: torch.topk(values, most)) if most else (lambda: torch.sort(values, stable=True))


def _puts(scale: int) -> Iterator[Call]:
    """Yield additions by an index that Inductor leaves to the library: those to bfloat16."""
    for rows, width, count in shapes(10, (256, 100_000, 1), (16, 1_024, 8), (1_024, 200_000, 1)):
        sizes = {"rows": max(8, rows // scale), "width": width, "count": max(8, count // scale)}
        if max(rows, count) * width <= MOST_ELEMENTS:
            for op in ("index_put", "embedding_backward"):
                yield Call(op, "bfloat16", sizes, 0, partial(_added, op, sizes))


def _added(op: str, sizes: dict[str, int], device: str) -> Callable[[], Any]:
    rows, width, count = sizes["rows"], sizes["width"], sizes["count"]
    index = torch.randint(0, rows, (count,), device=device)
    update = base._random((count, width), "bfloat16", device)
    if op == "embedding_backward":
        return lambda: aten.embedding_dense_backward(update, index, rows, -1, False)
    table = torch.zeros(rows, width, dtype=BF16, device=device)
    return lambda: aten.index_put_(table, [index], update, True)
