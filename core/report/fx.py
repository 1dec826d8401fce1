"""The nodes of one FX graph. They are parsed from the graph's text when it is shown, and are no part of the stored
report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.report.places import Place

Op = Literal["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"]


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """The value of a node as torch prints it: dtype abbreviation, shape and stride in elements (symbols
    as text), device.
    """

    dtype: str
    shape: tuple[str, ...]
    stride: tuple[str, ...] = ()
    device: str = ""


@dataclass(frozen=True, slots=True)
class FxNode:
    """A node: `name`, `op` and `target` as in torch.fx; `args` is the text of the call's arguments.

    `inputs` are the names of the nodes that it reads, in order and each once; `line` is its line in the graph's text,
    `source` the user's line as the graph's comment gives it, `code` the text of that line; `stack` the lines from the
    compiled frame down to the call, the innermost last, empty if not recorded.
    """

    name: str
    op: Op
    target: str
    args: str
    inputs: tuple[str, ...]
    meta: TensorMeta | None
    line: int
    source: Place | None = None
    code: str = ""
    module: str = ""
    module_class: str = ""
    stack: tuple[Place, ...] = ()
