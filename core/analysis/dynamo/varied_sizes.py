"""Advice that avoids recompiles for varying sizes, based on torch's later compilations.

A later compilation of the frame shows which sizes torch can keep symbolic: the sizes that its guards leave open.
Marking these dimensions before the first call gives the same graph if the first sizes meet the graph's conditions.
`holds` evaluates shape guards for known sizes.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from core.analysis.dynamo.failures import is_called_inside
from core.analysis.dynamo.recompiles import local_names
from core.analysis.work import frame_of
from core.base.syntax import NOT_READ, expression, integer
from core.report import Compilation, Place, Recompile, Report, frame_id

MISMATCH = re.compile(r"tensor '(.+?)' size mismatch at index (\d+)\. expected (\d+), actual (\d+)")
NUMBER_CHANGED = re.compile(r"(.+?) == -?[\d.]+(?:e-?\d+)?$")
# Sizes that torch specializes instead of making them symbols.
SPECIALIZED = frozenset({0, 1})
# Tensors of a module, whose sizes are constants for torch.
OF_MODULE = ("._parameters[", "._buffers[")
# Python functions that Dynamo traces in the place of builtins.
POLYFILLS = "torch/_dynamo/polyfills/"
Why = Literal[
    "", "specialized", "static", "module", "parameter", "array", "constant", "branch", "inner", "number", "unknown"
]
OF_NUMPY = "___from_numpy("
LISTED = re.compile(r"\b(size|stride)=\[([^\]]*)\]")
# Number that a guard compares with a Python value: `L['n'] == 4`.
NUMBER = re.compile(r"^(L\[.+\]) == (-?\d{1,18})$")
OF_SHAPES = (".size()[", ".stride()[", ".storage_offset()")


class InputDimension(NamedTuple):
    """A dimension of an input, with the name it has in the frame: `d['x']`."""

    tensor: str
    dim: int


@dataclass(frozen=True, slots=True)
class SizeAdvice:
    """Advice that avoids a recompile for a size.

    `marks` are all dimensions to mark together before the first call; empty if marking raises or has no effect.
    `dynamic` is True if `dynamic=True` does the same. `once` is True if the frame then has one graph for all
    observed sizes except the `special` sizes. Those are 0 and 1, each compiled separately.

    `why` is the reason against the marks: no avoidable recompile remains (`specialized`), the job has
    `dynamic=False` (`static`), the tensor is a parameter or buffer (`module`), the size is always that of a parameter
    (`parameter`), the input is a NumPy array (`array`), the code makes the size a constant
    (`constant`, at `place`) or takes another branch for the first size (`branch`), the model creates the tensor
    (`inner`), a guard ties the size to the Python number `number` (`number`), or the log does not decide
    (`unknown`).
    """

    marks: tuple[InputDimension, ...] = ()
    dynamic: bool = False
    once: bool = False
    why: Why = ""
    special: tuple[int, ...] = ()
    number: str = ""
    place: Place | None = None


def is_of_size(reason: Recompile) -> bool:
    """Return True if a changed tensor size caused the recompile."""
    return MISMATCH.match(reason.reason) is not None


def size_advice(report: Report, reason: Recompile) -> SizeAdvice:
    """Return the advice for a recompile caused by a tensor size."""
    frame = _Frame(report, reason)
    return frame.refused() or frame.advice()


def number_is_symbolic(report: Report, reason: Recompile) -> bool:
    """Return True if torch made the changed number symbolic in the recompile, and kept it symbolic.

    `dynamic=True` makes it symbolic from the start. Torch specializes some symbols again, such as numbers that no
    kernel takes as tensors: the compilation then has a guard on the value, and another value compiles again.
    """
    name, recompiled = _number_name(reason.reason), report.compilation(reason.compilation)
    if not name or recompiled is None:
        return False
    symbolic = [compilation.id for compilation in report.compilations if frame_of(compilation) == frame_of(recompiled)
                and any(local_names(symbol.source) == name for symbol in compilation.symbols)]  # fmt: skip
    lines = (line for guard in recompiled.guards for line in guard.expression.split("\n"))
    again = any(_number_name(line) == name for line in lines)
    failed = any(other.failed in symbolic and _number_name(other.reason) == name for other in report.recompiles)
    return recompiled.id in symbolic and not again and not failed


def _number_name(condition: str) -> str:
    """Return the name that a guard compares with a number; empty for any other guard."""
    match = NUMBER_CHANGED.match(condition.split("\n")[0].partition("  #")[0].strip())
    return local_names(match[1]) if match else ""


class _Frame:
    """The compilations of a frame, and their evidence about the changed size."""

    def __init__(self, report: Report, reason: Recompile) -> None:
        key = frame_id(reason.compilation)
        self._recompiled = report.compilation(reason.compilation)
        self._compilations = [
            compilation
            for compilation in report.compilations
            if frame_of(compilation) == key and compilation.status == "ok"
        ]
        ids = {compilation.id for compilation in self._compilations}
        # Torch lists the newest code's reason first, for each compilation.
        newest = {
            recompile.compilation: recompile.reason
            for recompile in reversed(report.recompiles)
            if recompile.compilation in ids
        }
        self._reasons = [*newest.values()]
        self._dynamic = ((report.setting.job or {}).get("compile") or {}).get("dynamic")
        match = MISMATCH.match(reason.reason)
        name, self._index = (match[1], int(match[2])) if match else ("", 0)
        self._source = next((source for source in self._first_sizes if local_names(source) == name), "")
        self._mismatches = [
            mismatch for text in self._reasons if (mismatch := MISMATCH.match(text)) and mismatch[1] == name
        ]

    @cached_property
    def _first_sizes(self) -> Mapping[str, tuple[int | None, ...]]:
        """Source → sizes in the first compilation; empty if the log has no guards of it."""
        return tensor_sizes(self._compilations[0]) if self._compilations else {}

    @cached_property
    def _dynamic_dims(self) -> dict[str, set[tuple[str, int]]]:
        """Compilation → dimensions that are static in the first compilation and dynamic in this compilation."""
        return {
            compilation.id: {*_newly_dynamic(self._first_sizes, tensor_sizes(compilation))}
            for compilation in self._compilations
        }

    @cached_property
    def _marks(self) -> set[tuple[str, int]]:
        return {place for places in self._dynamic_dims.values() for place in places}

    @cached_property
    def _specialized_sizes(self) -> tuple[int, ...]:
        """Sizes 0 and 1, if the dimension had them."""
        seen = {int(size) for match in self._mismatches if int(match[2]) == self._index for size in match.group(3, 4)}
        return tuple(sorted(seen & SPECIALIZED))

    def refused(self) -> SizeAdvice | None:
        """Return what to advise if no mark avoids the recompile; None if a mark may avoid it."""
        if self._follows_parameter():
            return SizeAdvice(why="parameter")
        if self._dynamic is False:
            return SizeAdvice(why="static")
        if not self._source:
            nothing_left = bool(self._specialized_sizes) and len(self._mismatches) <= len(self._specialized_sizes)
            dynamic = self._dynamic is not True and not nothing_left
            return SizeAdvice(
                (), dynamic, why="specialized" if nothing_left else "unknown", special=self._specialized_sizes
            )
        if any(mark in self._source for mark in OF_MODULE):
            return SizeAdvice(why="module")
        first = self._first_sizes[self._source][self._index]
        # Sizes 0 and 1 need their own graphs; one graph with a symbol serves all other sizes.
        if self._specialized_sizes and (first in SPECIALIZED or len(self._mismatches) <= len(self._specialized_sizes)):
            return SizeAdvice(why="specialized", special=self._specialized_sizes)
        if (self._source, self._index) not in self._marks:
            return SizeAdvice(why="constant", place=self._constant_at())
        return None

    def _follows_parameter(self) -> bool:
        """Return True if the size is one of a parameter, or varies and equals one in each compilation."""
        if OF_MODULE[0] in self._source:
            return True
        sizes = [tensor_sizes(compilation) for compilation in self._compilations]
        own = [each[self._source][self._index] for each in sizes if self._source in each]
        if len(own) < len(sizes) or None in own or len(set(own)) < 2:
            return False
        parameters = [source for source in self._first_sizes if OF_MODULE[0] in source]
        places = [(source, index) for source in parameters for index in range(len(self._first_sizes[source]))]
        return any([each.get(source, ())[index : index + 1] for each in sizes] == [(size,) for size in own]
                   for source, index in places)  # fmt: skip

    def _constant_at(self) -> Place | None:
        """Return the line that specialized the size, outside of Dynamo's own; None if torch did not log it."""
        wanted = f"{self._source}.size()[{self._index}]"
        specializations = self._recompiled.specializations if self._recompiled else ()
        stacks = [each.stack for each in specializations if wanted in each.sources and each.stack]
        lines = [place for place in stacks[0] if POLYFILLS not in place.file] if stacks else []
        return lines[-1] if lines else None

    def advice(self) -> SizeAdvice:
        """Return the marks and options that avoid the recompile."""
        marks = tuple(InputDimension(local_names(source), index) for source, index in self._ordered_dims())
        dynamic = self._dynamic is not True and not self._equal_by_coincidence()
        number, satisfied = self._tied_number(), self._first_call_satisfies()
        is_array = any(mark.tensor.startswith(OF_NUMPY) for mark in marks)
        by_marks: dict[bool | None, Why] = {True: "", False: "branch", None: "unknown"}
        why: Why = "array" if is_array else "number" if number else by_marks[satisfied]
        if not why and is_called_inside(self._compilations[0]):
            why = "inner"
        if why == "branch":
            return SizeAdvice(why=why)
        once = all(self._is_avoided(text) for text in self._reasons) and why != "unknown"
        return SizeAdvice(() if why else marks, dynamic, once, why, self._specialized_sizes, number)

    def _ordered_dims(self) -> Iterator[tuple[str, int]]:
        """Yield the dimension that torch named, then other marked ones, not 0 or 1 at first."""
        yield self._source, self._index
        for source, sizes in sorted(self._first_sizes.items()):
            for index, size in enumerate(sizes):
                if (source, index) in self._marks - {(self._source, self._index)} and size not in SPECIALIZED:
                    yield source, index

    def _equal_by_coincidence(self) -> bool:
        """Return True if `dynamic=True` would use one symbol for sizes that are equal in the first call only."""
        of = {
            (source, index): size
            for source, sizes in self._first_sizes.items()
            if not any(mark in source for mark in OF_MODULE)
            for index, size in enumerate(sizes)
        }
        pairs = ((mark, place) for mark in self._marks for place, size in of.items() if of.get(mark) == size)
        later = {symbol.source: symbol.value for symbol in (self._widest.symbols if self._widest else ())}
        named = [(f"{mark[0]}.size()[{mark[1]}]", f"{place[0]}.size()[{place[1]}]", place) for mark, place in pairs]
        return any(
            place not in self._marks or later.get(marked_size) != later.get(other_size)
            for marked_size, other_size, place in named
        )

    @property
    def _widest(self) -> Compilation | None:
        """Newest compilation with the most dynamic dimensions."""
        return max(
            reversed(self._compilations), key=lambda compilation: len(self._dynamic_dims[compilation.id]), default=None
        )

    def _tied_number(self) -> str:
        """Return a Python number that torch made symbolic together with a size; empty without one."""
        widest = self._widest
        symbols = widest.symbols if widest else ()
        numbers = [
            symbol.source
            for symbol in symbols
            if symbol.source and not any(mark in symbol.source for mark in OF_SHAPES)
        ]
        texts = shape_guards(widest) if widest else ()
        return next((local_names(name) for name in numbers if any(name in text for text in texts)), "")

    def _first_call_satisfies(self) -> bool | None:
        """Return True if the first call meets a dynamic compilation's guards; None if unknown."""
        values = size_values(self._compilations[0])
        fully_dynamic = [
            compilation for compilation in self._compilations if self._dynamic_dims[compilation.id] == self._marks
        ]
        judged = [[holds(text, values) for text in shape_guards(compilation)] for compilation in fully_dynamic]
        if any(all(outcomes) for outcomes in judged):
            return True
        return None if not judged or any(None in outcomes and False not in outcomes for outcomes in judged) else False

    def _is_avoided(self, text: str) -> bool:
        """Return True if the marks avoid a recompile's reason, or if it is not about shapes."""
        match = MISMATCH.match(text)
        if match is None:
            return not any(mark in text for mark in OF_SHAPES)
        open_names = {(local_names(source), index) for source, index in self._marks}
        return (match[1], int(match[2])) in open_names


def _newly_dynamic(
    first: Mapping[str, tuple[int | None, ...]], later: Mapping[str, tuple[int | None, ...]]
) -> Iterator[tuple[str, int]]:
    for source, sizes in first.items():
        for index, pair in enumerate(zip(sizes, later.get(source, ()), strict=False)):
            if pair[0] is not None and pair[1] is None:
                yield source, index


def tensor_sizes(compilation: Compilation) -> dict[str, tuple[int | None, ...]]:
    """Return source → sizes of each tensor that a compilation guards; a dynamic size is None."""
    return {source: sizes["size"] for source, sizes in _guarded_tensors(compilation) if "size" in sizes}


def size_values(compilation: Compilation) -> dict[str, int]:
    """Return guard expression → value, for the sizes, strides and numbers of a compilation."""
    values = {
        f"{source}.{kind}()[{index}]": size
        for source, sizes in _guarded_tensors(compilation)
        for kind, listed in sizes.items()
        for index, size in enumerate(listed)
        if size is not None
    }
    for guard in compilation.guards:
        number = NUMBER.match(guard.expression)
        if number:
            values[number[1]] = int(number[2])
    return values


def shape_guards(compilation: Compilation) -> tuple[str, ...]:
    """Return the conditions on sizes, strides and offsets of a compilation, without torch's comments."""
    lines = (line for guard in compilation.guards for line in guard.expression.split("\n"))
    return tuple(line.partition("  #")[0].strip() for line in lines if _is_of_shapes(line))


def holds(condition: str, values: Mapping[str, int]) -> bool | None:
    """Return True if a condition holds for known sizes; None if the sizes do not decide the condition."""
    try:
        return bool(integer(expression(condition), values))
    except (*NOT_READ, LookupError, ZeroDivisionError, OverflowError):
        return None


def _is_of_shapes(line: str) -> bool:
    return any(mark in line for mark in OF_SHAPES) and not line.startswith("check_tensor(")


def _guarded_tensors(compilation: Compilation) -> Iterator[tuple[str, dict[str, tuple[int | None, ...]]]]:
    for guard in compilation.guards:
        if guard.kind == "TENSOR_MATCH":
            yield guard.source, {kind: _numbers(listed) for kind, listed in LISTED.findall(guard.expression)}


def _numbers(listed: str) -> tuple[int | None, ...]:
    return tuple(int(size) if size.strip().isdecimal() else None for size in listed.split(",") if size.strip())
