"""A third grid: shapes of usual networks, for kinds that the first two grids show badly.

Convolutions have the channels and sides of image networks, products are narrow, attention has few queries. Images have
channels last, and losses and normalisations are those of training.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks.devices import calls as base
from benchmarks.devices.calls import Call
from benchmarks.devices.cases import BF16, F32, I64, Case, RandomInput
from benchmarks.devices.designed import MOST_ELEMENTS, halton, shapes
from benchmarks.devices.designed_calls import FLOPS

LAST = (0, 3, 1, 2)  # the order of dimensions of an image with channels last
CHANNELS = (16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 512)
SIDES = (7, 8, 14, 16, 20, 28, 32, 40, 56, 64, 80, 112, 128)
BATCHES = (1, 4, 8, 16, 32, 64)
FORMS = ((3, 1), (1, 1), (3, 1), (3, 2), (1, 1), (5, 1), (4, 2), (7, 2))  # kernel and stride


def usual_calls(scale: int = 1) -> list[Call]:
    """Return library calls; `scale` divides their sizes, for a check without the device."""
    made = [*_narrow(scale), *_images(scale), *_patches(scale), *_queries(scale)]
    return list({call.name: call for call in made if call.flops <= FLOPS.get(call.dtype, 1e13)}.values())


def _narrow(scale: int) -> Iterator[Call]:
    """Yield gradients of weights, small layers with a bias, and vectors."""
    for dtype, count in (("float32", 30), ("tfloat32", 12), ("bfloat16", 24)):
        for m, n, k in shapes(count, (8, 1_024, 8), (8, 1_024, 8), (2_048, 500_000, 8)):
            yield base._product("mm", dtype, max(2, m // scale), max(2, n // scale), max(2, k // scale), "tn")
        for m, n, k in shapes(count, (4, 16_384, 1), (16, 4_096, 16), (16, 4_096, 16)):
            yield base._product("addmm", dtype, max(2, m // scale), max(2, n // scale), max(2, k // scale), "nt")
        for m, n, k in shapes(count // 2, (1, 256, 1), (32, 2_048, 32), (32, 4_096, 32)):
            yield base._product("mm", dtype, m, max(2, n // scale), max(2, k // scale), "nt")


def _chosen(index: int, root: int, values: tuple[int, ...]) -> int:
    return values[int(halton(index, root) * len(values))]


def _images(scale: int) -> Iterator[Call]:
    for index in range(1, 65):
        channels, out = _chosen(index, 2, CHANNELS), _chosen(index, 5, CHANNELS)
        side, batch = _chosen(index, 3, SIDES), max(1, _chosen(index, 7, BATCHES) // scale)
        kernel, stride = FORMS[index % len(FORMS)]
        if batch * side * side * max(channels, out) <= MOST_ELEMENTS // 2:
            yield from _both(("bfloat16", "tfloat32")[index % 2], batch, channels, side, out, kernel, stride, index % 4)


def _both(
    dtype: str, batch: int, channels: int, side: int, out: int, kernel: int, stride: int, turn: int
) -> Iterator[Call]:
    side = max(side, kernel)
    sizes = {"batch": batch, "channels": channels, "side": side, "out": out, "kernel": kernel, "stride": stride}
    sizes |= {"groups": 1, "channels_last": int(turn > 0)}
    after = (side + 2 * (kernel // 2) - kernel) // stride + 1
    flops = 2 * batch * out * after * after * channels * kernel * kernel
    yield Call("convolution", dtype, sizes, flops, partial(base._convolution, sizes, dtype))
    yield Call("convolution_backward", dtype, sizes, 2 * flops, partial(base._convolution_backward, sizes, dtype))


def _patches(scale: int) -> Iterator[Call]:
    """Yield first layers of images: few channels."""
    rows = ((64, 3, 224, 384, 16), (32, 1, 64, 32, 3), (64, 3, 32, 64, 3), (16, 3, 256, 32, 3), (128, 3, 64, 192, 8))
    for (batch, channels, side, out, kernel), dtype in itertools.product(rows, ("bfloat16", "tfloat32")):
        stride = kernel if kernel > 3 else 1
        yield from _both(dtype, max(1, batch // scale), channels, max(16, side // scale), out, kernel, stride, 1)


def _queries(scale: int) -> Iterator[Call]:
    for dtype in ("bfloat16", "float32"):
        for index, (batch, heads, queries, width) in enumerate(
            shapes(18, (4, 4_096, 1), (1, 16, 1), (2, 64, 1), (16, 128, 16))
        ):
            if batch * heads * queries * width <= MOST_ELEMENTS // 2:
                calls = base._attention_calls(dtype, (batch, heads, queries, queries, width, 0), scale)
                yield from calls[: 1 + index % 2]
        for batch, heads, keys, width in shapes(14, (1, 128, 1), (4, 32, 4), (64, 8_192, 64), (64, 128, 64)):
            if batch * heads * keys * width <= MOST_ELEMENTS * 4:
                yield base._attention_calls(dtype, (batch, heads, 1, keys, width, 0), scale)[0]


def usual_cases(scale: int = 1) -> Iterator[Case]:
    """Yield functions for Inductor; `scale` divides their rows, for a check without the device."""
    for part in (_channels, _losses, _tokens, _sums):
        yield from part(scale)


def _channels(scale: int) -> Iterator[Case]:
    made: list[Callable[..., Any]] = [
        lambda a, w, v: F.silu(F.batch_norm(a, w, v)).mean((2, 3)),
        lambda a, w, v: F.adaptive_avg_pool2d(F.relu(a * 2), 1),
        lambda a, w, v: F.relu(F.group_norm(a, 8, w, v)),
        lambda a, w, v: F.relu(F.batch_norm(a, None, None, w, v, True)),
        lambda a, w, v: a.mean((2, 3), keepdim=True).sigmoid() * a,
        lambda a, w, v: F.layer_norm(a.permute(0, 2, 3, 1), (a.shape[1],), w, v).permute(0, 3, 1, 2),
        lambda a, w, v: F.interpolate(F.relu(a), scale_factor=2.0) * w[:, None, None],
        lambda a, w, v: F.max_pool2d(F.relu(a + w[:, None, None]), 2),
    ]
    for index in range(1, 49):
        channels, side = _chosen(index, 3, CHANNELS), _chosen(index, 5, SIDES)
        batch, dtype = max(1, _chosen(index, 7, BATCHES) // scale), (F32, BF16)[index // 2 % 2]
        if batch * channels * side * side <= MOST_ELEMENTS // 2:
            image = RandomInput((batch, side, side, channels), dtype, order=LAST)
            line = RandomInput((channels,), F32 if index % len(made) == 0 else dtype)
            yield Case("channels", f"{index} {image.shape} {dtype}", made[index % len(made)], (image, line, line))


def _losses(scale: int) -> Iterator[Case]:
    for index, (rows, words) in enumerate(shapes(14, (64, 16_384, 1), (100, 50_000, 1))):
        if rows * words <= MOST_ELEMENTS * 2:
            dtype, rows = (F32, BF16)[index % 2], max(4, rows // scale)
            scores, target = RandomInput((rows, words), dtype), RandomInput((rows,), I64, below=words)
            name = f"{dtype} {scores.shape}"
            yield Case("losses", f"forward {name}", lambda a, i: F.cross_entropy(a.float(), i), (scores, target))
            yield Case("losses", f"backward {name}", _loss_backward, (scores, target, RandomInput((rows, 1))))


def _loss_backward(a: Any, i: Any, total: Any) -> Any:
    chosen = torch.arange(a.shape[1], device=a.device) == i[:, None]
    return ((a.float() - total).exp() - torch.where(chosen, 1.0, 0.0)).to(a.dtype) / a.shape[0]


def _tokens(scale: int) -> Iterator[Case]:
    made: list[Callable[..., Any]] = [
        lambda a, b, w: F.rms_norm(a + b, a.shape[-1:], w),
        lambda a, b, w: F.layer_norm(a + F.dropout(b, 0.1), a.shape[-1:], w, w),
        lambda a, b, w: F.rms_norm(a.view(*a.shape[:-1], -1, 16).transpose(1, 2), (16,)),
        lambda a, b, w: torch.softmax(a.float() * 0.125 + b, -1).to(a.dtype),
        lambda a, b, w: (a * w).transpose(1, 2).contiguous() + 1,
        lambda a, b, w: torch.cat((a[..., ::2] * w[::2], b[..., 1::2]), -1),
        lambda a, b, w: F.layer_norm(a, a.shape[-1:], w, w).mean(1),
        lambda a, b, w: F.gelu(a + w) * torch.sigmoid(b),
    ]
    points = shapes(56, (1, 64, 1), (16, 2_048, 1), (32, 2_048, 32))
    for index, (batch, length, width) in enumerate(points):
        if 2**14 <= batch * length * width <= MOST_ELEMENTS // 2:
            dtype = (F32, BF16)[index // 8 % 2]
            whole, line = RandomInput((max(1, batch // scale), length, width), dtype), RandomInput((width,), dtype)
            yield Case("tokens", f"{index} {whole.shape} {dtype}", made[index % len(made)], (whole, whole, line))


def _sums(scale: int) -> Iterator[Case]:
    made: list[Callable[..., Any]] = [
        lambda a, g: (torch.where(a > 0, g, 0.0), torch.where(a > 0, g, 0.0).float().sum(0)),
        lambda a, g: (a.float() * g).sum(0),
        lambda a, g: (g * torch.sigmoid(a)).float().sum(0),
        lambda a, g: (a.float() - g).pow(2).mean(),
        lambda a, g: ((a * g).float().sum(-1), g.float().sum(0)),
    ]
    for index, (rows, columns) in enumerate(shapes(40, (128, 200_000, 1), (16, 4_096, 16))):
        if 2**14 <= rows * columns <= MOST_ELEMENTS:
            whole = RandomInput((max(4, rows // scale), columns), (F32, BF16)[index % 2])
            yield Case("sums", f"{index} {whole.shape}", made[index % len(made)], (whole, whole))
