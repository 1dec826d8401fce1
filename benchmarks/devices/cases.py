"""Functions that Inductor compiles to the measured kernels: a grid of sizes, dtypes and accesses.

A group is compiled as one graph, so that one compilation makes many kernels. Its functions share no tensors, so
Inductor does not fuse them with each other. Values are random, since kernels can be faster on zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

F32, BF16, F16, I64 = torch.float32, torch.bfloat16, torch.float16, torch.int64
GROUP = 12  # functions of one graph
GROUP_BYTES = 12 * 2**30  # inputs and results of one graph
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RandomInput:
    """A random input: shape, dtype, and for indices the number of rows that they choose from.

    `order` permutes the dimensions of a contiguous tensor, so that the input has its strides.
    """

    shape: Shape
    dtype: torch.dtype = F32
    below: int = 0
    order: tuple[int, ...] = ()

    def tensor(self, device: str) -> Any:
        """Return the input on a device."""
        if self.below:
            return torch.randint(0, self.below, self.shape, device=device)
        if self.dtype == I64:
            return torch.randint(0, 1000, self.shape, device=device)
        made = torch.randn(self.shape, device=device, dtype=torch.float32 if device == "cpu" else self.dtype)
        made = made.to(self.dtype)
        return made.permute(self.order) if self.order else made

    @property
    def nbytes(self) -> int:
        """Bytes of the input."""
        count = 1
        for size in self.shape:
            count *= size
        return count * (8 if self.below else self.dtype.itemsize)


@dataclass(frozen=True, slots=True)
class Case:
    """A function with its inputs; `kind` is the part of the grid."""

    kind: str
    name: str
    function: Callable[..., Any]
    inputs: tuple[RandomInput, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the inputs."""
        return sum(made.nbytes for made in self.inputs)


def groups(scale: int = 1, cases: Iterable[Case] | None = None) -> list[list[Case]]:
    """Return functions in groups; `scale` divides every size, for a check without the device."""
    made: list[list[Case]] = [[]]
    for case in sorted(_cases(scale) if cases is None else cases, key=lambda case: case.kind):
        group = made[-1]
        full = len(group) >= GROUP or sum(other.nbytes for other in group) + case.nbytes > GROUP_BYTES
        if group and (full or group[0].kind != case.kind):
            made.append([])
        made[-1].append(case)
    return made


def _cases(scale: int) -> Iterator[Case]:
    for part in (_pointwise, _strided, _gathers, _scatters, _reductions, _normalisations, _fusions, _layouts):
        yield from part(scale)


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _sizes(powers: Sequence[int], scale: int) -> list[int]:
    """Return sizes in elements, divided by the scale."""
    return [max(16, (2**power) // scale) for power in powers]


def _pointwise(scale: int) -> Iterator[Case]:
    rows: list[tuple[str, int, Callable[..., Any], torch.dtype, Sequence[int]]] = [
        ("add", 2, lambda a, b: a + b, F32, (10, 14, 16, 18, 20, 21, 22, 23, 24, 25, 27)),
        ("add", 2, lambda a, b: a + b, BF16, (12, 16, 19, 21, 22, 23, 25, 27)),
        ("add", 2, lambda a, b: a + b, F16, (18, 22, 25)),
        ("add", 2, lambda a, b: a + b, I64, (14, 18, 21, 24)),
        ("scale", 1, lambda a: a * 1.5, F32, (12, 17, 19, 21, 23, 26)),
        ("relu", 1, torch.relu, BF16, (15, 18, 20, 22, 24, 26, 28)),
        ("gelu", 1, F.gelu, F32, (16, 20, 22, 24, 26)),
        ("gelu", 1, F.gelu, BF16, (17, 20, 22, 24, 26)),
        ("tanh_chain", 1, lambda a: torch.sin(torch.exp(torch.tanh(a))) + torch.erf(a), F32, (16, 20, 23, 26)),
        ("pow_log", 1, lambda a: torch.log1p(a.abs()).pow(1.7) / (1 + torch.sqrt(a.abs())), F32, (16, 20, 23, 25)),
        ("silu_mul", 2, lambda a, b: F.silu(a) * b, BF16, (16, 19, 21, 23, 25)),
        ("four", 4, lambda a, b, c, d: a * b + c * d, F32, (15, 19, 22, 25)),
        ("four", 4, lambda a, b, c, d: a * b + c * d, BF16, (20, 23, 26)),
        ("two_results", 1, lambda a: (a + 1, a * 2), F32, (16, 20, 23, 25)),
        ("adam", 4, _adam, F32, (12, 16, 18, 20, 22, 24, 26)),
        ("to_bf16", 1, lambda a: a.to(BF16), F32, (16, 20, 22, 24, 26)),
        ("to_f32", 1, lambda a: a.to(F32), BF16, (20, 23, 26)),
        ("full", 1, lambda a: torch.zeros(a.shape[0] * 64, device=a.device), F32, (8, 12, 14, 16, 18, 20)),
        ("rand", 1, lambda a: torch.rand_like(a), F32, (14, 18, 21, 24)),
        ("dropout", 1, lambda a: F.dropout(a, 0.1), F32, (14, 18, 21, 24)),
        ("dropout", 1, lambda a: F.dropout(a, 0.1), BF16, (22, 25)),
    ]
    for name, count, function, dtype, powers in rows:
        for size in _sizes(powers, scale):
            yield Case("pointwise", f"{name} {_short(dtype)} {size}", function, (RandomInput((size,), dtype),) * count)


def _adam(p: Any, g: Any, m: Any, v: Any) -> tuple[Any, Any, Any]:
    m = m * 0.9 + g * 0.1
    v = v * 0.999 + g * g * 0.001
    return p - 1e-3 * m / (torch.sqrt(v.abs()) + 1e-8), m, v


def _strided(scale: int) -> Iterator[Case]:
    root = max(1, int(scale**0.5))
    for dtype in (F32, BF16):
        for rows, columns in ((256, 256), (1024, 1024), (2048, 512), (4096, 4096), (8192, 8192), (512, 16384)):
            shape = (max(8, rows // root), max(8, columns // root))
            label = f"{_short(dtype)} {shape[0]}x{shape[1]}"
            yield Case(
                "transposed",
                f"add_t {label}",
                lambda a, b: a.t() + b,
                (RandomInput(shape, dtype), RandomInput(shape[::-1], dtype)),
            )
    for batch, heads, length, width, dtype in (
        (8, 12, 512, 64, F32),
        (64, 12, 256, 64, BF16),
        (4, 32, 2048, 128, BF16),
        (32, 16, 128, 64, F32),
    ):
        heads_last = (max(1, batch // root), length, heads, width)
        yield Case(
            "transposed",
            f"heads {_short(dtype)} {heads_last}",
            lambda a: (a.permute(0, 2, 1, 3) * 0.125).contiguous(),
            (RandomInput(heads_last, dtype),),
        )
        yield Case(
            "transposed",
            f"keys {_short(dtype)} {heads_last}",
            lambda a: (a.permute(0, 2, 3, 1) * 0.125).contiguous(),
            (RandomInput(heads_last, dtype),),
        )
    for batch, channels, side, dtype in (
        (32, 64, 56, F32),
        (64, 256, 28, BF16),
        (128, 3, 224, F32),
        (256, 512, 7, F32),
    ):
        image = (max(1, batch // root), channels, side, side)
        yield Case(
            "transposed",
            f"to_channels_last {_short(dtype)} {image}",
            lambda a: (a + 1).contiguous(memory_format=torch.channels_last),
            (RandomInput(image, dtype),),
        )
    for size in _sizes((16, 20, 24, 26), scale):
        yield Case("strided", f"every_second {size}", lambda a: a[::2] * 2, (RandomInput((2 * size,)),))
        yield Case("strided", f"column_half {size}", lambda a: a[:, :32] * 2, (RandomInput((size // 32, 64)),))
        yield Case("strided", f"flip {size}", lambda a: a.flip(0) + 1, (RandomInput((size,)),))
    for size in _sizes((16, 21, 24, 26), scale):
        yield Case(
            "broadcast",
            f"bias f32 {size}",
            lambda a, b: F.relu(a + b),
            (RandomInput((size // 16, 1024 // 64)), RandomInput((16,))),
        )
        yield Case(
            "broadcast",
            f"bias bf16 {size}",
            lambda a, b: F.gelu(a + b),
            (RandomInput((size // 1024 + 1, 1024), BF16), RandomInput((1024,), BF16)),
        )
        yield Case(
            "broadcast",
            f"column f32 {size}",
            lambda a, b: a * b,
            (RandomInput((size // 512 + 1, 512)), RandomInput((size // 512 + 1, 1))),
        )


def _gathers(scale: int) -> Iterator[Case]:
    tables = [
        (1_000, 256, 65_536, F32),
        (32_000, 768, 8_192, F32),
        (32_000, 768, 512, F32),
        (50_257, 1_024, 4_096, BF16),
        (1_000_000, 64, 4_096, F32),
        (1_000_000, 64, 65_536, F32),
        (1_000_000, 64, 1_048_576, F32),
        (1_000_000, 16, 262_144, F32),
        (128_256, 4_096, 2_048, BF16),
        (128_256, 4_096, 16_384, BF16),
        (4_000_000, 128, 262_144, BF16),
        (8_192, 8, 1_048_576, F32),
    ]
    for rows, width, count, dtype in tables:
        rows, count = max(8, rows // scale), max(8, count // scale)
        yield Case(
            "gather",
            f"embedding {_short(dtype)} {rows}x{width} {count}",
            lambda table, index: F.embedding(index, table) * 2,
            (RandomInput((rows, width), dtype), RandomInput((count,), I64, below=rows)),
        )
    for table, count in ((20, 14), (20, 18), (20, 22), (20, 24), (27, 14), (27, 18), (27, 22), (27, 24), (12, 22)):
        rows, size = _sizes((table, count), scale)
        yield Case(
            "gather",
            f"index f32 {rows} {size}",
            lambda a, index: a[index] + 1,
            (RandomInput((rows,)), RandomInput((size,), I64, below=rows)),
        )
    for rows, width, taken, dtype in (
        (4096, 4096, 512, F32),
        (65536, 256, 64, F32),
        (1024, 32000, 1, BF16),
        (16384, 1024, 1024, BF16),
    ):
        rows = max(8, rows // scale)
        yield Case(
            "gather",
            f"along_row {_short(dtype)} {rows}x{width} {taken}",
            lambda a, index: torch.gather(a, 1, index) * 2,
            (RandomInput((rows, width), dtype), RandomInput((rows, taken), I64, below=width)),
        )


def _scatters(scale: int) -> Iterator[Case]:
    for rows, width, count, dtype in (
        (1_000, 256, 65_536, F32),
        (32_000, 768, 8_192, F32),
        (50_257, 1_024, 4_096, F32),
        (1_000_000, 64, 65_536, F32),
        (1_000_000, 16, 262_144, F32),
        (32_000, 768, 512, F32),
        (32_000, 768, 8_192, BF16),
        (128, 64, 1_048_576, F32),
    ):
        rows, count = max(8, rows // scale), max(8, count // scale)
        yield Case(
            "scatter",
            f"embedding_backward {_short(dtype)} {rows}x{width} {count}",
            lambda g, index, rows=rows: torch.ops.aten.embedding_dense_backward(g, index, rows, -1, False),
            (RandomInput((count, width), dtype), RandomInput((count,), I64, below=rows)),
        )
    for table, count in ((10, 16), (10, 20), (10, 23), (20, 16), (20, 20), (20, 23), (25, 20), (25, 24), (4, 20)):
        rows, size = _sizes((table, count), scale)
        yield Case(
            "scatter",
            f"scatter_add f32 {rows} {size}",
            lambda a, index, g: torch.scatter_add(a, 0, index, g),
            (RandomInput((rows,)), RandomInput((size,), I64, below=rows), RandomInput((size,))),
        )


def _reductions(scale: int) -> Iterator[Case]:
    inner = [
        (128, 128),
        (2_048, 64),
        (1_048_576, 8),
        (1_048_576, 32),
        (65_536, 128),
        (8_192, 1_024),
        (65_536, 1_024),
        (1_024, 8_192),
        (4_096, 4_096),
        (32_768, 4_096),
        (131_072, 512),
        (512, 65_536),
        (64, 65_536),
        (16, 1_048_576),
        (2, 8_388_608),
    ]
    for dtype in (F32, BF16):
        for rows, columns in inner[:: 1 if dtype == F32 else 2]:
            rows = max(2, rows // scale)
            name = f"{_short(dtype)} {rows}x{columns}"
            yield Case("reduction", f"sum_inner {name}", lambda a: a.sum(1), (RandomInput((rows, columns), dtype),))
    for rows, columns in inner[3:12:3]:
        rows = max(2, rows // scale)
        name = f"f32 {rows}x{columns}"
        yield Case("reduction", f"argmax {name}", lambda a: a.argmax(1), (RandomInput((rows, columns)),))
        yield Case("reduction", f"var {name}", lambda a: torch.var_mean(a, 1), (RandomInput((rows, columns)),))
    outer = [
        (1_024, 1_024),
        (8_192, 1_024),
        (65_536, 256),
        (65_536, 1_024),
        (1_048_576, 64),
        (262_144, 16),
        (4_096, 8_192),
        (512, 65_536),
        (128, 3_072),
        (16_384, 768),
    ]
    for dtype in (F32, BF16):
        for rows, columns in outer[:: 1 if dtype == F32 else 2]:
            rows = max(8, rows // scale)
            name = f"{_short(dtype)} {rows}x{columns}"
            yield Case(
                "reduction_outer", f"sum_outer {name}", lambda a: a.sum(0), (RandomInput((rows, columns), dtype),)
            )
    for size in _sizes((14, 18, 20, 23, 26, 28), scale):
        yield Case("reduction", f"sum_all f32 {size}", lambda a: (a * a).sum(), (RandomInput((size,)),))
    for rows, columns in ((1_024, 1_024), (16_384, 2_048), (64, 65_536)):
        rows = max(2, rows // scale)
        yield Case("scan", f"cumsum f32 {rows}x{columns}", lambda a: a.cumsum(1), (RandomInput((rows, columns)),))


def _normalisations(scale: int) -> Iterator[Case]:
    shapes = [
        (64, 256),
        (512, 768),
        (8_192, 256),
        (8_192, 1_024),
        (65_536, 768),
        (4_096, 4_096),
        (32_768, 4_096),
        (1_024, 8_192),
        (262_144, 256),
        (2_048, 16_384),
        (1_048_576, 64),
    ]
    for dtype in (F32, BF16):
        for rows, columns in shapes[:: 1 if dtype == BF16 else 2]:
            rows = max(2, rows // scale)
            name, whole, line = (
                f"{_short(dtype)} {rows}x{columns}",
                RandomInput((rows, columns), dtype),
                RandomInput((columns,), dtype),
            )
            yield Case("softmax", f"softmax {name}", lambda a: torch.softmax(a, -1), (whole,))
            yield Case(
                "norm", f"layer_norm {name}", lambda a, w, b: F.layer_norm(a, a.shape[-1:], w, b), (whole, line, line)
            )
            yield Case(
                "norm",
                f"add_rms_norm {name}",
                lambda a, r, w: (
                    (a + r) * torch.rsqrt((a + r).float().pow(2).mean(-1, keepdim=True) + 1e-6).to(a.dtype) * w
                ),
                (whole, whole, line),
            )
    for rows, columns in ((512, 32_000), (4_096, 32_000), (4_096, 50_257), (8_192, 128_256), (65_536, 1_000)):
        rows = max(2, rows // scale)
        yield Case(
            "softmax",
            f"cross_entropy bf16 {rows}x{columns}",
            lambda a, target: F.cross_entropy(a.float(), target),
            (RandomInput((rows, columns), BF16), RandomInput((rows,), I64, below=columns)),
        )
    for rows, columns in ((8_192, 256), (65_536, 768), (16_384, 4_096), (2_048, 1_024)):
        rows = max(2, rows // scale)
        whole, line, row = RandomInput((rows, columns)), RandomInput((columns,)), RandomInput((rows, 1))
        yield Case(
            "norm_backward",
            f"layer_norm_backward f32 {rows}x{columns}",
            _layer_norm_backward,
            (whole, whole, row, row, line, line),
        )
        yield Case(
            "norm_backward",
            f"softmax_backward f32 {rows}x{columns}",
            lambda g, out: torch.ops.aten._softmax_backward_data(g, out, -1, out.dtype),
            (whole, whole),
        )
    for batch, channels, side in ((64, 64, 56), (256, 64, 56), (128, 256, 28), (512, 512, 7), (8, 32, 256)):
        shape = (max(2, batch // scale), channels, side, side)
        yield Case(
            "norm",
            f"batch_norm f32 {shape}",
            lambda a, w, b: F.relu(F.batch_norm(a, None, None, w, b, True)),
            (RandomInput(shape), RandomInput((channels,)), RandomInput((channels,))),
        )
        yield Case(
            "norm",
            f"group_norm f32 {shape}",
            lambda a, w, b: F.silu(F.group_norm(a, 8, w, b)),
            (RandomInput(shape), RandomInput((channels,)), RandomInput((channels,))),
        )


def _layer_norm_backward(g: Any, a: Any, mean: Any, rstd: Any, w: Any, b: Any) -> Any:
    backward: Any = torch.ops.aten.native_layer_norm_backward
    return backward(g, a, [a.shape[-1]], mean, rstd, w, b, [True, True, True])


def _fusions(scale: int) -> Iterator[Case]:
    for rows, columns, dtype in ((512, 768, F32), (8_192, 1_024, BF16), (65_536, 768, BF16), (16_384, 4_096, BF16)):
        rows = max(2, rows // scale)
        whole, line = RandomInput((rows, columns), dtype), RandomInput((columns,), dtype)
        name = f"{_short(dtype)} {rows}x{columns}"
        yield Case(
            "fusion",
            f"residual_norm {name}",
            lambda a, bias, r, w, b: F.layer_norm(a + bias + r, a.shape[-1:], w, b),
            (whole, line, whole, line, line),
        )
        yield Case(
            "fusion",
            f"bias_gelu_dropout {name}",
            lambda a, bias: F.dropout(F.gelu(a + bias), 0.1),
            (whole, line),
        )
        yield Case(
            "fusion",
            f"swiglu_halves {name}",
            lambda a: F.silu(a[:, : a.shape[1] // 2]) * a[:, a.shape[1] // 2 :],
            (whole,),
        )
    for batch, heads, length, width in ((8, 12, 512, 64), (2, 32, 2_048, 128), (16, 16, 1_024, 64)):
        whole, row = (
            RandomInput((max(1, batch // scale), heads, length, width), BF16),
            RandomInput((length, width), BF16),
        )
        yield Case("fusion", f"rotary bf16 {batch}x{heads}x{length}x{width}", _rotary, (whole, row, row))
    for batch, heads, length in ((8, 12, 512), (32, 12, 128), (4, 16, 2_048)):
        yield Case(
            "fusion",
            f"causal_softmax f32 {batch}x{heads}x{length}",
            lambda a: torch.softmax(
                a.masked_fill(torch.ones(a.shape[-2:], dtype=torch.bool, device=a.device).triu(1), -1e9), -1
            ),
            (RandomInput((max(1, batch // scale), heads, length, length)),),
        )


def _rotary(a: Any, cos: Any, sin: Any) -> Any:
    half = a.shape[-1] // 2
    return a * cos + torch.cat((-a[..., half:], a[..., :half]), -1) * sin


def _layouts(scale: int) -> Iterator[Case]:
    for size, dtype in ((2**16, F32), (2**20, F32), (2**23, BF16), (2**25, F32)):
        rows = max(4, size // 256 // scale)
        part = RandomInput((rows, 256), dtype)
        yield Case("cat", f"cat_columns {_short(dtype)} {size}", lambda a, b: torch.cat((a, b * 2), 1), (part, part))
        yield Case(
            "cat", f"cat_rows {_short(dtype)} {size}", lambda a, b, c: torch.cat((a * 2, b, c), 0), (part, part, part)
        )
        yield Case("cat", f"pad {_short(dtype)} {size}", lambda a: F.pad(a + 1, (3, 5, 1, 0)), (part,))
    for batch, channels, side in ((32, 64, 112), (64, 256, 28), (16, 64, 128)):
        whole = RandomInput((max(1, batch // scale), channels, side, side))
        name = f"f32 {batch}x{channels}x{side}"
        yield Case("window", f"max_pool {name}", lambda a: F.max_pool2d(a, 3, 2, 1), (whole,))
        yield Case("window", f"avg_pool {name}", lambda a: F.avg_pool2d(a, 2), (whole,))
        yield Case("window", f"upsample {name}", lambda a: F.interpolate(a, scale_factor=2.0), (whole,))
        yield Case("window", f"mean_hw {name}", lambda a: a.mean((2, 3)), (whole,))
