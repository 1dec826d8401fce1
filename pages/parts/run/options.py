"""Form of a job's options: the parameters of `torch.compile`, folded below the call as code, then the conditions.

Widgets of a job's form: one per option, by the kind of its field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core import (
    GIB,
    SHIPPED_BACKENDS,
    TARGETS,
    CompileJob,
    Environment,
    FileSettings,
    Limits,
    Model,
    file_settings,
    options_as_text,
    options_from_text,
)
from core.base import words as fmt
from core.job.options import OPTIONS, ChoiceField, FormField, NumberField, Option, SwitchField, TextField, with_values
from pages.gate.visitor import may_bring_code
from pages.look.sizes import MAX_CHARS
from pages.look.text import one_line, plain
from pages.parts.run.fields import AS_FILE, LEAST_GIB, OWN, Form
from pages.parts.run.own_backend import BackendChoice, chosen_backend, of_a_job
from pages.session.actions import attempt, passed_over
from pages.session.state import held

# Minimum width of a field in a row; fields that do not fit side by side wrap.
ROW_PX = 560
DOCS = "https://docs.pytorch.org/docs/stable/generated/torch.compile.html"
SHIPPED_WORDS = (
    "Examples that ship: " + "; ".join(f"`{one.name}` {one.words}" for one in SHIPPED_BACKENDS.values()) + "."
)
BACKEND_HELP = (
    "Which compiler gets the FX graph. `inductor` generates kernels; `aot_eager` stops after AOTAutograd; "
    f"`eager` after Dynamo. {SHIPPED_WORDS} [torch.compile]({DOCS})"
)
DEVICE_HELP = (
    "A device of this machine, on which the compiled model runs; or one that need not be here: then the "
    "code is generated and compiled down to machine code, and not run."
)
NONE = "none"
OPTIONS_HELP = (
    "Inductor options as `torch.compile(options={…})` takes them: name=value, separated by commas. Not together with a "
    f"mode. Empty: as the file says; `{NONE}`: none of them, whatever it says."
)
SWITCH = {"on": True, "off": False}


def job_options(
    model: Model, environment: Environment | None, start: CompileJob, limits: Limits, again: str
) -> CompileJob:
    """Draw the options of `torch.compile` and of the run, initially a job's; return the new job.

    `again` is the run that the job comes from, if any. Raises JobError.
    """
    key = f"options-{model.kind}-{model.value if model.kind == 'sample' else ''}{again and f'-{again}'}"
    said = attempt(lambda: file_settings(model), passed_over) if model.value else None
    form = Form(environment or Environment(), start, limits, may_bring_code(), said or FileSettings())
    _say_unread(form.file)
    with st.expander(_call_line(key, form), icon=":material/tune:"):
        drawn = _drawn(key, form, CALL)
    backend = chosen_backend(drawn["backend"], start, key)
    with st.expander(_conditions_line(key, form, model), icon=":material/science:"):
        drawn |= _drawn(key, form, CONDITIONS)
    return with_values(
        CompileJob(model), {**_values(CALL, drawn), **_backend(backend, drawn), **_values(CONDITIONS, drawn)}
    )


def _say_unread(settings: FileSettings) -> None:
    for name in settings.unread:
        st.caption(f"`{name}` in the file is no literal, so it is not read: choose it here.")


def _call_line(key: str, form: Form) -> str:
    """Return the `torch.compile` call from the widgets' current values; the widgets are drawn below this line."""
    held_now = _held(key, form, CALL)
    backend = _backend(of_a_job(held_now["backend"], form.start, key), held_now)
    model = CompileJob(form.start.model)
    job = attempt(lambda: with_values(model, {**_values(CALL, held_now), **backend}), passed_over) or form.start
    said = {name: value for name, value in form.file.values.items() if name in job.as_file_says()}
    options = job.with_settings(**said).compile
    return f"`{one_line(options.as_call()).replace('`', '')}`"


def _conditions_line(key: str, form: Form, model: Model) -> str:
    """Return a line with the conditions that differ from torch's defaults."""
    held_now = _held(key, form, CONDITIONS)
    job = attempt(lambda: with_values(CompileJob(model), _values(CONDITIONS, held_now)), passed_over)
    told = _words(job) if job else ""
    return f"Conditions: {plain(told)}" if told else "Conditions"


def _held(key: str, form: Form, rows: Rows) -> dict[str, Any]:
    return {field.name: held(f"{key}-{field.name}", field.first(form)) for row in rows for field in row}


def _drawn(key: str, form: Form, rows: Rows) -> dict[str, Any]:
    """Draw the fields, and return their values by name."""
    values: dict[str, Any] = {}
    for row in rows:
        at = st.grid(min_column_width=ROW_PX // len(row), vertical_alignment="bottom") if len(row) > 1 else st
        values |= {field.name: field.draw(at, form, field.first(form), f"{key}-{field.name}") for field in row}
    return values


def _values(rows: Rows, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job's values by path; raises JobError."""
    fields = (field for row in rows for field in row)
    return {path: value for field in fields for path, value in field.values(drawn[field.name]).items()}


def _backend(backend: BackendChoice, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a backend and its code; without the name if the model's file decides."""
    named = {} if drawn["backend"] == AS_FILE else {"compile.backend": backend.name}
    return {**named, "compile.backend_code": backend.code}


def _words(job: CompileJob) -> str:
    """Return the conditions that differ from a default job's, in words; empty if none do."""
    measured = [*(["memory"] if job.memory else []), *([f"{job.numerics} against float64"] if job.numerics else [])]
    return "; ".join([*job.differences(), *measured])


@dataclass(frozen=True, slots=True)
class Field:
    """A widget of the form: the end of its key, its initial value, and its draw function.

    `values` converts the widget's value to the job's values by path; empty if the model's file decides. It raises
    JobError.
    """

    name: str
    first: Callable[[Form], Any]
    draw: Callable[[Any, Form, Any, str], Any]
    values: Callable[[Any], dict[str, Any]]


def rows(section: str, options: Sequence[Option] = OPTIONS) -> tuple[tuple[Field, ...], ...]:
    """Return the fields of a section of the form, row by row."""
    placed = sorted(
        ((option.form.at, option) for option in options if option.form and option.form.at[0] == section),
        key=lambda pair: pair[0],
    )
    lines = dict.fromkeys(row for (_, row, _), _ in placed)
    return tuple(tuple(field_of(option) for (_, at, _), option in placed if at == row) for row in lines)


def field_of(option: Option) -> Field:
    """Return the widget of an option with a form field."""
    form = option.form
    match form:
        case NumberField():
            return _number(option, form)
        case ChoiceField():
            return _choice(option, form)
        case SwitchField():
            return _switch(option, form)
        case TextField():
            return _text(option, form)
        case _:
            return CUSTOM[option.name](option, form or FormField())


def device_words(choice: str, names: Mapping[str, str]) -> str:
    """Return the display name of a device of this machine, or of a target."""
    if choice in TARGETS:
        return f"{TARGETS[choice].title} (not run)"
    return f"{choice} · {names[choice]}" if names.get(choice) else choice


def _number(option: Option, form: NumberField) -> Field:
    bounds, said = (form.least, form.most), {"help": form.help or None, "placeholder": form.example or None}

    def draw(at: Any, _: Form, value: int | None, key: str) -> Any:
        return at.number_input(form.label or option.name, *bounds, value, key=key, **said)

    return Field(
        form.key or option.name, lambda start: option.of(start.start), draw, lambda value: {option.path: value}
    )


def _choice(option: Option, form: ChoiceField) -> Field:
    return _select(
        option,
        form,
        lambda _: list(form.values),
        lambda start: form.word(option.of(start.start)),
        lambda value: {option.path: form.values.get(value, value)},
        lambda word, _: form.shown.get(word, word),
        form.word,
    )


def _select(
    option: Option,
    form: FormField,
    choices: Callable[[Form], Sequence[str]],
    first: Callable[[Form], str],
    values: Callable[[str], dict[str, Any]],
    says: Callable[[str, Form], str] = lambda word, _: word,
    word: Callable[[Any], str] = str,
) -> Field:
    """Return a select field; `says` returns a choice's label.

    A setting of the model's file also has the choice of the file's value, whose label `word` returns.
    """

    def shown(choice: str, start: Form) -> str:
        if option.of_file and choice == AS_FILE:
            return f"{word(start.file.values.get(option.name, option.default))} (file)"
        return says(choice, start)

    def draw(at: Any, start: Form, value: str, key: str) -> Any:
        offered = [*([AS_FILE] if option.of_file else []), *choices(start)]
        index = offered.index(value) if value in offered else 0
        texts = {choice: shown(choice, start) for choice in offered}
        help_ = f"{form.help} *(file)*: {AS_FILE}." if option.of_file else form.help
        return at.selectbox(form.label or option.name, offered, index, texts.__getitem__, key=key, help=help_)

    def begins(start: Form) -> str:
        return AS_FILE if option.of_file and start.is_left(option.name) else first(start)

    return Field(form.key or option.name, begins, draw, lambda value: {} if value == AS_FILE else values(value))


def _switch(option: Option, form: SwitchField) -> Field:
    if option.of_file:
        return _select(
            option,
            form,
            lambda _: list(SWITCH),
            lambda start: _switch_word(option.of(start.start)),
            lambda value: {option.path: SWITCH.get(value, False)},
            word=_switch_word,
        )

    def draw(at: Any, _: Form, value: bool, key: str) -> Any:
        return at.toggle(form.label or option.name, value, key=key, help=form.help)

    return Field(
        form.key or option.name, lambda start: option.of(start.start), draw, lambda value: {option.path: value}
    )


def _switch_word(value: object) -> str:
    return "on" if value else "off"


def _text(option: Option, form: TextField) -> Field:
    def draw(at: Any, _: Form, value: str, key: str) -> Any:
        label, most = form.label or option.name, max(MAX_CHARS, len(value))
        if form.lines:
            said = {"placeholder": form.example, "help": form.help}
            return at.text_area(label, value, key=key, height=90, max_chars=most, **said)
        return at.text_input(label, value, key=key, placeholder=form.example, help=form.help, max_chars=most)

    return Field(
        form.key or option.name,
        lambda start: form.write(option.of(start.start)),
        draw,
        lambda value: {option.path: form.parse(value)},
    )


def _backend_widget(option: Option, form: FormField) -> Field:
    """Return the backend field, without values: the form adds them together with a custom backend's code."""
    return _select(
        option,
        FormField(at=form.at, help=BACKEND_HELP),
        lambda start: [*start.backends, *([OWN] if start.code else [])],
        lambda start: start.backend,
        lambda _: {},
    )


def _force_backend(option: Option, form: FormField) -> Field:
    return _select(
        option,
        form,
        lambda start: [NONE, *start.backends],
        lambda start: option.of(start.start) or NONE,
        lambda value: {option.path: "" if value == NONE else value},
    )


def _device(option: Option, form: FormField) -> Field:
    """Return the field for the device or target; with a target, the model itself runs on the CPU."""
    return _select(
        option,
        FormField(at=form.at, label="generate for", help=DEVICE_HELP),
        lambda start: [*start.devices, *TARGETS],
        lambda start: start.device,
        lambda value: {"device": "cpu", "target": value} if value in TARGETS else {"device": value, "target": ""},
        lambda choice, start: device_words(choice, start.devices),
    )


def _options(option: Option, form: FormField) -> Field:
    def first(start: Form) -> str:
        return "" if start.is_left("options") else options_as_text(option.of(start.start) or {}) or NONE

    def draw(at: Any, start: Form, value: str, key: str) -> Any:
        said = options_as_text(start.file.values.get("options") or {})
        example = f"{AS_FILE}: {said}" if said else "max_autotune=True, epilogue_fusion=False"
        return at.text_input("options", value, key=key, placeholder=example, help=OPTIONS_HELP, max_chars=MAX_CHARS)

    def values(value: str) -> dict[str, Any]:
        typed = value.strip()
        return {option.path: None if typed == NONE else options_from_text(typed)} if typed else {}

    return Field(form.key, first, draw, values)


def _time(option: Option, form: FormField) -> Field:
    def draw(at: Any, start: Form, value: int, key: str) -> Any:
        bound = _bound(start.limits.time_s, fmt.limit_s(start.most_s))
        return at.number_input("time limit (s)", 1, start.most_s, value, key=key, help=bound)

    return Field(
        form.key,
        lambda start: min(int(start.start.time_limit_s), start.most_s),
        draw,
        lambda value: {option.path: float(value)},
    )


def _memory(option: Option, form: FormField) -> Field:
    def draw(at: Any, start: Form, value: float, key: str) -> Any:
        bound = _bound(start.limits.memory_bytes, fmt.gib(start.most_gib * GIB))
        limits = LEAST_GIB, start.most_gib
        return at.number_input("memory limit (GiB)", *limits, value, step=0.5, format="%g", key=key, help=bound)

    return Field(
        form.key,
        lambda start: min(start.start.memory_limit_bytes / GIB, start.most_gib),
        draw,
        lambda value: {option.path: int(value * GIB)},
    )


def _bound(set_by_owner: float | None, most: str) -> str | None:
    """Return why the maximum is lower than usual; None if the server's owner has set no limit."""
    return f"At most {most}: the owner of this server gives no more to one run." if set_by_owner else None


# Options whose widgets depend on the server, the machine or the model's file.
CUSTOM: dict[str, Callable[[Option, FormField], Field]] = {
    "backend": _backend_widget,
    "force_backend": _force_backend,
    "device": _device,
    "options": _options,
    "time_limit_s": _time,
    "memory_limit_bytes": _memory,
}


Rows = tuple[tuple[Field, ...], ...]

CALL, CONDITIONS = rows("call"), rows("conditions")
