"""Graph breaks, recompiles, or a training step, in code for torch 2.4 and later; prints torch's own counts."""

import json
import sys

import torch
import torch._dynamo
from torch._dynamo.testing import CompileCounter
from torch._dynamo.utils import counters

size = 1


def printing(x):
    y = x + 1
    print("between two graphs")
    return y * 2


def item_in_if(x):
    y = x + 1
    if y.sum().item() > 0:
        return y * 2
    return y - 1


def data_dependent(x):
    y = x + 1
    if y.sum() > 0:
        return y * 2
    return y - 1


def unsupported_builtin(x):
    y = x + 1
    z = y * bool(compile("1", "", "eval"))
    return z - 1


@torch._dynamo.disable
def disabled(x):
    return x + 2


def calls_disabled(x):
    y = x + 1
    y = disabled(y)
    return y * 2


def inner(x):
    y = x * 3
    torch._dynamo.graph_break()
    return y + 1


def nested(x):
    return inner(x + 1) * 2


def loop(x):
    for _ in range(3):
        x = x + 1
        torch._dynamo.graph_break()
    return x * 2


def sizes(x):
    return x * 2 + 1


def numbers(x, n):
    return x + n


def types(x):
    return x.sin() + 1


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def forward(self, x):
        return x * self.scale


def modes(x):
    return x.cos() * 2


BREAKS = (printing, item_in_if, data_dependent, unsupported_builtin, calls_disabled, nested, loop)


def run_breaks(backend):
    for function in BREAKS:
        torch.compile(function, backend=backend)(torch.ones(4))


def run_recompiles(backend):
    compiled = torch.compile(sizes, backend=backend)
    for length in (4, 5, 6):
        compiled(torch.ones(length))
    compiled = torch.compile(numbers, backend=backend)
    for number in (1, 2, 3):
        compiled(torch.ones(4), number)
    compiled = torch.compile(types, backend=backend)
    for dtype in (torch.float32, torch.float64):
        compiled(torch.ones(4, dtype=dtype))
    compiled = torch.compile(modes, backend=backend)
    compiled(torch.ones(4))
    with torch.no_grad():
        compiled(torch.ones(4))
    model = Scaled()
    compiled = torch.compile(model, backend=backend)
    for scale in (2.0, 3.0):
        model.scale = scale
        compiled(torch.ones(4))


def run_training():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 8))
    torch.compile(model)(torch.randn(4, 8)).sum().backward()


counter = CompileCounter()
way = sys.argv[1]
if way == "breaks":
    run_breaks(counter)
elif way == "recompiles":
    run_recompiles(counter)
else:
    run_training()
print(
    json.dumps(
        {
            "torch": torch.__version__,
            "graphs": counter.frame_count,
            "ops": counter.op_count,
            "stats": dict(counters["stats"]),
            "frames": dict(counters["frames"]),
            "graph_break": dict(counters["graph_break"]),
            "inductor": dict(counters["inductor"]),
        }
    )
)
