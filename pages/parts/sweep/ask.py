"""Form for a sweep of a job: the presets as cards, and custom axes."""

from __future__ import annotations

import streamlit as st

from core import CompileJob, Environment
from core.views.sweep import SweepQuestion, SweepQuestions
from pages.gate.visitor import may_bring_code
from pages.look.palette import MAX_CHARS
from pages.session import actions, server
from pages.session.actions import attempt, passed_over
from pages.session.runs import last_took_s, show_sweep
from pages.session.url import pressed

LADDER = "ladder"


def _questions(base: CompileJob) -> SweepQuestions:
    """Return the questions about a job here; before torch has started, by the facts known without it."""
    environment = server.environment() or Environment()
    return SweepQuestions(base, environment, server.runner().limits, may_bring_code(), last_took_s(base))


def preset_cards(base: CompileJob) -> None:
    """Draw each preset as a card with its question, its cost, and a button that starts its sweep of the job."""
    with st.grid(min_column_width=250):
        for question in _questions(base).presets:
            with st.container(border=True, key=f"preset-{question.name}", gap="small", height="stretch"):
                st.markdown(question.heading)
                st.caption(question.text)
                with st.container(horizontal=True, vertical_alignment="center"):
                    if pressed("Ask", key=f"ask-{question.name}", icon=":material/play_arrow:", help=question.text):
                        ask(question)
                    st.caption(_cost(question))


def preset_menu(base: CompileJob | None, key: str) -> None:
    """Draw the presets as a compact menu; nothing for a job that may not run again."""
    if base is None:
        return
    with st.popover("Run a sweep…", icon=":material/apps:"):
        st.caption(SweepQuestions.introduction)
        for question in _questions(base).presets:
            with st.container(horizontal=True, vertical_alignment="center"):
                if pressed(question.title, key=f"{key}-{question.name}", type="tertiary"):
                    ask(question)
                st.caption(_cost(question))


def climb_ladder(base: CompileJob) -> None:
    """Start the sweep that finds the first rung of torch.compile at fault, and go to it."""
    ask(next(question for question in _questions(base).presets if question.name == LADDER))


def ask(question: SweepQuestion) -> None:
    """Start a preset's sweep and go to it, or show why it was refused; a large sweep needs a confirmation."""
    needs_confirmation = attempt(lambda: question.needs_confirmation)
    if needs_confirmation:
        _confirm(question)
    elif needs_confirmation is not None:
        _start(question)


@st.dialog("Start these runs?")
def _confirm(question: SweepQuestion) -> None:
    st.markdown(question.confirmation)
    if pressed(question.confirmation_label, key="confirm-sweep", type="primary"):
        _start(question)


def _cost(question: SweepQuestion) -> str:
    """Return the cost of a preset; empty if the job's calls cannot be read, which its own field reports."""
    return attempt(lambda: question.cost, passed_over) or ""


def _start(question: SweepQuestion) -> None:
    started = attempt(lambda: actions.start_sweep(question.sweep()))
    if started is not None:
        show_sweep(started.id)


def own_axes(base: CompileJob) -> None:
    """Draw fields for custom axes, the number of cells, and the button that starts them."""
    text = st.text_area(
        "Axes",
        key="axes",
        placeholder=SweepQuestions.axes_example,
        help=SweepQuestions.axes_help,
        height=110,
        max_chars=MAX_CHARS,
        label_visibility="collapsed",
    )
    if not text.strip():
        st.caption(SweepQuestions.axes_hint)
        return
    question = attempt(lambda: _questions(base).custom(text))
    if question is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if pressed("Start", key="start-own", type="primary", icon=":material/play_arrow:"):
            _start(question)
        st.caption(question.cells_sentence)
