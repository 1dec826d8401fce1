"""Exercises of this visitor: attempts, the chosen exercise, and the text in the editor.

The text is in the session state. The text of a checked attempt is also in its run.
"""

import streamlit as st

from core import Run, StoreError
from core.views.exercises import ExerciseView
from pages.session import server, url
from pages.session.runs import runs_of
from pages.session.shown import ShownRun, open_shown, shown_run
from pages.session.url import set_state, state_of

MOST_SOLUTIONS = 2_000  #: runs whose result of an exercise is cached


@st.cache_resource(max_entries=MOST_SOLUTIONS, show_spinner=False)
def _is_solution(run_id: str, ended_s: float) -> bool:
    return ExerciseView.is_solution(server.open_run(run_id))


def _solves(run: Run) -> bool:
    status = run.standing()
    return not status.live and _is_solution(run.id, status.ended_s or 0.0)


def exercises() -> dict[str, ExerciseView]:
    """Return all exercises by their names, with the attempts in the runs that are listed for this visitor."""
    return ExerciseView.of_runs((listed.pair for listed in runs_of(ExerciseView.titles())), _solves)


def read_choice(views: dict[str, ExerciseView]) -> None:
    """Set the chosen exercise before its widget is drawn.

    The URL's exercise comes first if it is new, then the last choice, the shown run's exercise, and the first
    unsolved exercise.
    """
    shown = shown_run()
    of_run = (name for name, view in views.items() if shown is not None and view.is_tried_by(shown.job))
    unsolved = (name for name, view in views.items() if not view.solved)
    url.read(url.EXERCISE, views, next(of_run, None) or next(unsolved, None) or next(iter(views)))


def shown_attempt(view: ExerciseView) -> ShownRun | None:
    """Return the shown run if it is an attempt at the exercise, otherwise the newest; or None."""
    shown = shown_run()
    if shown is not None and view.is_tried_by(shown.job):
        return shown
    return open_shown(view.attempts[0].id) if view.attempts else None


class Draft:
    """The text in the editor of an exercise, and the number of requested hints.

    The text starts with the attempt's text, otherwise with the exercise's code. The text before *Start again* can
    be restored.
    """

    def __init__(self, view: ExerciseView, shown: ShownRun | None) -> None:
        self._original = view.exercise.code
        self._key = f"exercise-{view.exercise.name}"
        if state_of(self._key) is None:
            set_state(self._key, _code_of(shown) or self._original)

    @property
    def text(self) -> str:
        """The edited text."""
        return str(state_of(self._key))

    @property
    def key(self) -> str:
        """Key of the editor; it changes when the page replaces the text, since an editor keeps its own text."""
        return f"{self._key}-{state_of(f'{self._key}-times', 0)}"

    @property
    def earlier(self) -> str:
        """The text before *Start again*; empty if there is none."""
        return str(state_of(f"{self._key}-earlier", ""))

    @property
    def hints(self) -> int:
        """The number of hints that the visitor has requested."""
        return int(state_of(f"{self._key}-hints", 0))

    def keep(self, text: str) -> None:
        """Store the edited text."""
        set_state(self._key, text)

    def start_again(self) -> None:
        """Set the text to the exercise's code."""
        self._replace(self._original, earlier=self.text)

    def bring_back(self) -> None:
        """Restore the text before *Start again*."""
        self._replace(self.earlier, earlier="")

    def show_hint(self) -> None:
        """Show one more hint."""
        set_state(f"{self._key}-hints", self.hints + 1)

    def _replace(self, text: str, earlier: str) -> None:
        set_state(self._key, text)
        set_state(f"{self._key}-earlier", earlier)
        set_state(f"{self._key}-times", state_of(f"{self._key}-times", 0) + 1)


def _code_of(shown: ShownRun | None) -> str:
    try:
        return shown.run.code() if shown is not None else ""
    except StoreError:
        return ""
