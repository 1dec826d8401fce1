"""CPU time of calls: compiled wrappers, eager ops and training steps that launch small kernels.

Each function repeats one op, two or sixteen times, on tensors so small that the device waits for the CPU. The
difference of both is the CPU time of one op, and the rest is that of the call itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.devices import clock

COUNTS = (2, 16)
Op = Callable[[Any, Any, int], Any]


def _image(x: Any, w: Any, index: int) -> Any:
    return F.conv2d(x.view(4, 64, 4, 4), w[:, :, None, None]).view(16, 256)


def _attended(x: Any, w: Any, index: int) -> Any:
    parts = x.view(1, 4, 16, 64)
    return F.scaled_dot_product_attention(parts, parts, parts).view(16, 256)


SQUARE: dict[str, Op] = {
    "reduction": lambda x, w, index: x * x.amax(index % 2, keepdim=True),  # along turns, so that none are fused
    "mm": lambda x, w, index: x @ w,
    "linear": lambda x, w, index: F.linear(x, w, w[0]),
    "linear_relu": lambda x, w, index: F.relu(F.linear(x, w, w[0])),
    "sort": lambda x, w, index: torch.sort(x, stable=True)[0],
}
OTHERS: dict[str, tuple[Op, tuple[int, ...], tuple[int, ...]]] = {
    "convolution": (_image, (16, 256), (64, 64)),
    "attention": (_attended, (16, 256), (1, 1)),
}
EAGER: dict[str, Op] = {
    "add": lambda x, w, index: x + 1.5,
    "relu": lambda x, w, index: F.relu(x),
    "view": lambda x, w, index: x.t().view(x.shape[1], x.shape[0]),
    "layer_norm": lambda x, w, index: F.layer_norm(x, x.shape[-1:], w[0], w[0]),
    "softmax": lambda x, w, index: torch.softmax(x, -1),
    "mm": SQUARE["mm"],
    "linear": SQUARE["linear"],
    "sum": lambda x, w, index: x + x.sum(),
    "cat": lambda x, w, index: torch.cat((x[:32], x[32:])),
    "index": lambda x, w, index: x[w.shape[0] - 64 :],
    "dropout": lambda x, w, index: F.dropout(x, 0.1),
}


def host_costs() -> list[dict[str, Any]]:
    """Return CPU and wall times by op, way and number of ops."""
    made: list[dict[str, Any]] = []
    rows = {name: (op, (64, 64), (64, 64)) for name, op in SQUARE.items()} | OTHERS
    for name, (op, shape, weight) in rows.items():
        made += _timed("compiled", name, op, shape, weight)
    for name, op in EAGER.items():
        made += _timed("eager", name, op, (64, 64), (64, 64))
    made += _timed("eager", "convolution", *OTHERS["convolution"])
    made += _timed("eager", "attention", *OTHERS["attention"])
    for count in COUNTS:
        made += _training(count)
    return made


def _timed(way: str, name: str, op: Op, shape: Sequence[int], weight: Sequence[int]) -> list[dict[str, Any]]:
    return [_row(way, name, count, functools.partial(_call, way, op, count, shape, weight)) for count in COUNTS]


def _call(way: str, op: Op, count: int, shape: Sequence[int], weight: Sequence[int]) -> Callable[[], Any]:
    x, w = torch.randn(*shape, device="cuda"), torch.randn(*weight, device="cuda") * 0.1

    def run(x: Any, w: Any) -> list[Any]:
        made = [x]
        for index in range(count):
            made.append(op(made[-1], w, index))
        return made

    torch._dynamo.reset()
    function = torch.compile(run, dynamic=False, fullgraph=True) if way == "compiled" else run
    return functools.partial(torch.no_grad()(function), x, w)


def _training(count: int) -> list[dict[str, Any]]:
    rows = []
    for way in ("eager", "compiled"):
        model = nn.Sequential(*(part for _ in range(count) for part in (nn.Linear(64, 64), nn.ReLU()))).cuda()
        torch._dynamo.reset()
        function = torch.compile(model, dynamic=False, fullgraph=True) if way == "compiled" else model
        x = torch.randn(64, 64, device="cuda")

        def step(function: Any = function, model: Any = model, x: Any = x) -> None:
            model.zero_grad(set_to_none=True)
            function(x).sum().backward()

        rows.append(_row(f"{way} training", "linear_relu", count, functools.partial(_same, step)))
    return rows


def _same(step: Callable[[], Any]) -> Callable[[], Any]:
    return step


def _row(way: str, name: str, count: int, make: Callable[[], Callable[[], Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {"way": way, "op": name, "count": count}
    try:
        return row | clock.launches(make())
    except Exception as error:
        return row | {"problem": f"{type(error).__name__}: {error}"[:200]}
