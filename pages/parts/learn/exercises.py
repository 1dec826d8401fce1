"""Parts of the page Exercises: the list, the editor with its buttons, the checks of an attempt, and the hints."""

from __future__ import annotations

import streamlit as st

from core.views.exercises import ExerciseView
from pages import menu
from pages.components.code.view import code_editor
from pages.gate.visitor import may_bring_code
from pages.look.palette import SHORT, TALL
from pages.parts.run.live import cancel_button, live_headline
from pages.session import actions, server, url
from pages.session.actions import attempt
from pages.session.exercises import Draft, read_choice, shown_attempt
from pages.session.runs import show_run
from pages.session.shown import ShownRun, open_shown
from pages.session.url import hold, pressed

POLL_S = 0.5


def picked_exercise(views: dict[str, ExerciseView]) -> ExerciseView:
    """Draw the list of exercises with their states; return the chosen one."""
    read_choice(views)
    name = st.radio(
        "Exercise",
        list(views),
        key=url.EXERCISE,
        # The browser knows a choice by its label, which stays the same.
        format_func=lambda name: views[name].exercise.title,
        captions=[f"{':material/check: ' * view.solved}{view.caption}" for view in views.values()],
        label_visibility="collapsed",
    )
    url.write(url.EXERCISE)
    return views[name or next(iter(views))]


def task(view: ExerciseView) -> None:
    """Draw the title, the task, and the call of torch.compile that checks a solution."""
    st.header(view.exercise.title, anchor=False)
    st.write(view.exercise.task)
    st.caption(view.checked_with)


def solution(view: ExerciseView, names: list[str]) -> None:
    """Draw the buttons, the checks of the shown attempt, the hints, and the editor; check the text on request.

    `names` are those of all exercises, for the button that leads to the next one.
    """
    shown = shown_attempt(view)
    draft = Draft(view, shown)
    buttons = st.container(horizontal=True, vertical_alignment="center")
    outcome = st.container()
    if may_bring_code():
        text = code_editor(
            draft.text,
            label="Your solution",
            key=draft.key,
            least=SHORT,
            most=TALL,
            keep=draft.keep,
        )
    else:
        text = view.exercise.code
        st.code(text, language="python")
    with buttons:
        _buttons(view, draft, text)
        _next_button(view, names)
    with outcome:
        if not may_bring_code():
            st.info(view.no_code, icon=":material/lock:")
        if shown is not None:
            _attempt(view, shown, text)
        _hints(view, draft.hints)


def _buttons(view: ExerciseView, draft: Draft, text: str) -> None:
    if may_bring_code():
        checked = pressed("Check", type="primary", icon=":material/play_arrow:", key="check", shortcut="Ctrl+Enter")
        if checked:
            _check(view, text)
    left = len(view.exercise.hints) - draft.hints
    st.button(
        "Hint",
        icon=":material/lightbulb:",
        key="hint",
        shortcut="h",
        on_click=draft.show_hint,
        disabled=left <= 0,
        help=view.hints_left(draft.hints),
    )
    if draft.earlier:
        st.button("Bring my code back", icon=":material/undo:", key="bring-back", on_click=draft.bring_back)
    if text != view.exercise.code:
        st.button("Start again", icon=":material/restart_alt:", key="start-again", on_click=draft.start_again)


def _next_button(view: ExerciseView, names: list[str]) -> None:
    following = names[(names.index(view.exercise.name) + 1) % len(names)]
    st.button(
        "Next",
        icon=":material/arrow_forward:",
        key="next-exercise",
        shortcut="n",
        on_click=hold,
        args=(url.EXERCISE, following),
    )


def _check(view: ExerciseView, text: str) -> None:
    """Queue the check of a text and show its run, or why it was refused."""
    job = server.runner().limits.fitted(view.exercise.job(text))
    run = attempt(lambda: actions.submit(job))
    if run is not None:
        show_run(run.id, menu.EXERCISES)


def _attempt(view: ExerciseView, shown: ShownRun, text: str) -> None:
    if shown.going:
        _checking(shown)
        return
    if shown.job is not None and shown.job.model.value != text:
        st.caption(view.changed_after)
    _checks(view, shown)


@st.fragment(run_every=POLL_S)
def _checking(shown: ShownRun) -> None:
    """Show what the run does until it ends, then rerun the page."""
    current = open_shown(shown.run.id)
    if current is None or not current.going:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/hourglass_top: {live_headline(current)}")
        cancel_button(current)


def _checks(view: ExerciseView, shown: ShownRun) -> None:
    """Draw the outcome, each check with a link to its evidence, and torch's messages if it is not solved."""
    result = view.attempt(shown.status, shown.report)
    show = st.success if result.solved else st.warning
    show(result.title, icon=":material/check_circle:" if result.solved else ":material/pending:")
    for check in result.checks:
        page = menu.PAGES[check.page]
        mark = ":material/check: passed" if check.passed else ":material/close: **failed**"
        sentence, evidence = st.columns([4, 1], vertical_alignment="center")
        sentence.markdown(f"{mark} · {check.sentence}")
        evidence.page_link(page.script, label=page.title, icon=page.icon, query_params={url.RUN: shown.run.id})
    if result.torch_hints and not result.solved:
        with st.expander("What torch says", icon=":material/chat:"):
            st.markdown("\n".join(f"- {hint}" for hint in result.torch_hints))


def _hints(view: ExerciseView, shown: int) -> None:
    for number, hint in enumerate(view.exercise.hints[:shown], start=1):
        st.info(f"**Hint {number}.** {hint}", icon=":material/lightbulb:")
