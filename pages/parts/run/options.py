"""Form of a job's options: the parameters of `torch.compile`, folded below the call as code, then the conditions."""

from __future__ import annotations

import streamlit as st

from core import CompileJob
from core.views.job_form import JobForm
from pages.parts.run.fields import current_values, draw_rows
from pages.parts.run.own_backend import chosen_backend, current_backend


def job_options(form: JobForm, run_id: str) -> CompileJob:
    """Draw the options of `torch.compile` and of the run; return the new job.

    `run_id` is the run that the form's job comes from, empty if there is none. Raises JobError.
    """
    key = _key(form, run_id)
    for sentence in form.unread:
        st.caption(sentence)
    # The widgets are drawn below the lines that show their values.
    current = current_values(form.call, key)
    backend = current_backend(current["backend"], form.job, key)
    with st.expander(form.call_line(current, backend), icon=":material/tune:"):
        values = draw_rows(form.call, key)
    backend = chosen_backend(values["backend"], form.job, key)
    with st.expander(form.conditions_line(current_values(form.conditions, key)), icon=":material/science:"):
        values |= draw_rows(form.conditions, key)
    return form.new_job(values, backend)


def _key(form: JobForm, run_id: str) -> str:
    model = form.job.model
    sample = model.value if model.kind == "sample" else ""
    return f"options-{model.kind}-{sample}{run_id and f'-{run_id}'}"
