"""The path of an `nn.Module`, as Dynamo writes it, split into its segments."""

from __future__ import annotations

import re
from functools import lru_cache

MOST_LEVELS = 32
GETATTR = re.compile(r"""getattr\(([^()]+), ['"]([^'"]+)['"]\)""")
ROOT = re.compile(r"""^[LG]\[['"]([^'"]+)['"]\]""")
FLAT_ROOT = re.compile(r"^[LG]__(\w+?)___")
SEGMENT = re.compile(r"""\[['"]?([^\]'"]*)['"]?\]|([^.\[\]]+)""")
CALL_COUNT = re.compile(r"@\d+$")
LIST_INDEX = re.compile(r"_(?=\d+(?:_|$))|(?<=\d)_")

ModulePath = tuple[str, ...]


@lru_cache(maxsize=65_536)
def module_path(text: str) -> ModulePath:
    """Return the segments of a module's path, the root first: `L['self'].layers.0` is self, layers, 0.

    The form with underscores (`L__self___layers_0_attn`) does not say which of them are dots: only indexes part it.
    """
    text = CALL_COUNT.sub("", text)
    while (plain := GETATTR.sub(r"\1.\2", text)) != text:
        text = plain
    flat = FLAT_ROOT.match(text)
    if flat:
        return (flat[1], *filter(None, LIST_INDEX.split(text[flat.end() :])))[:MOST_LEVELS]
    root = ROOT.match(text)
    rest = text[root.end() :] if root else text.removeprefix("self.").removeprefix("self")
    segments = (CALL_COUNT.sub("", inside or plain) for inside, plain in SEGMENT.findall(rest))
    named = (segment for segment in segments if segment and segment != "_modules")
    return (root[1] if root else "self", *named)[:MOST_LEVELS]
