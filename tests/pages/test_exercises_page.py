"""The page Exercises: the list with its states, the check of a text, its result, the hints, and what is not lost."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from core import AccessError, CompileJob, Run
from core.job.gallery import EXERCISES, exercise
from pages import menu
from pages.parts.learn import lessons as parts
from pages.session import actions
from tests.support.apps import component, keys, opened, read_words, sound, titles, words
from tests.support.homes import add_run, job_of, keeper
from tests.support.places import TRACES

PRINT, COUNTER = exercise("print_inside"), exercise("counter")
SOLVED = PRINT.code.replace('    print("mean so far", y.mean())\n', "")


def attempt(home: Path, job: CompileJob, scenario: str | None, **fields: object) -> Run:
    """A stored check of a solution that a scenario was recorded from."""
    log = (TRACES / scenario / "trace.log").read_bytes() if scenario else None
    run = add_run(home, "attempt", log, job=msgspec.to_builtins(job), **fields)
    run.model_path.write_text(job.model.value)
    run.write_status(replace(run.written_status(), title=job.title()))
    return run


def page(run: str | None = None, **query: Any) -> AppTest:
    return sound(opened(menu.EXERCISES.script, run, **query))


def editor(app: AppTest) -> str:
    """The text that the editor begins with."""
    (key,) = (key for key in keys(app) if key.startswith("exercise-"))
    return str(component(app, key)["text"])


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button if button.key in BUTTONS]


BUTTONS = ("check", "hint", "start-again", "bring-back", "next-exercise", "cancel")


def test_the_list_has_every_exercise_with_its_state(empty_home: Path) -> None:
    attempt(empty_home, PRINT.job(SOLVED), "eager_backend")
    attempt(empty_home, COUNTER.job(COUNTER.code), "graph_break_zoo")
    app = page()
    assert titles(app) == ["1 of 12 exercises solved"]
    (radio,) = app.radio
    assert radio.options[:2] == ["A forgotten print", "A tensor becomes a number"]
    assert list(radio.proto.captions[:4]) == [
        ":material/check: Graph breaks · solved",
        "Graph breaks · not tried",
        "Graph breaks · not tried",
        "Recompiles · tried",
    ]
    assert len(radio.options) == 12
    # The first that is not solved.
    assert radio.value == "number_from_tensor"
    assert [item.value for item in app.header] == ["A tensor becomes a number"]
    assert editor(app) == exercise("number_from_tensor").code
    assert buttons(app) == ["Check", "Hint", "Next"]


def test_check_runs_the_text_and_stays_on_the_page(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[CompileJob] = []
    shown: list[tuple[str, menu.Page]] = []
    run = attempt(empty_home, COUNTER.job("earlier"), None, state="failed")

    def submit(job: CompileJob) -> Run:
        jobs.append(job)
        return run

    monkeypatch.setattr(actions, "submit", submit)
    monkeypatch.setattr(parts, "show_run", lambda run_id, page: shown.append((run_id, page)))
    app = page(exercise="print_inside")
    sound(app.button(key="check").click().run())
    assert PRINT.is_checked_by(jobs[0])
    assert jobs[0].model.value == PRINT.code
    assert shown == [(run.id, menu.EXERCISES)]


def test_a_check_that_is_refused_says_why(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(job: CompileJob) -> Run:
        raise AccessError("there is no room")

    monkeypatch.setattr(actions, "submit", refuse)
    app = page(exercise="print_inside")
    sound(app.button(key="check").click().run())
    assert [error.value for error in app.error] == ["there is no room"]


def test_the_result_of_a_check_has_sentences_and_evidence(empty_home: Path) -> None:
    run = attempt(empty_home, PRINT.job(PRINT.code), "graph_break_zoo")
    app = page(run.id)
    assert app.radio[0].value == "print_inside"
    assert [item.value for item in app.warning] == ["Not yet: 1 of 3 checks failed."]
    text = read_words(app)
    assert ":material/check: passed · Results equal those of the original code in eager." in text
    assert (
        ":material/close: **failed** · 5 graph breaks. The first at line 20: Failed to trace builtin operator." in text
    )
    links = [link.proto for link in app.get("page_link") if link.proto.icon and "run=" in link.proto.query_string]
    assert [(link.page, link.query_string) for link in links] == [
        ("numerics", f"run={run.id}"),
        ("fx_graph", f"run={run.id}"),
        ("graph_breaks", f"run={run.id}"),
    ]
    assert [expander.label for expander in app.expander] == ["What torch says"]
    assert "- Avoid calling builtin `print` with argument types" in text


def test_a_solved_exercise_says_so(empty_home: Path) -> None:
    app = page(attempt(empty_home, PRINT.job(SOLVED), "eager_backend").id)
    assert [item.value for item in app.success] == ["Solved."]
    assert list(app.expander) == []
    assert editor(app) == SOLVED
    assert buttons(app) == ["Check", "Hint", "Start again", "Next"]


def test_no_text_is_lost(empty_home: Path) -> None:
    attempt(empty_home, PRINT.job("older = 1\n"), "graph_break_zoo")
    attempt(empty_home, PRINT.job("newest = 1\n"), "graph_break_zoo")
    app = page(exercise="print_inside")
    assert editor(app) == "newest = 1\n"
    sound(app.button(key="start-again").click().run())
    assert editor(app) == PRINT.code
    assert buttons(app) == ["Check", "Hint", "Bring my code back", "Next"]
    assert "The code below was changed after this check." in words(app)
    sound(app.button(key="bring-back").click().run())
    assert editor(app) == "newest = 1\n"
    assert buttons(app) == ["Check", "Hint", "Start again", "Next"]
    assert "was changed" not in words(app)


def test_a_text_stays_in_the_session(empty_home: Path) -> None:
    app = opened(menu.EXERCISES.script, held={"exercise-counter": "typed = 1\n"}, exercise="counter")
    assert editor(sound(app)) == "typed = 1\n"


def test_hints_are_shown_one_after_the_other(empty_home: Path) -> None:
    app = page(exercise="counter")
    assert [item.value for item in app.info] == []
    sound(app.button(key="hint").click().run())
    assert [item.value for item in app.info] == [f"**Hint 1.** {COUNTER.hints[0]}"]
    sound(app.button(key="hint").click().run())
    assert [item.value for item in app.info][1] == f"**Hint 2.** {COUNTER.hints[1]}"
    assert app.button(key="hint").disabled


def test_next_leads_through_the_exercises(empty_home: Path) -> None:
    app = page(exercise=EXERCISES[-2].name)
    sound(app.button(key="next-exercise").click().run())
    assert app.radio[0].value == EXERCISES[-1].name
    sound(app.button(key="next-exercise").click().run())
    assert app.radio[0].value == EXERCISES[0].name


def test_a_check_that_runs_says_what_it_does(empty_home: Path) -> None:
    run = attempt(empty_home, PRINT.job(SOLVED), "eager_backend", state="running", **keeper())
    app = page(run.id)
    assert ":material/hourglass_top: " in words(app)
    assert "cancel" in [button.key for button in app.button]
    assert titles(app) == ["0 of 12 exercises solved"]


def test_another_run_chooses_no_exercise(empty_home: Path) -> None:
    run = add_run(empty_home, "mlp", (TRACES / "measured" / "trace.log").read_bytes(), job=job_of("measured"))
    app = page(run.id)
    assert app.radio[0].value == "print_inside"
    assert list(app.warning) == []


def test_where_visitors_code_does_not_run_the_page_says_so(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    app = page(exercise="counter")
    assert "This server does not run visitors' code, so a solution cannot be checked here." in words(app)
    assert COUNTER.code.strip() in words(app)
    assert buttons(app) == ["Hint", "Next"]
    assert [key for key in keys(app) if key.startswith("exercise-")] == []
