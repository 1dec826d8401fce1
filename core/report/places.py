"""Places: texts in the log, lines in files, and modules of nodes.

The module also has the base class of the worker's own records.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename
from typing import NamedTuple

MOST_LEVELS = 32  #: nested modules
GETATTR = re.compile(r"""getattr\(([^()]+), ['"]([^'"]+)['"]\)""")
ROOT = re.compile(r"""^[LG]\[['"]([^'"]+)['"]\]""")
FLAT_ROOT = re.compile(r"^[LG]__(\w+?)___")
SEGMENT = re.compile(r"""\[['"]?([^\]'"]*)['"]?\]|([^.\[\]]+)""")
CALL_COUNT = re.compile(r"@\d+$")
# The file of a notebook's cell.
CELL = re.compile(r"cell \d+\.py")
LIST_INDEX = re.compile(r"_(?=\d+(?:_|$))|(?<=\d)_")
# Files that the user can't edit: installed packages, torch, and Python's standard library.
LIBRARY = re.compile(r"(?:^|/)(?:site-packages|dist-packages|lib/python3\.\d+)/|(?:^|/)torch/(?:_\w+|nn|optim|utils)/")
# Prefix of a compilation within a graph of compiled autograd.
CAPTURE = re.compile(r"(?<![^:])!\d+/")
ModulePath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Payload:
    """The place of a text in the log: byte offset and length.

    The length includes torch's tab at the start of each line.
    """

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, and its function if known; as text `m.py:7 in forward`."""

    file: str
    line: int
    name: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f" in {self.name}" if self.name else "")

    @property
    def short(self) -> str:
        """Return the place without folders, `m.py:7` or `cell 3, line 7`; empty if the file is unknown."""
        if not self.file:
            return ""
        name = basename(self.file)
        return f"{name.removesuffix('.py')}, line {self.line}" if CELL.fullmatch(name) else f"{name}:{self.line}"


@lru_cache(maxsize=10_000)
def is_library(file: str) -> bool:
    """Return True if a file belongs to an installed package or to Python itself."""
    return LIBRARY.search(file) is not None


def user_line(stack: Sequence[Place]) -> Place | None:
    """Return the user's innermost line of a stack; None for an empty stack.

    Without a line of the user, it is a line of the model's file in its library: that of most `forward` functions.
    """
    own = [place for place in stack if not is_library(place.file)]
    files = Counter(place.file for place in stack if place.name == "forward")
    model = [place for place in stack if place.file in dict(files.most_common(1))]
    return next(reversed(own or model or stack), None)


@dataclass(frozen=True, slots=True)
class Frame(Place):
    """An entry of a stack, with the text of the line if torch recorded it."""

    text: str = ""


def frame_id(compile_id: str) -> str:
    """Return the frame's id in a compile id: `0` of `0/1`, and `2` of `!8/2/1`; empty without a frame.

    `!8` is a graph of compiled autograd.
    """
    return CAPTURE.sub("", compile_id.rpartition("/")[0])


class Module(NamedTuple):
    """An `nn.Module` that FX nodes come from: its path as Dynamo names it, and its class.

    In JSON, it is a list of the two.
    """

    path: str
    kind: str


@lru_cache(maxsize=65_536)
def module_path(text: str) -> ModulePath:
    """Return the segments of a module's path, the root first: `L['self'].layers.0` is self, layers, 0.

    A path such as `L__self___layers_0_attn` is split only at indexes, since any other underscore may be part of a name.
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


@dataclass(frozen=True, slots=True)
class Record:
    """An artifact that the worker adds to the log.

    A field without a default is in every log; a field with a default may be missing in logs of older versions. The
    text below a field explains it, and becomes its row in `docs/trace-records.md`.
    """


Emit = Callable[[Record], None]


@dataclass(frozen=True, slots=True)
class CacheEvent:
    """The outcome of a cache lookup for one compilation: hit, miss, bypass or disabled.

    `details` is the place of torch's JSON about the lookup, with the components of the key. `inputs` is the place of
    our record of the parts of the key that torch does not print.
    """

    cache: str
    outcome: str
    compilation: str
    key: str = ""
    reason: str = ""
    details: Payload | None = None
    inputs: Payload | None = None

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Return a key to remove duplicate events.

        Torch logs some events twice: as an artifact and as an instant event.
        """
        return self.cache, self.outcome, self.compilation, self.key
