"""Results of one call of a model copy, compared with the other copy's results.

`PrintedText` records the text that a call prints through Python's standard streams.
"""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TextIO

import torch

from core.job import CompileJob
from core.report import Difference
from core.worker.load import Arguments, Generators, ModelCopy
from core.worker.results.compare import compare, compare_leaf
from core.worker.results.named import (
    Container,
    Leaves,
    Snapshot,
    aliases,
    alike,
    equal,
    gradients_of,
    inputs_of,
    leaves,
    state_of,
)

OWN = "memory of its own"
MAX_CHARS = 20_000  #: limit: compared printed text of a call, of each stream
SHOWN_CHARS = 60
DECIMAL = re.compile(r"-?\d+\.\d*(?:[eE][+-]?\d+)?")
ROUNDING = 1e-5
WARNING = re.compile(r"^\S.*?:\d+: (\w*Warning: )")


class StateBefore:
    """State of a model copy before a call: everything that the call may change."""

    def __init__(self, twin: ModelCopy, call: Arguments) -> None:
        self.leaves = {**inputs_of(call), **state_of(twin)}
        self._snapshot = Snapshot(self.leaves)
        self._twin, self._call = twin, call

    def left(self, output: object, wanted: list[torch.Tensor], drawn: frozenset[Generators]) -> CallEffects:
        """Return the results of the call, right after it was executed."""
        after = {**inputs_of(self._call), **state_of(self._twin)}
        return CallEffects(
            outputs=leaves("output", output),
            gradients=gradients_of(self._twin, self._call, wanted),
            rest=after,
            owners={**self.leaves, **after},
            changed=frozenset(name for name, leaf in after.items() if self._snapshot.changed(name, leaf)),
            by_version=frozenset(self._snapshot.by_version),
            drawn=drawn,
        )


@dataclass(frozen=True, slots=True)
class CallEffects:
    """Results of a call: outputs, gradients, inputs and state (`rest`), and the names of changed values.

    Changes of tensors in `by_version` are known only from autograd's version counter, which compiled code may not
    update. `drawn` are the generators of the random numbers that the call drew.
    """

    outputs: Leaves
    gradients: Leaves
    rest: Leaves
    owners: Leaves
    changed: frozenset[str]
    by_version: frozenset[str]
    drawn: frozenset[Generators]

    def all(self) -> Leaves:
        """Return all results by name."""
        return {**self.rest, **self.outputs, **self.gradients}

    def counts(self) -> dict[str, int]:
        """Return the number of results by kind: output, gradient, input, buffer …"""
        told = [name for name, leaf in self.all().items() if leaf is not None and not isinstance(leaf, Container)]
        kinds = [re.match(r"\w+", name) for name in told]
        return dict(Counter(kind.group() for kind in kinds if kind))


def unlike(eager: StateBefore, compiled: StateBefore, first: bool) -> str:
    """Return the first value that differs between two model copies before a call, or empty."""
    for name, one in eager.leaves.items():
        other = compiled.leaves.get(name)
        is_input = name.startswith("input ")
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
            differs = (is_input or first) and not equal(one, other)
            if differs and any(item.same is False for item in compare_leaf(name, one, other)):
                return name
        elif is_input and not alike(one, other):
            return name
    return ""


def differences(eager: CallEffects, compiled: CallEffects, repaired: bool = False) -> list[Difference]:
    """Return rows for all outputs and gradients, different aliasing, and changed inputs and state.

    With `repaired`, compiled runs fixed code, which may store a number of the state in a tensor.
    """
    return [
        *compare(eager.outputs, compiled.outputs, layout=True),
        *_aliasing(eager, compiled),
        *compare(eager.gradients, compiled.gradients),
        *_changes(eager, compiled, repaired),
    ]


def _aliasing(eager: CallEffects, compiled: CallEffects) -> list[Difference]:
    left, right = aliases(eager.outputs, eager.owners), aliases(compiled.outputs, compiled.owners)
    return [
        Difference(name, False, "aliasing", _memory(left.get(name)), _memory(right.get(name)))
        for name in eager.outputs
        if name in compiled.outputs and left.get(name) != right.get(name)
    ]


def _memory(owner: str | None) -> str:
    return f"memory of {owner}" if owner else OWN


def _changes(eager: CallEffects, compiled: CallEffects, repaired: bool) -> list[Difference]:
    found = []
    for name in eager.rest:
        touched = name in eager.changed or name in compiled.changed
        number = eager.rest[name]
        tensor = compiled.rest.get(name, compiled.rest.get(_as_buffer(name))) if repaired else None
        if isinstance(number, (int, float)) and isinstance(tensor, torch.Tensor):
            found += _number_in_tensor(name, number, tensor) if name in eager.changed else []
        elif touched or (name in eager.by_version and not _equal(eager.rest[name], compiled.rest.get(name))):
            found += _change(name, eager, compiled)
    return found


def _equal(left: torch.Tensor, right: object) -> bool:
    return isinstance(right, torch.Tensor) and equal(left, right)


def _change(name: str, eager: CallEffects, compiled: CallEffects) -> list[Difference]:
    """Return the rows of one changed value of eager.

    A value missing in a compiled container is reported by the container's row. Values only in compiled belong
    to Dynamo.
    """
    one, other = ("changed" if name in left.changed else "unchanged" for left in (eager, compiled))
    if name not in compiled.rest:
        inside = name.startswith("input") or not name.endswith("`")
        return [] if inside else [Difference(name, False, "mutation", one, "missing")]
    rows = compare_leaf(name, eager.rest[name], compiled.rest[name])
    if one == other:
        return rows
    return [replace(row, kind="mutation", expected=one, actual=other) if row.same is False else row for row in rows]


def _as_buffer(name: str) -> str:
    """Return the name of the buffer that may replace an attribute in fixed code; empty for other names."""
    return name.replace("attribute ", "buffer ", 1) if name.startswith("attribute ") else ""


def _number_in_tensor(name: str, number: float, tensor: torch.Tensor) -> list[Difference]:
    """Compare a number of eager with the tensor that replaces it in fixed code."""
    same = tensor.numel() == 1 and bool(tensor == number)
    actual = "" if same else str(tensor.tolist())[:120]
    return [Difference(name, same, "value" if same else "Python value", "" if same else str(number), actual)]


class RecordedStream(io.TextIOBase):
    """Stream that passes on written text and records its beginning."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text[: max(0, MAX_CHARS - len(self.text))]
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def flush(self) -> None:
        self._stream.flush()


class PrintedText:
    """Text of a call on each standard stream; not recorded for a job without fixes."""

    def __init__(self, job: CompileJob) -> None:
        self._listens = job.has_original
        self.streams = ("", "")

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Record the streams in this context; streams that user code replaces are not restored."""
        if not self._listens:
            yield
            return
        kept = sys.stdout, sys.stderr
        ours = RecordedStream(kept[0]), RecordedStream(kept[1])
        sys.stdout, sys.stderr = ours
        try:
            yield
        finally:
            self.streams = (ours[0].text, ours[1].text)
            if sys.stdout is ours[0]:
                sys.stdout = kept[0]
            if sys.stderr is ours[1]:
                sys.stderr = kept[1]


def print_difference(eager: PrintedText, compiled: PrintedText) -> str:
    """Return the difference of the texts as a part of a sentence; empty if there is none.

    Numbers may differ by rounding. Standard error also has torch's own messages. There, a line counts only if eager
    printed it and compiled did not.
    """
    one, other = eager.streams[0].splitlines(), compiled.streams[0].splitlines()
    for place, line in enumerate(one):
        if place >= len(other) or not _prints_as(other[place], line):
            return _differ(line, other[place] if place < len(other) else "")
    if len(other) > len(one):
        return _differ("", other[len(one)])
    compiled_lines = list(map(_message, compiled.streams[1].splitlines()))
    for line in filter(None, map(_message, eager.streams[1].splitlines())):
        if not any(_prints_as(other_line, line) for other_line in compiled_lines):
            return _differ(line, "")
    return ""


def _prints_as(line: str, eager: str) -> bool:
    """Return True if two lines differ only by the rounding of decimal numbers."""
    if line == eager:
        return True
    if DECIMAL.sub("", line) != DECIMAL.sub("", eager):
        return False
    pairs = zip(DECIMAL.findall(line), DECIMAL.findall(eager), strict=True)
    return all(abs(float(one) - float(other)) <= _rounding(one, other) for one, other in pairs)


def _rounding(*numbers: str) -> float:
    """Return how far two printed numbers may be apart: by the last digit, or by the rounding of float32."""
    digits = min(len(number.lower().partition("e")[0].partition(".")[2]) for number in numbers)
    exponent = max(int(number.lower().partition("e")[2] or 0) for number in numbers)
    return max(1.01 * 10.0 ** (exponent - digits), ROUNDING * max(abs(float(number)) for number in numbers))


def _differ(left: str, right: str) -> str:
    return f"compiled prints {_short(right)} where eager prints {_short(left)}"


def _message(line: str) -> str:
    """Return a line of standard error without a warning's location, empty for the source line below it."""
    return "" if line.startswith("  ") else WARNING.sub(r"\1", line)


def _short(line: str) -> str:
    return repr(line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…") if line else "nothing"
