"""The lines of Python that FX nodes come from, and the files that they are in."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import torch
from torch._logging.structured import INTERN_TABLE
from torch.fx import Graph

from core.report.records import Emit
from core.report.records.graphs import StacksRecord
from core.report.records.run import SourceRecord

FRAME = re.compile(r'^  File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
LARGEST_SOURCE_BYTES = 1_000_000
MOST_SOURCES_BYTES = 8_000_000
MOST_STACK_FRAMES = 100
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
HERE = Path(__file__).parents[2]
SAMPLES = HERE / "samples"
TORCH = Path(torch.__file__).parent
# What user code calls and reads: the rest of torch stands in stacks as what traced it.
READ_OF_TORCH = (TORCH / "nn", TORCH / "optim")
# Every call of a module goes through it.
CALLS_MODULES = TORCH / "nn" / "modules" / "module.py"


class Sources:
    """The files that stacks have named so far, each recorded once."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._known = {str(CALLS_MODULES)}
        self._named: list[str] = []
        self._left_bytes = MOST_SOURCES_BYTES

    def already(self, path: str) -> None:
        """A file that has been recorded."""
        self._known.add(path)

    def name(self, paths: Iterable[str]) -> None:
        """Files to record once there is time for it."""
        self._named += paths

    def record(self) -> None:
        """Record the files that are new among those that were named and those that torch has logged."""
        for path in [*self._named, *INTERN_TABLE]:
            if path not in self._known:
                self._known.add(path)
                self._one(path)
        self._named.clear()

    def _one(self, path: str) -> None:
        text = _text(Path(path), self._left_bytes) if path.endswith(".py") else None
        if text is not None:
            self._left_bytes -= len(text)
            self._emit(SourceRecord(path=path, text=text))


def _text(path: Path, left_bytes: int) -> str | None:
    """The text of a file that a reader of the model's code looks for; None for others, and for what is too long."""
    ours = path.is_relative_to(HERE) and not path.is_relative_to(SAMPLES)
    library = path.is_relative_to(STANDARD_LIBRARY) and "site-packages" not in path.parts
    tracing = path.is_relative_to(TORCH) and not any(path.is_relative_to(part) for part in READ_OF_TORCH)
    try:
        if ours or library or tracing or not path.is_file():
            return None
        if path.stat().st_size > min(LARGEST_SOURCE_BYTES, left_bytes):
            return None
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def stacks_of(graph: Graph, stage: str) -> StacksRecord:
    """The stacks of a graph's nodes, as Dynamo keeps them from the frame that it traces on."""
    frames: dict[tuple[str, int, str], int] = {}
    stacks: dict[tuple[int, int], int] = {}
    by_text: dict[str, int] = {}
    nodes: dict[str, int] = {}
    for node in graph.nodes:
        text = node.meta.get("stack_trace")
        if not isinstance(text, str) or not text:
            continue
        if text not in by_text:
            by_text[text] = _stack(text, frames, stacks)
        nodes[node.name] = by_text[text]
    return StacksRecord(stage=stage, frames=tuple(frames), stacks=tuple(stacks), nodes=nodes)


def _stack(text: str, frames: dict[tuple[str, int, str], int], stacks: dict[tuple[int, int], int]) -> int:
    around = -1
    for file, line, function in FRAME.findall(text)[-MOST_STACK_FRAMES:]:
        frame = frames.setdefault((file, int(line), function), len(frames))
        around = stacks.setdefault((around, frame), len(stacks))
    return around
