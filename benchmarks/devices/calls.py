"""Library calls to time: matrix products, convolutions and attention over shapes, and copies.

A call has the features of a call in Inductor's output code: the op, the shapes and strides of its inputs, and FLOPs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
MOST_FLOPS = {"bfloat16": 1.2e12, "float16": 1.2e12, "tfloat32": 5e11, "float32": 8e10}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a library: `make` returns the function to time, on the device.

    `dtype` is `tfloat32` for float32 that is multiplied as TF32.
    """

    op: str
    dtype: str
    sizes: dict[str, int]
    flops: int
    make: Callable[[str], Callable[[], Any]]

    @property
    def name(self) -> str:
        """The call's name in the file."""
        return f"{self.op} {self.dtype} " + " ".join(f"{key}={value}" for key, value in self.sizes.items())


def calls(scale: int = 1) -> list[Call]:
    """Return all calls; `scale` divides the sizes, for a check without the device."""
    made = [*_products(scale), *_batched(scale), *_convolutions(scale), *_attention(scale), *_copies(scale)]
    return list({call.name: call for call in made if call.flops <= MOST_FLOPS.get(call.dtype, 1e13)}.values())


def _torch_dtype(name: str) -> Any:
    return F32 if name == "tfloat32" else getattr(torch, name)


def _random(shape: tuple[int, ...], dtype: str, device: str) -> Any:
    return torch.randn(shape, device=device, dtype=F32 if device == "cpu" else _torch_dtype(dtype)).to(
        _torch_dtype(dtype)
    )


def _product(op: str, dtype: str, m: int, n: int, k: int, layout: str) -> Call:
    """Return a product; `layout` has the letters of both factors, `t` for a transposed view."""

    def make(device: str) -> Callable[[], Any]:
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tfloat32"
        left = _random((k, m), dtype, device).t() if layout[0] == "t" else _random((m, k), dtype, device)
        right = _random((n, k), dtype, device).t() if layout[1] == "t" else _random((k, n), dtype, device)
        bias = _random((n,), dtype, device)

        def run() -> Any:
            torch.backends.cuda.matmul.allow_tf32 = dtype == "tfloat32"
            return torch.addmm(bias, left, right) if op == "addmm" else torch.mm(left, right)

        return run

    sizes = {"m": m, "n": n, "k": k, "left_t": int(layout[0] == "t"), "right_t": int(layout[1] == "t")}
    return Call(op, dtype, sizes, 2 * m * n * k, make)


def _products(scale: int) -> Iterator[Call]:
    weights = [
        (768, 768),
        (3_072, 768),
        (768, 3_072),
        (2_304, 768),
        (4_096, 4_096),
        (14_336, 4_096),
        (4_096, 14_336),
        (1_024, 256),
        (256, 256),
        (512, 2_048),
        (64, 64),
        (10, 1_024),
        (50_257, 768),
        (128, 384),
    ]
    rows = {
        "bfloat16": (1, 16, 128, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 65_536),
        "float16": (64, 4_096),
        "tfloat32": (32, 512, 4_096, 32_768),
        "float32": (1, 64, 512, 4_096, 65_536),
    }
    for dtype, lengths in rows.items():
        for index, (n, k) in enumerate(weights):
            for turn, m in enumerate(lengths):
                if (index + turn) % 2 and dtype != "float16":
                    continue
                op = "addmm" if (index + turn) % 4 == 0 else "mm"
                yield _product(op, dtype, max(1, m // scale), max(2, n // scale), max(2, k // scale), "nt")
    for dtype in ("bfloat16", "tfloat32", "float32"):
        for m, n, k in ((4_096, 768, 3_072), (16_384, 1_024, 1_024), (512, 4_096, 4_096), (65_536, 256, 256)):
            m, n, k = max(2, m // scale), max(2, n // scale), max(2, k // scale)
            yield _product("mm", dtype, m, n, k, "nn")
            yield _product("mm", dtype, n, k, m, "tn")
    for m, n, k in (
        (8_192, 8_192, 8_192),
        (1_000, 1_000, 1_000),
        (4_097, 1_023, 769),
        (300, 300, 300),
        (2_048, 2_048, 64),
        (8_192, 8_192, 128),
        (64, 64, 65_536),
        (256, 256, 131_072),
    ):
        for dtype in ("bfloat16", "tfloat32", "float32"):
            yield _product("mm", dtype, max(2, m // scale), max(2, n // scale), max(2, k // scale), "nn")


def _batched(scale: int) -> Iterator[Call]:
    shapes = [
        (96, 512, 512, 64),
        (96, 512, 64, 512),
        (768, 128, 128, 64),
        (768, 128, 64, 128),
        (32, 2_048, 2_048, 128),
        (8, 1_024, 1_024, 1_024),
        (4_096, 27, 27, 64),
        (64, 1, 512, 64),
        (16, 256, 4_096, 256),
        (2_048, 64, 64, 64),
    ]
    for dtype in ("bfloat16", "tfloat32", "float32"):
        for batch, m, n, k in shapes[:: 1 if dtype != "float32" else 2]:
            batch = max(1, batch // scale)

            yield Call(
                "bmm",
                dtype,
                {"batch": batch, "m": m, "n": n, "k": k},
                2 * batch * m * n * k,
                partial(_batch, dtype, (batch, m, k), (batch, k, n)),
            )


def _batch(dtype: str, left: tuple[int, ...], right: tuple[int, ...], device: str) -> Callable[[], Any]:
    left_factor, right_factor = _random(left, dtype, device), _random(right, dtype, device)

    def run() -> Any:
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tfloat32"
        return torch.bmm(left_factor, right_factor)

    return run


def _convolutions(scale: int) -> Iterator[Call]:
    rows = [
        # batch, channels in, side, channels out, kernel, stride, groups
        (32, 3, 224, 64, 7, 2, 1),
        (32, 64, 56, 64, 3, 1, 1),
        (256, 64, 56, 64, 3, 1, 1),
        (32, 64, 56, 256, 1, 1, 1),
        (32, 128, 28, 128, 3, 1, 1),
        (32, 256, 14, 256, 3, 1, 1),
        (32, 512, 7, 512, 3, 1, 1),
        (256, 512, 7, 2_048, 1, 1, 1),
        (8, 32, 128, 32, 3, 1, 1),
        (1, 64, 56, 64, 3, 1, 1),
        (64, 96, 56, 96, 7, 1, 96),
        (64, 3, 224, 768, 16, 16, 1),
        (4, 256, 64, 512, 3, 2, 1),
        (128, 16, 32, 16, 3, 1, 1),
        (512, 32, 32, 64, 3, 2, 1),
    ]
    for dtype in ("bfloat16", "tfloat32"):
        for last in (0, 1):
            for batch, channels, side, out, kernel, stride, split in rows:
                sizes = {
                    "batch": max(1, batch // scale),
                    "channels": channels,
                    "side": max(kernel, side // scale),
                    "out": out,
                    "kernel": kernel,
                    "stride": stride,
                    "groups": split,
                    "channels_last": last,
                }
                after = (sizes["side"] + 2 * (kernel // 2) - kernel) // stride + 1
                flops = 2 * sizes["batch"] * out * after * after * channels // split * kernel * kernel
                yield Call("convolution", dtype, sizes, flops, partial(_convolution, sizes, dtype))
                if batch >= 32 and last == (dtype == "bfloat16"):
                    yield Call(
                        "convolution_backward", dtype, sizes, 2 * flops, partial(_convolution_backward, sizes, dtype)
                    )


def _convolution_inputs(sizes: dict[str, int], dtype: str, device: str) -> tuple[Any, Any, list[Any]]:
    image = _random((sizes["batch"], sizes["channels"], sizes["side"], sizes["side"]), dtype, device)
    shape = (sizes["out"], sizes["channels"] // sizes["groups"], sizes["kernel"], sizes["kernel"])
    weight = _random(shape, dtype, device)
    if sizes["channels_last"]:
        image = image.contiguous(memory_format=torch.channels_last)
        weight = weight.contiguous(memory_format=torch.channels_last)
    pad = sizes["kernel"] // 2
    rest: list[Any] = [[sizes["stride"]] * 2, [pad] * 2, [1, 1], False, [0, 0], sizes["groups"]]
    return image, weight, rest


def _convolution(sizes: dict[str, int], dtype: str, device: str) -> Callable[[], Any]:
    image, weight, rest = _convolution_inputs(sizes, dtype, device)
    return lambda: torch.ops.aten.convolution(image, weight, None, *rest)


def _convolution_backward(sizes: dict[str, int], dtype: str, device: str) -> Callable[[], Any]:
    image, weight, rest = _convolution_inputs(sizes, dtype, device)
    grad = torch.randn_like(torch.ops.aten.convolution(image, weight, None, *rest))
    asked = [True, True, False]
    return lambda: torch.ops.aten.convolution_backward(grad, image, weight, None, *rest, asked)


def _attention(scale: int) -> Iterator[Call]:
    rows = [
        (8, 12, 512, 512, 64),
        (32, 12, 128, 128, 64),
        (64, 12, 197, 197, 64),
        (4, 32, 2_048, 2_048, 128),
        (1, 32, 8_192, 8_192, 128),
        (16, 16, 1_024, 1_024, 64),
        (8, 32, 1, 2_048, 128),
        (1, 8, 64, 64, 32),
        (256, 4, 64, 64, 32),
        (2, 16, 4_096, 4_096, 64),
    ]
    for dtype in ("bfloat16", "float32", "float16"):
        for index, (batch, heads, queries, keys, width) in enumerate(rows):
            for causal in (0, 1):
                if (causal and index % 2) or (dtype == "float16" and index % 3) or (causal and queries != keys):
                    continue
                yield from _attention_calls(dtype, (batch, heads, queries, keys, width, causal), scale)


def _attention_calls(dtype: str, row: tuple[int, ...], scale: int) -> tuple[Call, Call]:
    """Return an attention and its backward; a row is batch, heads, queries, keys, width, and 1 if causal."""
    batch, heads, queries, keys, width, causal = row
    sizes = {
        "batch": max(1, batch // scale),
        "heads": heads,
        "queries": max(1, queries // scale),
        "keys": max(1, keys // scale),
        "width": width,
        "causal": causal,
    }
    flops = 4 * sizes["batch"] * heads * sizes["queries"] * sizes["keys"] * width
    forward, backward = (
        Call(op, dtype, sizes, int(flops * factor), partial(_attended, op, sizes, dtype))
        for op, factor in (("attention", 1.0), ("attention_backward", 2.5))
    )
    return forward, backward


def _attended(op: str, sizes: dict[str, int], dtype: str, device: str) -> Callable[[], Any]:
    shape = (sizes["batch"], sizes["heads"], sizes["queries"], sizes["width"])
    other = (sizes["batch"], sizes["heads"], sizes["keys"], sizes["width"])
    parts = [_random(part, dtype, device).requires_grad_(op != "attention") for part in (shape, other, other)]

    def forward() -> Any:
        torch.backends.cuda.matmul.allow_tf32 = False
        return F.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=bool(sizes["causal"]))

    if op == "attention":
        return forward
    result = forward()
    grad = torch.randn_like(result)
    return lambda: torch.autograd.grad(result, parts, grad, retain_graph=True)


def _copies(scale: int) -> Iterator[Call]:
    for way in ("device_to_device", "pinned_to_device", "pageable_to_device", "device_to_pinned"):
        for power in (12, 16, 20, 24, 27):
            size = max(16, 2**power // scale)
            yield Call(way, "uint8", {"bytes": size}, 0, partial(_copied, way, size))


def _copied(way: str, size: int, device: str) -> Callable[[], Any]:
    pinned = device != "cpu" and "pinned" in way
    here = torch.zeros(size, dtype=torch.uint8, pin_memory=pinned)
    left, right = (
        torch.zeros(size, dtype=torch.uint8, device=device),
        torch.zeros(size, dtype=torch.uint8, device=device),
    )
    if way == "device_to_device":
        return lambda: left.copy_(right)
    if way == "device_to_pinned":
        return lambda: here.copy_(left, non_blocking=True)
    return lambda: left.copy_(here, non_blocking=True)
