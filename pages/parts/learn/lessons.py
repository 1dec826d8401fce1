"""Lessons: the tour of a run, with questions and claims, and the exercises, with checks and hints."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.views.exercises import ExerciseView
from core.views.tour import TourView
from pages import menu
from pages.components.code.view import code_editor
from pages.gate.visitor import may_bring_code
from pages.look.charts import bars_chart
from pages.look.palette import SHORT, TALL
from pages.parts.run.outcome import cancel_button, live_headline
from pages.session import actions, server, url
from pages.session.actions import attempt
from pages.session.exercises import Draft, read_choice, shown_attempt
from pages.session.runs import show_run
from pages.session.shown import RunView, ShownRun, open_shown
from pages.session.tables import draw_chart
from pages.session.url import pressed, set_state, state_of

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
    """Draw the title, the task, and how torch.compile is called to check a solution."""
    st.header(view.exercise.title, anchor=False)
    st.write(view.exercise.task)
    st.caption(view.checked_with)


def solution(view: ExerciseView, names: list[str]) -> None:
    """Draw the buttons, the checks of the shown attempt, the hints, and the editor of a solution.

    A button checks the edited text. Another button leads to the next exercise of `names`, the names of all
    exercises.
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
        on_click=set_state,
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
    """Show the progress of a live attempt, and rerun the page when the run ends."""
    current = open_shown(shown.run.id)
    if current is None or not current.going:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/hourglass_top: {live_headline(current)}")
        cancel_button(current)


def _checks(view: ExerciseView, shown: ShownRun) -> None:
    """Draw the outcome, each check with a link to its evidence, and torch's messages if unsolved."""
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


def picked_stop(tour: TourView) -> int:
    """Draw the buttons that lead through the stops; return the number of the shown one, from 0."""
    names = [stop.name for stop in tour.stops]
    url.read(url.STOP, names, names[0])

    at = names.index(state_of(url.STOP, names[0]))

    def go(steps: int) -> None:
        set_state(url.STOP, names[at + steps])

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back",
            icon=":material/arrow_back:",
            on_click=go,
            args=(-1,),
            shortcut="b",
            key="tour-back",
            disabled=at == 0,
        )
        st.button(
            "Next",
            icon=":material/arrow_forward:",
            on_click=go,
            args=(1,),
            shortcut="n",
            key="tour-next",
            type="primary",
            disabled=at == len(names) - 1,
        )
        shown = st.segmented_control("Stop", names, key=url.STOP, label_visibility="collapsed") or names[0]
    url.write(url.STOP)
    return names.index(shown)


def boxes(tour: TourView, number: int) -> None:
    """Draw a box for each stop with its time; the shown one is marked."""
    for at, (column, stop) in enumerate(zip(st.columns(len(tour.stops)), tour.stops, strict=True)):
        with column, st.container(border=True, key=f"tour-stop-{at}", height="stretch"):
            mark = ":material/location_on: " if at == number else ""
            st.markdown(f"{mark}{stop.name}")
            st.markdown(f"**{stop.time}**")
            st.caption(stop.facts[0])


def stop_details(view: RunView, tour: TourView, number: int, draw_graph: Callable[[str], bool]) -> None:
    """Draw a stop in full: description, picture, this run's numbers, evidence, and a presenter's text.

    `draw_graph` draws the graph that a page shows, if there is one; otherwise the picture is a bar chart.
    """
    stop, page = tour.stops[number], menu.PAGES[tour.stops[number].page]
    st.header(f"{number + 1}. {stop.name}", anchor=False)
    st.write(stop.sentence)
    if not draw_graph(stop.page):
        for bars in stop.figures:
            draw_chart(view, f"tour-{stop.page}", partial(bars_chart, bars), view.report.log_bytes)
    for fact in stop.facts:
        st.markdown(f"- {fact}")
    st.page_link(page.script, label=tour.link_label(page.title), icon=page.icon, query_params=url.link())
    with st.expander("Text for a presenter", icon=":material/record_voice_over:"):
        st.write(stop.speech)


def questions(tour: TourView) -> None:
    """Draw the questions with their answers, and a link to the evidence of each."""
    st.header("Questions", anchor=False)
    for answer in tour.answers:
        page = menu.PAGES[answer.page]
        st.markdown(f"**{answer.question}** {answer.answer}")
        st.page_link(page.script, label=page.title, icon=page.icon, query_params=url.link())


def claims(tour: TourView) -> None:
    """Draw common claims about torch.compile, each with this run's measurement."""
    st.header("Common claims", anchor=False)
    for claim, measured in tour.claims:
        st.markdown(f"**“{claim}”** {measured}")
