"""Widgets of a job's form, one for each kind of field."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.views.job_form import JobField, JobForm
from pages.look.sizes import MAX_CHARS
from pages.session.state import held

AS_FILE, OWN = JobForm.as_file, JobForm.custom_backend
# Minimum width of a field in a row; fields that do not fit side by side wrap.
ROW_PX = 560
LINES_PX = 90
Rows = tuple[tuple[JobField, ...], ...]


def current_values(rows: Rows, key: str) -> dict[str, Any]:
    """Return the widgets' current values by field, before they are drawn."""
    return {field.key: held(f"{key}-{field.key}", field.initial) for row in rows for field in row}


def draw_rows(rows: Rows, key: str) -> dict[str, Any]:
    """Draw the fields row by row, and return their values by field."""
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
