"""What is known of each node beside its text: the material of overlays and of the facts of groups."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from core.ops.costs import UNKNOWN, Cost
from core.report.sizes import MOST_REMEMBERED

SYMBOL = re.compile(r"\b[a-z]+\d+\b")
STATIC = "static"


class Trait(NamedTuple):
    """One node's own. `op` says whether it computes; `dtype` and `shapes` are empty and `seconds` None if not recorded.

    `shapes` is "static" or "dynamic: s33"; `parameters` are the names of those that it reads.
    """

    op: bool = True
    cost: Cost = UNKNOWN
    dtype: str = ""
    shapes: str = ""
    module_class: str = ""
    seconds: float | None = None
    parameters: tuple[str, ...] = ()


@lru_cache(maxsize=MOST_REMEMBERED)
def shape_words(sizes: tuple[str, ...]) -> str:
    """Whether any of the sizes is a symbol, and which."""
    found = {name for size in sizes if not size.isdecimal() for name in SYMBOL.findall(size)}
    return f"dynamic: {', '.join(sorted(found))}" if found else STATIC
