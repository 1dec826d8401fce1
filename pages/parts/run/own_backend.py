"""Backend field and other fields of a job's form.

A backend is named, or custom: written in the form or defined in the model's file. The code of a built-in
backend is shown. `draw_rows` draws the fields.
"""

from dataclasses import replace
from typing import Any

import streamlit as st

from core import CompileJob
from core.views.job_form import BackendChoice as BackendChoice
from core.views.job_form import JobField, JobForm
from pages.components.code.view import CodePicture, code_editor, code_lines, code_view
from pages.look.palette import MAX_CHARS, MAX_LINE_CHARS, SHORT, TALL
from pages.session.url import set_state, state_of

START = "template"
WRITTEN, IN_FILE = "Written here", "In the model's file"
# The last typed text of any page.
DRAFT = "backend-draft"


def chosen_backend(choice: str, job: CompileJob, key: str) -> BackendChoice | None:
    """Draw and return the chosen backend of the form; None if the model's file decides."""
    if choice == AS_FILE:
        return None
    if choice != OWN:
        _built_in_code(BackendChoice(choice), key)
        return BackendChoice(choice)
    with st.container(border=True, key=f"{key}-own"):
        if job.model.kind != "sample" and _way(key) == IN_FILE:
            return BackendChoice(_name(job, key))
        return own_code(job, key)


def current_backend(choice: str, job: CompileJob, key: str) -> BackendChoice | None:
    """Return the backend chosen when the form was last drawn, with code if any; or None."""
    if choice != OWN:
        return None if choice == AS_FILE else BackendChoice(choice)
    custom = BackendChoice.custom(job)
    in_file = state_of(f"{key}-own-way", WRITTEN) == IN_FILE
    return BackendChoice(state_of(f"{key}-own-name", custom.name), "" if in_file else custom.code)


def _way(key: str) -> str:
    st.caption(BackendChoice.convention)
    ways = [WRITTEN, IN_FILE]
    return st.segmented_control("Where is the backend?", ways, default=WRITTEN, key=f"{key}-own-way") or WRITTEN


def own_code(job: CompileJob, key: str, most: int = TALL) -> BackendChoice:
    """Draw an editor for a custom backend, which starts with a known one, and return the backend."""
    starts = BackendChoice.starts(job)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        begin = st.selectbox("Begin with", list(starts), key=f"{key}-own-begin", width=190) or next(iter(starts))
        name = _name(job, key)
    stored = f"{key}-own-code-{begin}"
    first = starts[begin].text
    if begin == START:
        first = state_of(DRAFT, first)

    def keep(code: str) -> None:
        set_state(stored, code)
        if begin == START:
            set_state(DRAFT, code)

    editor = f"{stored}-editor"
    code = code_editor(state_of(stored, first), label="Backend", key=editor, least=SHORT, most=most, keep=keep)
    return BackendChoice(name, code)


def _name(job: CompileJob, key: str) -> str:
    first = BackendChoice.custom(job).name
    most = max(MAX_LINE_CHARS, len(first))
    return st.text_input("Name of the callable", first, key=f"{key}-own-name", width=190, max_chars=most).strip()


def _built_in_code(backend: BackendChoice, key: str) -> None:
    """Draw the code of a built-in backend, folded; nothing for other backends."""
    if not backend.heading:
        return
    with st.expander(backend.heading, icon=":material/menu_book:"):
        picture = CodePicture(f"{backend.name}.py", "python", code_lines(backend.text))
        code_view(picture, key=f"{key}-shipped-{backend.name}", height=TALL)


def with_backend(job: CompileJob, chosen: BackendChoice) -> CompileJob:
    """Return the job with another backend, without mode, options and target of the previous one."""
    changed = job.with_settings(backend=chosen.name, backend_code=chosen.code, mode=None, options=None)
    return replace(changed, target="")


AS_FILE, OWN = JobForm.as_file, JobForm.custom_backend
# Minimum width of a field in a row; fields that do not fit side by side wrap.
ROW_PX = 560
LINES_PX = 90
Rows = tuple[tuple[JobField, ...], ...]


def current_values(rows: Rows, key: str) -> dict[str, Any]:
    """Return the current value of each field by its key, before the widgets are drawn."""
    return {field.key: state_of(f"{key}-{field.key}", field.initial) for row in rows for field in row}


def draw_rows(rows: Rows, key: str) -> dict[str, Any]:
    """Draw the fields row by row, and return their values by key."""
    values: dict[str, Any] = {}
    for row in rows:
        at = st.grid(min_column_width=ROW_PX // len(row), vertical_alignment="bottom") if len(row) > 1 else st
        values |= {field.key: _draw(at, field, f"{key}-{field.key}") for field in row}
    return values


def _draw(at: Any, field: JobField, key: str) -> Any:
    label, value, texts = field.label, field.initial, {"key": key, "help": field.help or None}
    if field.kind == "choice":
        return at.selectbox(label, list(field.choices), field.index, field.choices.__getitem__, **texts)
    if field.kind == "switch":
        return at.toggle(label, value, **texts)
    texts["placeholder"] = field.example or None
    if field.kind == "number":
        bounds = field.least, field.most
        return at.number_input(label, *bounds, value, field.step, format="%g" if field.step else None, **texts)
    most = max(MAX_CHARS, len(value))
    if field.kind == "lines":
        return at.text_area(label, value, height=LINES_PX, max_chars=most, **texts)
    return at.text_input(label, value, max_chars=most, **texts)
