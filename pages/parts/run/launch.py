"""Start page: forms for a new run, the gallery of samples, and runs recorded on other devices.

A new run compiles a sample or custom code, or opens an imported log; each form has the options of its job. A card has a
picture of the sample's graph, its lesson, and its last result.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer

from core import (
    CompileJob,
    Environment,
    Model,
    RecordedSweep,
    Recording,
    Run,
    Sample,
    recorded_sweeps,
    recordings,
    samples,
)
from core.base import words as fmt
from core.views import progress
from core.views import runs as lists
from core.views.job_form import JobForm
from pages import menu
from pages.components.code.view import CodePicture, code_editor, code_lines, code_view
from pages.components.upload.view import upload
from pages.gate.visitor import may_bring_code
from pages.look.palette import MAX_LINE_CHARS, MAX_PATH_CHARS, SHORT, TALL, image
from pages.look.text import LONGEST_TEXT, one_line_cells, plain
from pages.parts.run.own_backend import chosen_backend, current_backend, current_values, draw_rows
from pages.parts.run.submit import open_recorded, stored_run, submit, submit_or_open
from pages.parts.sweep.sweeps import preset_menu
from pages.session import actions, server, url
from pages.session.actions import attempt, passed_over, refused
from pages.session.runs import listed_sweeps, show_run, show_sweep
from pages.session.tables import columns, data_frame, in_words, newly_picked
from pages.session.url import go_to, press, pressed, set_state, state_of, taken

TEMPLATE = """import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 64))
inputs = (torch.randn(8, 64),)
"""
PASTED, ON_DISK = "Pasted here", "File on this machine"
DRAFT = "draft"
# Tabs of *New run*, in the session state.
TABS, CODE, LOG = "new-run-tabs", "Your code", "A trace log"
# The job that a form submitted last and that was refused, with the reason, in the session state.
REFUSAL = "refusal"
DRAWER_PX = 760
PLACEHOLDER = "/home/me/model.py, /home/me/model.py:name, a script or a notebook"
WIDTHS = {"model": 215, lists.SPEEDUP: 80, "shows": 150}


@st.fragment(run_every=1.0)
def torch_is_starting(meanwhile: str = "") -> None:
    """Show that torch is starting, what works `meanwhile`, and rerun the page once it has."""
    if server.environment() is not None:
        st.rerun()
    st.caption(f"{progress.starting_words(server.runner().engine.nodes('cpu'))} {meanwhile}")


def compile_one_function() -> None:
    """Offer a run that shows whether torch.compile works here."""
    if pressed("Compile one function", key="compile-one", icon=":material/play_arrow:", type="primary"):
        submit_or_open(CompileJob(Model("sample", "sin_cos")))


@dataclass(frozen=True, slots=True)
class Beginning:
    """The initial job of the forms, and the run that it comes from; `run` is empty without a run."""

    run: str
    job: CompileJob


def asked_again() -> Beginning | None:
    """Return the URL's run to edit, with its job; None if there is no such run or job."""
    run_id = url.asked(url.AGAIN)
    if not run_id:
        return None
    run = attempt(lambda: server.open_run(run_id), passed_over)
    job = attempt(run.job, passed_over) if run is not None else None
    return Beginning(run_id, _repaired(job, run)) if run is not None and job is not None else None


def _repaired(job: CompileJob, run: Run) -> CompileJob:
    """Return the job of a run as the initial job of a form, without an exercise.

    For a run with fixes, the fixed code becomes the model, and the job has no fixes. If the visitor may not bring
    code, or if the code is gone, the job keeps its fixes, but a new run does not apply them, as the form says. The
    code of a script decides again, unless it would be a model's.
    """
    job = replace(job, exercise="")
    if job.model.is_script:
        return replace(job, model=JobForm.reopened(job.model, attempt(run.code, passed_over) or ""))
    code = attempt(run.code, passed_over) if job.repairs and may_bring_code() else None
    if code is None:
        return job
    return replace(job, model=Model("code", code, job.model.name), repairs=(), repairs_of="")


def sample_form(sample: Sample, environment: Environment | None, start: Beginning | None) -> None:
    """Draw a sample's form in a drawer beside the gallery: button, options and code."""

    @st.dialog(sample.title, width=DRAWER_PX, position="right", on_dismiss=_put_away)
    def drawer() -> None:
        st.write(sample.teaches)
        model = Model("sample", sample.name)
        _form(environment, start or Beginning("", CompileJob(model)))
        lines = code_lines(sample.path.read_text(encoding="utf-8"))
        code_view(CodePicture(sample.path.name, "python", lines), key=f"sample-{sample.name}", height=TALL)

    drawer()


def _put_away() -> None:
    url.put(url.SAMPLE, None)
    url.put(url.AGAIN, None)


def code_form(environment: Environment | None, start: Beginning | None) -> None:
    """Draw the form for pasted code or a file, if allowed, with the edited run's or last typed code."""
    if not may_bring_code():
        st.info(
            JobForm.no_code,
            icon=":material/lock:",
        )
        return
    st.caption(JobForm.convention)
    start = start or Beginning("", CompileJob(Model("code", state_of(DRAFT, TEMPLATE))))
    said, key = start.job.model, start.run and f"-{start.run}"
    with st.container(horizontal=True):
        way = st.segmented_control(
            "Where is it?", [PASTED, ON_DISK], default=ON_DISK if said.kind == "file" else PASTED
        )
        run_as = JobForm.run_as(said)
        wanted = st.segmented_control(
            "Run as", JobForm.kinds, default=run_as, required=True, help=JobForm.kinds_help, key=f"run-as{key}"
        )
    if way == ON_DISK:
        named = "" if said.name in ("", "model") else f":{said.name}"
        first = f"{said.value}{named}" if said.kind == "file" else ""
        most = max(MAX_PATH_CHARS, len(first))
        typed = st.text_input("File", first, placeholder=PLACEHOLDER, key=f"file{key}", max_chars=most)
        path, _, name = typed.rpartition(":") if ".py:" in typed else (typed, "", "")
        model = Model("file", str(Path(path).expanduser()) if path else "", name or "model")
    else:
        # A component loses its text when another page is opened.
        kept = f"pasted{key}"
        first = state_of(kept, said.value if said.kind == "code" else TEMPLATE)
        code = code_editor(
            first, label="Code", key=f"pasted-code{key}", least=SHORT, most=TALL, keep=lambda text: _keep(kept, text)
        )
        most, named = max(MAX_LINE_CHARS, len(said.name)), said.name or "model"
        name = st.text_input("Name of the callable", named, key=f"callable{key}", max_chars=most)
        model = Model("code", code, name)
    model = JobForm.model_run_as(model, wanted or run_as)
    _form(environment, Beginning(start.run, replace(start.job, model=model)))


def script_button(read: Callable[[], str], edit: Callable[[str], str]) -> None:
    """Draw a button that puts a script, changed by `edit`, into the editor of *New run*."""
    if may_bring_code() and pressed(
        "Open as a script", key="open-as-script", icon=":material/edit_document:", help=JobForm.script_help
    ):
        _keep("pasted", edit(read()))
        set_state(TABS, CODE)
        go_to(menu.NEW_RUN, {})


def _keep(name: str, code: str) -> None:
    set_state(name, code)
    set_state(DRAFT, code)


def _form(environment: Environment | None, start: Beginning) -> None:
    model = start.job.model
    # Above the long options, so that the button is always visible.
    button = st.container(horizontal=True, vertical_alignment="center")
    job = attempt(lambda: job_options(_job_form(environment, start.job), start.run))
    if job is None:
        return
    if start.job.repairs:
        st.caption(JobForm.without_fixes)
    with button:
        go = pressed(
            "Compile", type="primary", icon=":material/play_arrow:", key=f"compile-{model.kind}", shortcut="Ctrl+Enter"
        )
        preset_menu(job, f"form-{model.kind}")
        _offer_stored(job)
    if go:
        set_state(REFUSAL, None)
        submit(job, say=lambda words: set_state(REFUSAL, (job, words)))
    # The page runs again when torch has started, and the reason for a refusal stays.
    refused_job, reason = state_of(REFUSAL) or (None, "")
    if refused_job == job:
        refused(reason)


def _job_form(environment: Environment | None, job: CompileJob) -> JobForm:
    return JobForm(environment or Environment(), job, server.runner().limits, may_bring_code())


def _offer_stored(job: CompileJob) -> None:
    """Offer to open a finished run of the same job."""
    stored = stored_run(job)
    if stored is not None:
        st.page_link(
            menu.OVERVIEW.script,
            label="Open the run of the same job",
            icon=":material/history:",
            query_params={url.RUN: stored.id},
        )


def log_form() -> None:
    """Draw the form to upload a log of `TORCH_TRACE=dir python script.py`, open it by path, or follow it."""
    st.caption(JobForm.log_help)
    upload(server.runner().limits.upload_bytes, key="upload", on_stored=partial(press, "upload"))
    stored = taken("upload")
    if stored is not None:
        show_run(stored)
    if not may_bring_code():
        return
    example = "/tmp/trace, /tmp/trace/dedicated_log_torch_trace_abc.log or /tmp/trace.tar.gz"
    typed = st.text_input("…or a path on this machine", placeholder=example, max_chars=MAX_PATH_CHARS)
    if not typed:
        return
    path = Path(typed).expanduser()
    with st.container(horizontal=True):
        opens = pressed("Open path", key="open-path")
        follows = pressed(
            "Follow while it is being written", icon=":material/sensors:", key="follow-path", help=JobForm.follow_help
        )
    take = actions.follow_at if follows else actions.add_log_at
    run = attempt(lambda: take(path)) if opens or follows else None
    if run is not None:
        show_run(run.id)


def job_options(form: JobForm, run_id: str) -> CompileJob:
    """Draw the options of `torch.compile` and of the run; return the new job. Raises JobError."""
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


def card(sample: Sample, last: lists.ListedRun | None) -> None:
    """Draw a sample with its last run, and buttons to compile it and to open its code and options."""
    with st.container(border=True, key=f"card-{sample.name}", gap="small", height="stretch"):
        picture = image(f"samples/{sample.name}.svg")
        if picture is not None:
            st.image(picture, width="stretch", alt=lists.picture_words(sample.title))
        st.caption(sample.group)
        st.markdown(f"**{sample.title}**")
        st.caption(sample.teaches)
        if last is not None:
            label = " · ".join([last.result, *map(plain, last.entry.settings)])
            link = {url.RUN: last.run.id}
            st.page_link(menu.OVERVIEW.script, label=label, icon=":material/history:", query_params=link)
        with st.container(horizontal=True):
            if pressed("Compile", key=f"compile-{sample.name}", icon=":material/play_arrow:"):
                submit(server.runner().limits.fitted(CompileJob(Model("sample", sample.name))))
            if pressed("Code and options", key=f"pick-{sample.name}", type="tertiary"):
                url.put(url.AGAIN, None)
                url.put(url.SAMPLE, sample.name)
                st.rerun()


def opened_once(tab: TabContainer, name: str) -> bool:
    """Return True if a tab is open or was open in this session, so that text typed there is not lost."""
    if tab.open:
        set_state(f"opened-{name}", True)
    return bool(state_of(f"opened-{name}"))


def tab_title() -> str:
    """Return the gallery's title, with its devices; empty if there are no recorded runs."""
    return lists.RecordedRuns.gallery_title(recordings())


def recorded_form() -> None:
    """Draw all recordings; a click opens a recording as a run or as a sweep."""
    view = lists.RecordedRuns((*recorded_sweeps(), *recordings()), {one.name: one.title for one in samples()})
    st.caption(view.note)
    if view.origin:
        st.caption(view.origin)
    table = in_words(data_frame(one_line_cells(view.rows, LONGEST_TEXT)), {lists.SPEEDUP: fmt.ratio})
    settings = columns(view.column_help, WIDTHS)
    chosen = newly_picked(table, view.recorded, "recorded", height=TALL, column_config=settings)
    if isinstance(chosen, Recording):
        open_recorded(chosen)
    elif chosen is not None:
        _open_sweep(chosen)


def _open_sweep(recorded: RecordedSweep) -> None:
    """Show a recorded sweep; store it first if it is not stored yet."""
    opened = next((sweep for sweep in listed_sweeps() if sweep.title == recorded.title), None)
    sweep = opened or attempt(lambda: actions.open_recorded_sweep(recorded))
    if sweep is not None:
        show_sweep(sweep.id)
