"""Functions of one or a few kernels for `benchmarks.accelerator`, with sizes from each kind of model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Shape = tuple[str, Callable[..., Any], tuple[Any, ...]]
MILLION = 1 << 20


def shapes() -> Iterator[Shape]:
    """Yield a name, a torch function, and its inputs."""
    yield from _products()
    yield from _elements()
    yield from _rows()


def _products() -> Iterator[Shape]:
    import torch
    from torch.nn.functional import linear, scaled_dot_product_attention

    normal = torch.randn
    yield "product 512³", lambda a, b: a @ b, (normal(512, 512), normal(512, 512))
    yield "product 64x128x128", lambda a, b: a @ b, (normal(64, 128), normal(128, 128))
    weight, bias = normal(1024, 1024), normal(1024)
    for rows in (1, 8):
        yield f"linear {rows}x1024x1024", lambda x, w, b: linear(x, w, b), (normal(rows, 1024), weight, bias)
    yield "64 products of 64³", torch.bmm, (normal(64, 64, 64), normal(64, 64, 64))
    heads = tuple(normal(1, 8, 256, 64) for _ in range(3))
    yield "attention 1x8x256x64", lambda q, k, v: scaled_dot_product_attention(q, k, v), heads
    yield "product 256³ bfloat16", lambda a, b: a @ b, (normal(256, 256).bfloat16(), normal(256, 256).bfloat16())


def _elements() -> Iterator[Shape]:
    import torch

    normal = torch.randn
    yield "five ops, 4 M", lambda a: (a * 2 + 1).relu() * a - 0.5, (normal(4_000_000),)
    yield "add 1 M", lambda a, b: a + b, (normal(MILLION), normal(MILLION))
    yield "gelu 1 M", lambda a: torch.nn.functional.gelu(a), (normal(MILLION),)
    yield "sin 1 M", lambda a: a.sin(), (normal(MILLION),)
    yield "log 1 M", lambda a: a.log(), (normal(MILLION).abs(),)
    yield "copy of a transposed 1024²", lambda a: a.t().contiguous(), (normal(1024, 1024),)
    yield "relu of four numbers", lambda a: a.relu(), (normal(4),)


def _rows() -> Iterator[Shape]:
    import torch

    normal = torch.randn
    square = normal(1024, 1024)
    yield "softmax 1024²", lambda a: a.softmax(-1), (square,)
    yield (
        "layer norm 1024²",
        lambda a, w, b: torch.nn.functional.layer_norm(a, (1024,), w, b),
        (square, normal(1024), normal(1024)),
    )
    yield "sum of 1 M", lambda a: a.sum(), (normal(MILLION),)
    yield "sum over rows 1024²", lambda a: a.sum(-1), (square,)
