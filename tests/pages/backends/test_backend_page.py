"""The page Backend: what it says of a run with a backend, and what it offers where there was none."""

from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, Model, job_to_json
from core.base.decoder import decoded
from pages import menu
from pages.parts.run import submit
from pages.parts.run.own_backend import BackendChoice
from pages.session import actions
from tests.support.apps import assert_sound, chips, code_of, component, keys, opened, titles, words
from tests.support.homes import IMAGE, add_run, chain_log
from tests.support.reports.backends import BACKEND, JOB, SIZES, backend_log, backend_text

SENTENCE = r"`mine` received 2 graphs; executed 3 times in 3 calls; 1 call compiled nothing"


def stored(home: Path, log: bytes | None = None, job: CompileJob = JOB) -> str:
    """A run of that job, with that log."""
    return add_run(home, "own", log or backend_log(), job=decoded(job_to_json(job))).id


def texts(app: object, start: str) -> list[str]:
    """The lines of the code view whose key starts so."""
    return ["".join(piece for _, piece in line[2]) for line in code_of(app, start)["lines"]]  # type: ignore[arg-type]


def test_the_contract_is_shown_with_the_numbers_of_the_run(empty_home: Path) -> None:
    app = opened(menu.BACKEND.script, stored(empty_home))
    assert_sound(app)
    assert titles(app) == [SENTENCE]
    assert "mine backend" in chips(app)
    sent = component(app, "contract")
    assert [(one["name"], one["told"]) for one in sent["stations"]] == [
        ("Dynamo", "2 compilations"),
        ("graph", "2 graphs, 10 nodes"),
        ("mine", "called 2 times, 800 µs"),
        ("callable", "2 callables"),
        ("executions", "3 in 3 calls"),
    ]
    assert [(row["id"], row["cells"], row["marks"], row["ran"]) for row in sent["rows"]] == [
        (
            "0/0",
            ["model · model.py:4", "5 nodes: f32[4, 8], f32[8, 16]", "400 µs", "method forward of GraphModule"],
            "gr ",
            "2 executions",
        ),
        (
            "0/1",
            ["model · model.py:4", "5 nodes: f32[6, 8], f32[8, 16]", "400 µs", "method forward of GraphModule"],
            "  g",
            "1 execution, 200 outside of calls",
        ),
    ]
    assert sent["rows"][0]["said"][1] == (
        "call 1 with f32[4, 8], f32[8, 16]: guards passed: the returned callable ran again; the guard held that call 2 "
        f"failed: {SIZES}; 1 execution, 20.0 µs"
    )
    assert f"[0/0] could not be used: {SIZES}" in sent["rows"][1]["said"][2]


def test_the_nodes_have_the_columns_of_print_tabular_and_select_lines_of_the_code(empty_home: Path) -> None:
    app = opened(menu.BACKEND.script, stored(empty_home), pane="nodes", select="n:relu")
    assert_sound(app)
    assert app.dataframe[0].value.to_dict("split")["data"][2:] == [
        ["call_function", "matmul", "<built-in function matmul>", "(l_x_, l_w_)", "", "relu", "f32[4, 16]"],
        ["call_function", "relu", "<built-in method relu>", "(matmul,)", "", "output", "f32[4, 16]"],
        ["output", "output", "output", "((relu,),)", "", "", ""],
    ]
    code = code_of(app, "gm.code")
    assert [(line[0], line[3]) for line in code["lines"]] == [
        (1, ["n:l_x_", "n:l_w_"]),
        (2, ["n:l_x_"]),
        (3, ["n:l_w_"]),
        (4, ["n:matmul"]),
        (5, ["n:relu"]),
        (6, ["n:output"]),
    ]
    assert code["initial"] == "n:relu"
    (link,) = (item.proto for item in app.get("page_link") if item.proto.label == "In the FX graph")
    assert "select=n%3Arelu" in link.query_string


def test_the_executions_are_reported_one_by_one_with_the_guard_that_decided(empty_home: Path) -> None:
    run = stored(empty_home)
    app = opened(menu.BACKEND.script, run, pane="executions", compilation="0/1")
    assert_sound(app)
    assert "ran 1 time in the calls of the run, and 200 times outside of them, for example while measuring." in words(
        app
    )
    calls, ran = (table.value.to_dict("split")["data"] for table in app.dataframe)
    assert calls == [
        [
            "2",
            "f32[6, 8], f32[8, 16]",
            "the backend received the graph",
            f"[0/0] could not be used: {SIZES}",
            "1 execution, 60.0 µs",
        ]
    ]
    assert ran == [
        [0, "2", 6e-5, "f32[6, 8], f32[8, 16]", "f32[6, 16]"],
        [1, "–", 2e-5, "f32[6, 8], f32[8, 16]", "f32[6, 16]"],
    ]


def test_what_a_backend_reported_is_a_table_a_text_and_the_colours_of_the_graph(empty_home: Path) -> None:
    run = stored(empty_home)
    table = opened(menu.BACKEND.script, run, pane="what it told", beside="texts it told")
    assert_sound(table)
    assert table.dataframe[0].value.to_dict("split") == {
        "index": [0, 1],
        "columns": ["node", "run by", "µs"],
        "data": [["matmul", "kernel", 12.5], ["relu", "torch", 3.0]],
    }
    assert texts(table, "text-") == ["print(1)"]
    graph = opened(menu.BACKEND.script, run, pane="graph")
    assert_sound(graph)
    painted = component(graph, "given-0/0-dynamo_output_graph")
    (told,) = [one for one in painted["overlays"] if one["name"] == "told-0"]
    assert [one["name"] for one in told["categories"]] == ["kernel", "torch"]
    assert painted["overlay"] == "told-0"


def test_of_several_texts_one_is_chosen_by_its_title(empty_home: Path) -> None:
    run = stored(empty_home, backend_log() + backend_text("Schedule", "print(2)"))
    app = opened(menu.BACKEND.script, run, pane="what it told", beside="texts it told")
    assert texts(app, "text-") == ["print(1)"]
    (choice,) = (choice for choice in app.selectbox if choice.key == "text")
    assert choice.options == ["IR", "Schedule"]
    choice.select_index(1).run()
    assert_sound(app)
    assert texts(app, "text-") == ["print(2)"]


def test_a_backend_that_raised_is_the_headline_with_its_line(empty_home: Path) -> None:
    log = backend_log("raised ValueError: I know no relu", place=["/gone/backend.py", 2])
    app = opened(menu.BACKEND.script, stored(empty_home, log), compilation="0/1")
    assert_sound(app)
    assert titles(app) == [r"`mine` received 2 graphs, and raised ValueError\: I know no relu"]
    assert [item.value for item in app.error] == [
        r"\[0/1\]\: `mine` raised ValueError\: I know no relu at `backend.py:2`"
    ]
    shown = code_of(app, "backend-0/1")
    assert [(line[0], line[5], line[6]) for line in shown["lines"] if line[5]] == [
        (2, "break", "raised ValueError: I know no relu")
    ]
    assert texts(app, "backend-0/1") == BACKEND.splitlines()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[CompileJob]:
    """The jobs that the page would have queued."""
    jobs: list[CompileJob] = []
    monkeypatch.setattr(actions, "submit", jobs.append)
    monkeypatch.setattr(submit, "stored_run", lambda _: None)
    return jobs


INDUCTOR = CompileJob(
    Model("sample", "sin_cos"), compile=CompileOptions(mode="max-autotune"), target="h100", measure=False
)


def test_a_run_of_another_backend_is_offered_with_those_that_ship_and_ones_own(
    empty_home: Path, made: list[CompileJob]
) -> None:
    app = opened(menu.BACKEND.script, stored(empty_home, chain_log(2), INDUCTOR))
    assert_sound(app)
    app.button(key="with-registry").click().run()
    app.button(key="run-backend").click().run()
    assert_sound(app)
    assert [(job.model, job.target, job.compile) for job in made] == [
        (INDUCTOR.model, "", CompileOptions(backend="registry")),
        (INDUCTOR.model, "", CompileOptions(backend="backend", backend_code=BackendChoice("template").text)),
    ]


def test_where_no_code_may_be_brought_only_those_that_ship_are_offered(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    app = opened(menu.BACKEND.script, stored(empty_home, chain_log(2), INDUCTOR))
    assert_sound(app)
    offered = [button.key for button in app.button if str(button.key).startswith(("with-", "run-backend"))]
    assert offered == ["with-template", "with-inspect", "with-registry", "with-aot", "with-pattern"]
    assert [key for key in keys(app) if key.startswith("write")] == []


def test_the_backend_of_a_run_is_there_to_be_changed(empty_home: Path, made: list[CompileJob]) -> None:
    app = opened(menu.BACKEND.script, stored(empty_home), beside="write")
    assert_sound(app)
    app.text_input[0].set_value("other").run()
    app.button(key="run-backend").click().run()
    assert [(job.compile.backend, job.compile.backend_code) for job in made] == [("other", BACKEND)]


def test_text_of_a_backend_is_shown_as_text(empty_home: Path) -> None:
    hostile = f"raised [click](http://evil.example/) {IMAGE}"
    app = opened(menu.BACKEND.script, stored(empty_home, backend_log(hostile)), compilation="0/1")
    assert_sound(app)
    assert [part for part in ("](http", IMAGE) if part in words(app)] == []
