"""The form of a job's options: those of the call behind a line that reads like it, then the conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core import CompileJob, Environment, FileSettings, Limits, Model, file_settings
from core.job.options import with_values
from pages.gate.visitor import may_bring_code
from pages.look.text import one_line, plain
from pages.parts.run.fields import AS_FILE, Form
from pages.parts.run.own_backend import BackendChoice, chosen_backend, of_a_job
from pages.parts.run.widgets import Field, rows
from pages.session.attempt import attempt, passed_over
from pages.session.memory import held

# The least width of a row; fields that do not fit beside each other stand below.
ROW_PX = 560
Rows = tuple[tuple[Field, ...], ...]
CALL, CONDITIONS = rows("call"), rows("conditions")


def job_options(
    model: Model, environment: Environment | None, start: CompileJob, limits: Limits, again: str
) -> CompileJob:
    """Draw the options of `torch.compile` and of the run, starting with a job's; return the new job.

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
    """The call as the widgets stand; they are drawn below this line, so it reads what they hold already."""
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
    """The job's values by their paths; raises JobError."""
    fields = (field for row in rows for field in row)
    return {path: value for field in fields for path, value in field.values(drawn[field.name]).items()}


def _backend(backend: BackendChoice, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """A backend with its code; the name is left out where the model's file decides."""
    named = {} if drawn["backend"] == AS_FILE else {"compile.backend": backend.name}
    return {**named, "compile.backend_code": backend.code}


def _words(job: CompileJob) -> str:
    """Return the conditions that differ from a default job's, in words; empty if none do."""
    measured = [*(["memory"] if job.memory else []), *([f"{job.numerics} against float64"] if job.numerics else [])]
    return "; ".join([*job.differences(), *measured])
