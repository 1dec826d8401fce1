"""Sweep model: a job that is varied along axes; each combination is a cell, which is an ordinary run.

An axis changes a field of the job. The fields are the options whose rows in `core/job/options/` have
`axis`, and:

| field | changed value |
|---|---|
| `options.NAME`, `dynamo.NAME` | an Inductor option, a setting of `torch._dynamo.config` |
| `inputs.A.D`, `batch` | the size of dimension D of input A, the batch size |
| `code` | the model: a sample's name, a file on the server, or pasted code |
| `rival` | the configuration that is timed against the job's own, in one process |
| `repair.ID` | the model's code, by a repair of `core.analysis.repairs` in a step of its own |
| `variant` | several of these fields at once |

Axes as text: `backend=eager,inductor`, `inputs.0.0=1,2,4,…,512`, `calls=f32[8] | f32[16]; f32[8]`.

Values are separated by commas. The separator is `|` if the text contains `|`, and for the field `calls`,
because calls contain commas. Within a value, calls or marks are separated by `;`. An ellipsis continues the
numbers before it, with equal differences or ratios.
"""

import difflib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from core.base.decoder import converted
from core.base.errors import DecodeError, JobError
from core.base.words import count, number
from core.job import BATCH, CompileJob, Model, OptionValue, backend_of, options_from_text, validated
from core.job.arguments import short
from core.job.options import AXES, with_values
from core.job.prepared import model_code
from core.job.text import DYNAMIC, Reader, compile_options_from_text, whole
from core.runs.people import ReachedLimit
from core.runs.status import Handle, Seconds

MAX_AXES = 8  #: limit: axes of a sweep
MAX_VALUES = 500  #: limit: values of an axis
MAX_CELLS = 2_000  #: limit: cells of a sweep, a run each
FieldValue = OptionValue | tuple[str, ...]
AxisValue = FieldValue | dict[str, FieldValue]
BACKEND = "backend"
TRAINING = "training"
OPTIONS, DYNAMO, INPUTS, CODE, VARIANT, RIVAL = "options.", "dynamo.", "inputs.", "code", "variant", "rival"
REPAIR = "repair."
ELLIPSIS = ("…", "...")
MAX_AXIS_CHARS = 20_000  #: limit: an axis of a sweep, as text


@dataclass(frozen=True, slots=True)
class Axis:
    """A field of the job and its values; without `labels`, the values have default labels.

    `field` has the syntax of `core.sweep.model`: `backend`, `inputs.0.0`, `options.max_autotune`. In a `variant`
    each value sets several fields at once.
    """

    field: str
    values: tuple[AxisValue, ...]
    labels: tuple[str, ...] = ()

    def named(self) -> tuple[str, ...]:
        """Return the label of each value."""
        return self.labels or tuple(label_of(self.field, value) for value in self.values)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A question that is answered by many runs.

    `preset` is the name of a predefined question. `runs` has the run ids in the order of `cells`, empty for a
    cell without a run. `code` is a digest of the measured code, `torch` is the torch version. `handle` identifies
    the server that executes the cells, empty if no server does. `reason` is why the sweep stopped early. `waits`
    is the limit that the next cell waits for, None without a limit. A sweep whose preset adds cells stops its
    search once its runs have taken `budget_s`; None without such a limit. `pool` has the label and value of each cell
    that such a search may add first. `audience` is who may see the sweep, empty if its author did not choose.
    """

    id: str
    title: str
    base: CompileJob
    axes: tuple[Axis, ...]
    preset: str = ""
    created_s: Seconds = 0.0
    by: str = ""
    runs: tuple[str, ...] = ()
    code: str = ""
    torch: str = ""
    reason: str = ""
    waits: ReachedLimit | None = None
    handle: Handle = ""
    audience: str = ""
    budget_s: Seconds | None = None
    pool: dict[str, AxisValue] = field(default_factory=dict)

    def limited(self, budget_s: float) -> "Sweep":
        """Return the sweep of a search with a time limit: the first cell, and the others as its pool."""
        [axis] = self.axes
        first, *others = zip(axis.named(), axis.values, strict=True)
        return replace(self, axes=(Axis(axis.field, (first[1],), (first[0],)),), pool=dict(others), budget_s=budget_s)

    def whole(self) -> "Sweep":
        """Return the sweep with all cells of its pool."""
        new = {label: value for label, value in self.pool.items() if label not in self.axes[0].named()}
        axis = Axis(self.axes[0].field, (*self.axes[0].values, *new.values()), (*self.axes[0].named(), *new))
        return replace(self, axes=(axis,)) if new else self


@dataclass(frozen=True, slots=True)
class SweepCell:
    """A combination: the label and value of each axis, and the resulting job."""

    index: int
    at: tuple[str, ...]
    values: tuple[AxisValue, ...] = field(repr=False)
    job: CompileJob = field(repr=False)

    @property
    def title(self) -> str:
        """Return the labels of the cell, separated by commas."""
        return ", ".join(self.at)


def cells(sweep: Sweep) -> tuple[SweepCell, ...]:
    """Return all combinations; the last axis varies fastest.

    Raises JobError that names the faulty axis or cell.
    """
    check_axes(sweep.axes)
    return tuple(_cells(sweep))


def check_axes(axes: tuple[Axis, ...]) -> None:
    """Raise JobError for an invalid axis, a repeated field, no axes, or too many axes or cells."""
    if not 1 <= len(axes) <= MAX_AXES:
        raise JobError("axes", f"a sweep has from 1 to {number(MAX_AXES)} axes, and this one has {number(len(axes))}")
    total = 1
    for place, axis in enumerate(axes):
        _check_axis(axis)
        if axis.field in {earlier.field for earlier in axes[:place]}:
            raise JobError(f"axis {axis.field}", "it is given twice")
        total *= len(axis.values)
    if total > MAX_CELLS:
        raise JobError("axes", f"they make {count(total, 'cell')}, more than {number(MAX_CELLS)}")


def check_backends(base: CompileJob, axes: tuple[Axis, ...], available: tuple[str, ...]) -> None:
    """Raise JobError if a backend of an axis is neither available, nor a file, nor in the job's code."""
    named = [value for axis in axes if axis.field == BACKEND for value in axis.values if isinstance(value, str)]
    unknown = [name for name in named if name not in available and ".py" not in name]
    if not unknown or not available:
        return
    code = model_code(base) + base.compile.backend_code
    for name in unknown:
        if name not in code:
            close = difflib.get_close_matches(name[:60], available, 2, 0.5)
            hint = f"did you mean {' or '.join(close)}? " if close else ""
            words = (
                f"`{name[:60]}` is no backend here; {hint}There are {', '.join(available)}. Your own is FILE.py:NAME"
            )
            raise JobError(f"axis {BACKEND}", words)


def _check_axis(axis: Axis) -> None:
    where = f"axis {axis.field[:60]}"
    if not 1 <= len(axis.values) <= MAX_VALUES:
        raise JobError(where, f"from 1 to {number(MAX_VALUES)} values, and not {number(len(axis.values))}")
    if axis.labels and len(axis.labels) != len(axis.values):
        raise JobError(where, f"{count(len(axis.labels), 'label')} for {count(len(axis.values), 'value')}")
    named = axis.named()
    twice = next((name for place, name in enumerate(named) if name in named[:place]), None)
    if twice is not None:
        raise JobError(where, f"`{twice[:60]}` is there twice")


def labels(sweep: Sweep) -> tuple[tuple[str, ...], ...]:
    """Return the labels of each cell, in cell order."""
    return tuple(itertools.product(*(axis.named() for axis in sweep.axes)))


def _cells(sweep: Sweep) -> Iterator[SweepCell]:
    named = [list(zip(axis.named(), axis.values, strict=True)) for axis in sweep.axes]
    for index, point in enumerate(itertools.product(*named)):
        job = replace(sweep.base, sweep=sweep.id)
        for axis, (_, value) in zip(sweep.axes, point, strict=True):
            job = applied(job, axis.field, value)
        at = tuple(name for name, _ in point)
        yield SweepCell(index, at, tuple(value for _, value in point), _validate(sweep, at, job))


def _validate(sweep: Sweep, at: tuple[str, ...], job: CompileJob) -> CompileJob:
    try:
        return validated(job)
    except JobError as error:
        where = ", ".join(f"{axis.field}={name[:60]}" for axis, name in zip(sweep.axes, at, strict=True))
        is_named = error.field.rpartition(".")[2] in {axis.field for axis in sweep.axes}
        raise JobError(f"cell {where}", error.message if is_named else str(error)) from None


def applied(job: CompileJob, field: str, value: Any) -> CompileJob:
    """Return the job with a changed field; raises JobError that names the axis."""
    try:
        changed = _changer(field)(job, field, value)
        return converted(msgspec.to_builtins(changed), CompileJob)
    except DecodeError as error:
        flag = AXES[field].flag if field in AXES else None
        problem = f" is none of {', '.join(flag.choices)}" if flag and flag.choices else f": {error}"
        raise JobError(f"axis {field[:60]}", f"`{str(value)[:60]}`{problem}") from None


def is_field(field: str) -> bool:
    """Return True if `field` is a field of the job that an axis can change."""
    return field in (*AXES, BATCH, CODE, VARIANT, RIVAL) or any(
        field.startswith(prefix) and field != prefix for prefix in (OPTIONS, DYNAMO, INPUTS, REPAIR)
    )


def label_of(field: str, value: Any) -> str:
    """Return the default label of a field's value."""
    if field == "dynamic":
        return next((name for name, setting in DYNAMIC.items() if setting is value), str(value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={label_of(name, part)}" for name, part in value.items())
    if isinstance(value, (tuple, list)):
        return "; ".join(map(str, value)) or "none"
    if field == CODE or (field == BACKEND and ".py" in str(value)):
        return _code_label(str(value))
    return "none" if value == "" else str(value)


def _code_label(value: str) -> str:
    """Return a sample's name, a file's name with the callable, or the first line of code."""
    first = value.strip().splitlines()[0] if value.strip() else "none"
    return first[:60] if "\n" in value else first.rsplit("/", 1)[-1][:60]


def model_of(value: str) -> Model:
    """Return the model of a `code` value: several lines of code, the path of a file, or a sample's name."""
    if "\n" in value:
        return Model("code", value)
    path, _, name = value.rpartition(":") if ".py:" in value else (value, "", "model")
    return Model("file", str(Path(path).resolve()), name or "model") if path.endswith(".py") else Model("sample", value)


def _changer(field: str) -> Callable[[CompileJob, str, Any], CompileJob]:
    if not is_field(field):
        raise JobError(f"axis {field[:60]}", "a job has no such field that a sweep could change")
    if field.startswith(OPTIONS):
        return _inductor
    if field.startswith(DYNAMO):
        return _dynamo
    if field.startswith(REPAIR):
        return _repair
    changer = {BACKEND: _backend, TRAINING: _training, CODE: _code, VARIANT: _variant, RIVAL: _rival}.get(field)
    return changer or (_value if field in AXES else _sizes)


def _value(job: CompileJob, field: str, value: Any) -> CompileJob:
    return with_values(job, {AXES[field].path: value})


def _backend(job: CompileJob, field: str, value: Any) -> CompileJob:
    """Return the job with another backend, and with its code if the value names a file.

    Otherwise the job keeps its own backend code.
    """
    name, code = backend_of(value) if isinstance(value, str) else (value, "")
    return job.with_settings(backend=name, backend_code=code or job.compile.backend_code)


def _inductor(job: CompileJob, field: str, value: Any) -> CompileJob:
    return job.with_settings(options={**(job.compile.options or {}), field.removeprefix(OPTIONS): value})


def _training(job: CompileJob, _: str, value: Any) -> CompileJob:
    """Return the job with training on, off, or as in the file."""
    chosen = job.with_settings(training=value)
    return chosen if value is not None else chosen.leaving_to_file("training", *chosen.as_file_says())


def _dynamo(job: CompileJob, field: str, value: Any) -> CompileJob:
    return with_values(job, {"conditions.dynamo": {**(job.conditions.dynamo or {}), field.removeprefix(DYNAMO): value}})


def _repair(job: CompileJob, field: str, value: Any) -> CompileJob:
    steps = ((field.removeprefix(REPAIR),),) if value else ()
    return replace(job, repairs=(*job.repairs, *steps))


def _sizes(job: CompileJob, field: str, value: Any) -> CompileJob:
    return replace(job, sizes={**job.sizes, field.removeprefix(INPUTS): value})


def _code(job: CompileJob, field: str, value: Any) -> CompileJob:
    named = model_of(str(value))
    return replace(job, model=replace(named, name=job.model.name) if named.kind == "code" else named)


def _rival(job: CompileJob, field: str, value: Any) -> CompileJob:
    """Return the job with another configuration to time against its own; with none for an empty text."""
    return replace(job, rival=compile_options_from_text(str(value), field) if value else None)


def _variant(job: CompileJob, field: str, value: Any) -> CompileJob:
    if not isinstance(value, Mapping):
        raise JobError(f"axis {field}", "a variant sets fields by name")
    for name, setting in value.items():
        if name == VARIANT:
            raise JobError(f"axis {field}", "a variant holds no variants")
        job = applied(job, name, setting)
    return job


def parse_axes(lines: Sequence[str]) -> tuple[Axis, ...]:
    """Parse one axis per line; raises JobError that names the invalid axis."""
    if len(lines) > MAX_AXES:
        raise JobError("axes", f"{number(len(lines))} lines are more than the {number(MAX_AXES)} axes of a sweep")
    return tuple(map(parse_axis, lines))


def parse_axis(text: str) -> Axis:
    """Parse the text of one axis; raises JobError that names the axis."""
    field, separator, listed = short(text, MAX_AXIS_CHARS, "axis").partition("=")
    field = field.strip()
    if not separator or not is_field(field) or field == "variant":
        raise JobError(f"axis {field[:60]}", _axis_hint(field, separator))
    words = _split(field, listed)
    try:
        values = tuple(map(_reader(field), _at_most_values(_expand_ellipses(words))))
    except ValueError as error:
        raise JobError(f"axis {field[:60]}", str(error)) from None
    return Axis(field, values)


def _axis_hint(field: str, separator: str) -> str:
    """Return how to write an axis, with the fields that it can change."""
    fields = sorted({*AXES, BATCH, CODE})
    if not separator:
        return "write it as FIELD=VALUE,VALUE,…"
    close = difflib.get_close_matches(field[:60], fields, 2, 0.6)
    hint = f" (did you mean {' or '.join(close)}?)" if close else ""
    prefixed = ", ".join(f"{prefix}NAME" for prefix in (OPTIONS, DYNAMO, INPUTS))
    return f"no field of the job is called so{hint}; there are {', '.join(fields)}, {prefixed}"


def changed(job: CompileJob, lines: Sequence[str]) -> CompileJob:
    """Return the job with the changes in `lines`; raises JobError that names the axis.

    Each line is an axis with a single value, such as `mode=max-autotune`. Inductor options remove the job's mode,
    and a mode removes the job's options, since torch accepts only one of the two.
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
    """Return the option value in a text, None for "None"; raises ValueError for other types of values."""
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
    """Return the numbers that an ellipsis replaces; raises ValueError without equal differences or ratios.

    The result continues the two or three numbers before the ellipsis up to the number after the ellipsis.
    """
    before, after = words[max(0, place - 3) : place], words[place + 1 : place + 2]
    if not after or len(before) < 2:
        raise ValueError("an ellipsis goes on from two numbers or more before it to one after it")
    *numbers, last = map(whole, [*before, *after])
    continued = _steps(numbers, last)
    if continued is None:
        raise ValueError(f"{', '.join(before)} do not go on to {after[0]} by steps of the same size or ratio")
    return continued


def _steps(numbers: list[int], last: int) -> list[int] | None:
    """Return the numbers between `numbers` and `last`, with equal differences, otherwise equal ratios.

    None if `numbers` has neither, or if the steps do not reach `last` exactly.
    """
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
