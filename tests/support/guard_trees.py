"""Compile models that are rich in guards, and print how many leaf guards torch's own tree of each compilation has.

python -m tests.support.guard_trees DIRECTORY   the log of it goes there; standard output: {"0/0": ["model", leaves], …}
"""

import collections
import enum
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

from core.job import CompileJob, Model
from core.worker.record import emit, start_trace
from core.worker.recorders.stacks import DeferredRecords
from core.worker.run import recording

OFFSET = 3
TABLE = {"a": 1.5, "b": {"c": [1, 2, 3]}, 7: "x"}
Point = collections.namedtuple("Point", "x y")
Way = enum.Enum("Way", "UP DOWN")


@dataclass
class Options:
    """Something with attributes."""

    scale: float = 2.0
    names: list[str] = field(default_factory=lambda: ["p", "q"])


class Layers(nn.Module):
    """Attributes, a dictionary, layers and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.mode, self.table = 3, "sum", {"one": 1, 2: "two"}
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.register_buffer("shift", torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Guards on all of them."""
        for layer in self.layers:
            x = layer(x) * self.scale + self.shift
        return x.sum() if self.mode == "sum" and "one" in self.table else x


def closure(factor: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function with two cells."""
    names = {"deep": [factor]}
    return lambda x: x * factor + names["deep"][0]


def models() -> dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]]:
    """By what the guards are about: a function, and the arguments of each call."""
    x, y, marked, strides = torch.ones(5, 4), torch.ones(5, 4), torch.ones(6, 4), torch.ones(16)
    torch._dynamo.maybe_mark_dynamic(marked, 0)
    return {
        "one tensor": (lambda a: a.sin(), [(x,)]),
        "three tensors": (lambda a, b, c: a + b + c, [(x, y, x + 1)]),
        "one tensor twice": (lambda a, b: a + b, [(x, x)]),
        "views that overlap": (lambda a, b: a.add_(1) + b, [(strides[:8], strides[4:12])]),
        "global": (lambda a: a + OFFSET, [(x,)]),
        "nested dictionary": (lambda a, d: a * d["a"] + sum(d["b"]["c"]), [(x, TABLE)]),
        "items of a dictionary": (lambda a, d: sum((a * v for v in d.values()), a), [(x, {"k": y, "l": x + 1, 3: y})]),
        "keys": (lambda a, d: a + ("no" in d) + ("neither" in d) + ("yes" in d), [(x, {"yes": 1, "k": 2})]),
        "list of tensors": (lambda items: items[0] + items[1] + len(items), [([x, y],)]),
        "named tuple": (lambda p: p.x + p.y, [(Point(x, 2.0),)]),
        "attributes": (lambda a, o: a * o.scale + len(o.names), [(x, Options())]),
        "ordered dictionary": (lambda a, d: a * d["k"], [(x, collections.OrderedDict(k=2, l=3))]),
        "set": (lambda a, s: a + (1 in s), [(x, {1, 2})]),
        "module": (Layers(), [(x,)]),
        "closure": (closure(2.5), [(x,)]),
        "marked sizes": (lambda a: a.view(-1, 2, 2) + a.shape[0], [(marked,)]),
        "sizes that change": (lambda a, b: a[:2] + b.shape[0], [(x, y), (torch.ones(7, 4), torch.ones(9, 3))]),
        "numbers": (lambda a, f, n: a * f + n, [(x, 0.5, 7), (x, 0.25, 9)]),
        "types": (lambda a, b, c, d: a * 2 if b is None and d is Way.UP else a + len(c), [(x, None, "s", Way.UP)]),
        "grad mode": (lambda a: a + 1 if torch.is_grad_enabled() else a, [(x.clone().requires_grad_(),)]),
    }


def leaves(manager: Any) -> int:
    """All leaf guards of a manager and of those below it."""
    below = list(manager.get_child_managers())
    if hasattr(manager, "get_key_value_managers"):
        below += [side for pair in manager.get_key_value_managers().values() for side in pair if side is not None]
    return len(manager.get_leaf_guards()) + sum(map(leaves, below))


def main(directory: str) -> None:
    """Compile all, and print the trees' leaves."""
    start_trace(Path(directory))
    found: dict[str, tuple[str, int]] = {}
    with recording(DeferredRecords(emit), CompileJob(Model("sample", "mlp"))):
        for name, (model, calls) in models().items():
            compiled = torch.compile(model, backend="eager")
            for call in calls:
                compiled(*call)
            function = model.forward if isinstance(model, nn.Module) else model
            for entry in _debug_get_cache_entry_list(function.__code__):
                root = entry.guard_manager.root
                found[str(entry.compile_id)] = (name, leaves(root) + len(root.get_epilogue_lambda_guards()))
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
