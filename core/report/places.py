"""Places: texts in the log, lines in files, nodes in modules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Payload:
    """The place of a text in the log: byte offset and length, with torch's tab at each line's start."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, and the function that it is in, if known; as text `m.py:7 in forward`."""

    file: str
    line: int
    name: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f" in {self.name}" if self.name else "")

    @property
    def short(self) -> str:
        """`m.py:7` without folders, empty if the file is not known."""
        return f"{PurePosixPath(self.file).name}:{self.line}" if self.file else ""


@dataclass(frozen=True, slots=True)
class Frame(Place):
    """An entry of a stack, with the text of the line if torch recorded it."""

    text: str = ""


class Module(NamedTuple):
    """An `nn.Module` that FX nodes come from: its path as Dynamo names it, and its class. As JSON a list of the two."""

    path: str
    kind: str
