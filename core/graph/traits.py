"""Node data besides text, used for overlays and group facts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from core.ops.costs import UNKNOWN, Cost
from core.report.sizes import MOST_REMEMBERED

SYMBOL = re.compile(r"\b[a-z]+\d+\b")
STATIC = "static"


class Trait(NamedTuple):
    """Data of one node. `op` is True if it computes; `dtype` and `shapes` are empty and `seconds` None if not recorded.

    `shapes` is "static" or "dynamic: s33"; `parameters` are the names of the parameters that it reads.
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
    """Return "dynamic" with the symbols in the sizes, or "static"."""
    symbols = {name for size in sizes if not size.isdecimal() for name in SYMBOL.findall(size)}
    return f"dynamic: {', '.join(sorted(symbols))}" if symbols else STATIC
