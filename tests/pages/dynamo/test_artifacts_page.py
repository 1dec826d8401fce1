"""The page Artifacts: records by compilation, kind and text, and one of them."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from core.trace.index import index_of
from pages import menu
from tests.support.apps import code_of, downloads, opened, read_titles, read_words, sound
from tests.support.homes import IMAGE, add_run
from tests.support.logs import record
from tests.support.places import TRACES


def listed(app: AppTest) -> dict[str, list[object]]:
    return {name: list(column) for name, column in app.dataframe[0].value.items()}


def test_the_records_of_a_run_are_listed_and_the_first_is_shown(runs: dict[str, str]) -> None:
    app = sound(opened(menu.ARTIFACTS.script, runs["training_step"]))
    index = index_of(TRACES / "training_step" / "trace.log")
    assert read_titles(app)[0].startswith(f"{len(listed(app)['record'])} of {len(index)} records: ")
    assert app.caption[1].value.startswith("Record 0 · `artifact:compileboard_job` · byte 0")
    assert code_of(app, "record-0")["title"] == "artifact:compileboard_job"
    assert downloads(app) == ["Payload", "Header"]


def test_the_url_names_a_record_that_the_table_leaves_out(runs: dict[str, str]) -> None:
    app = sound(opened(menu.ARTIFACTS.script, runs["training_step"], record="20"))
    (chosen,) = index_of(TRACES / "training_step" / "trace.log").rows([20])
    assert chosen.kind == "describe_source"
    assert app.caption[1].value.startswith("Record 20 · `describe_source`")
    app.toggle(key="records-beside").set_value(True).run()
    assert 20 in listed(sound(app))["record"]


def test_a_search_marks_the_line_and_says_if_nothing_is_there(runs: dict[str, str]) -> None:
    app = sound(
        opened(menu.ARTIFACTS.script, runs["transformer_block"], record_text="def FORWARD", kind="dynamo_output_graph")
    )
    number, line = (listed(app)[name][0] for name in ("record", "line"))
    assert set(listed(app)["kind"]) == {"dynamo_output_graph"}
    assert code_of(app, f"record-{number}")["initial"] == f"c:{line}"
    nothing = sound(opened(menu.ARTIFACTS.script, runs["transformer_block"], record_text="nowhere at all"))
    assert "No record matches." in read_words(nothing)


def test_what_a_log_says_is_text(empty_home: Path) -> None:
    names = record({"artifact": {"name": IMAGE, "encoding": "json"}}, f'[{{"{IMAGE}": "{IMAGE}"}}]')
    run = add_run(empty_home, "hostile", names + record({"artifact": {"name": "b"}}, "\x00" * 99), kind="log").id
    app = sound(opened(menu.ARTIFACTS.script, run))
    assert listed(app)["kind"][0] == f"artifact:{IMAGE}"
    assert f"`artifact:{IMAGE}`" in app.caption[0].value
    assert list(app.dataframe[1].value.columns) == [IMAGE]
    other = sound(opened(menu.ARTIFACTS.script, run, record="1"))
    assert "00000000  09 00 00" in str(code_of(other, "record-1")["lines"][0])
