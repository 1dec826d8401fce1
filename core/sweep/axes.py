"""Axes as text: `backend=eager,inductor`, `inputs.0.0=1,2,4,…,512`, `calls=f32[8] | f32[16]; f32[8]`.

Values are separated by commas, or by `|` if the text contains one or if values contain commas (`calls`). The calls or
marks within a value are separated by `;`. An ellipsis continues the numbers before it, with equal differences or
ratios.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from core.base.errors import JobError
from core.base.words import number
from core.job import BATCH, CompileJob, OptionValue, options_from_text
from core.job.arguments import short
from core.job.options import AXES
from core.job.text import Reader, whole
from core.sweep.model import DYNAMO, INPUTS, MAX_AXES, MAX_VALUES, OPTIONS, Axis, applied, check_axes, is_field

ELLIPSIS = ("…", "...")
MAX_AXIS_CHARS = 20_000


def parse_axes(lines: Sequence[str]) -> tuple[Axis, ...]:
    """Parse one axis per line; raises JobError that names the invalid axis."""
    if len(lines) > MAX_AXES:
        raise JobError("axes", f"{number(len(lines))} lines are more than the {number(MAX_AXES)} axes of a sweep")
    return tuple(map(parse_axis, lines))


def parse_axis(text: str) -> Axis:
    """Parse the axis of a line; raises JobError that names it."""
    field, separator, listed = short(text, MAX_AXIS_CHARS, "axis").partition("=")
    field = field.strip()
    if not separator or not is_field(field) or field == "variant":
        raise JobError(
            f"axis {field[:60]}", "write it as FIELD=VALUE,VALUE,… with a field of the job that can be swept"
        )
    words = _split(field, listed)
    try:
        values = tuple(map(_reader(field), _at_most_values(_expand_ellipses(words))))
    except ValueError as error:
        raise JobError(f"axis {field[:60]}", str(error)) from None
    return Axis(field, values)


def changed(job: CompileJob, lines: Sequence[str]) -> CompileJob:
    """Return the job with the field of each line set to its single value; raises JobError that names the axis.

    Inductor options replace the job's mode, and a mode replaces its options: torch accepts only one of them.
    """
    axes = parse_axes(lines)
    check_axes(axes)
    for axis in axes:
        if len(axis.values) > 1:
            raise JobError(f"axis {axis.field[:60]}", "give it one value here; a sweep takes several")
        job = _with_room(job, axis)
    for axis in axes:
        job = applied(job, axis.field, axis.values[0])
    return job


def _with_room(job: CompileJob, axis: Axis) -> CompileJob:
    if axis.field.startswith(OPTIONS):
        return job.with_settings(mode=None)
    takes_place = axis.field == "mode" and axis.values[0] is not None
    return job.with_settings(options=None) if takes_place else job


def _split(field: str, listed: str) -> list[str]:
    bar = "|" in listed or field == "calls"
    return [word.strip() for word in listed.split("|" if bar else ",")]


def _reader(field: str) -> Reader:
    """Return the function that converts a text to a value of the field; the function raises ValueError."""
    if field == BATCH or field.startswith(INPUTS):
        return whole
    if field.startswith((OPTIONS, DYNAMO)):
        return _option
    return AXES[field].read if field in AXES else str


def _option(word: str) -> OptionValue:
    """Return an option value: as `options_from_text` reads it, or None for "None"."""
    if word == "None":
        return None
    values = list((options_from_text(f"value={word}") or {}).values())
    if len(values) != 1 or not isinstance(values[0], OptionValue):
        raise ValueError(f"`{word[:60]}`: an option is a number, a text, true, false or null")
    return values[0]


def _at_most_values(words: Iterator[str]) -> list[str]:
    """Return the values; raises ValueError if there are too many, since ellipses could expand to millions."""
    values = list(itertools.islice(words, MAX_VALUES + 1))
    if len(values) > MAX_VALUES:
        raise ValueError(f"more than {number(MAX_VALUES)} values")
    return values


def _expand_ellipses(words: list[str]) -> Iterator[str]:
    """Yield the values with ellipses expanded."""
    for place, word in enumerate(words):
        if word in ELLIPSIS:
            yield from map(str, _between(words, place))
        else:
            yield word


def _between(words: list[str], place: int) -> list[int]:
    """Return the numbers that an ellipsis stands for, from the numbers before it and the number after it."""
    before, after = words[max(0, place - 3) : place], words[place + 1 : place + 2]
    if not after or len(before) < 2:
        raise ValueError("an ellipsis goes on from two numbers or more before it to one after it")
    *numbers, last = map(whole, [*before, *after])
    continued = _steps(numbers, last)
    if continued is None:
        raise ValueError(f"{', '.join(before)} do not go on to {after[0]} by steps of the same size or ratio")
    return continued


def _steps(numbers: list[int], last: int) -> list[int] | None:
    """Return the numbers with equal differences, otherwise with equal ratios; None if neither reaches the last one."""
    gaps = {later - earlier for earlier, later in itertools.pairwise(numbers)}
    ratios = {Fraction(later, earlier) for earlier, later in itertools.pairwise(numbers) if earlier}
    if len(gaps) == 1:
        return _steps_between(numbers[-1], last, lambda value: value + next(iter(gaps)))
    if len(ratios) == 1 and 0 not in numbers:
        return _steps_between(numbers[-1], last, lambda value: value * next(iter(ratios)))
    return None


def _steps_between(value: int, last: int, step: Callable[[Fraction], Fraction]) -> list[int] | None:
    """Return the values between `value` and `last`; None if the steps don't reach `last` exactly."""
    values: list[int] = []
    current = step(Fraction(value))
    upwards = current > value
    while current != last:
        if current.denominator != 1 or (current > last) == upwards or len(values) > MAX_VALUES or current == value:
            return None
        values.append(int(current))
        current = step(current)
    return values
