"""A log whose graph is too dense for Python's parser: the page shows its text, and says that it was not parsed."""

from pathlib import Path

import pytest

from core import open_report
from core.base.syntax import MAX_CHARS
from pages import menu
from pages.look import palette
from tests.support.apps import component, keys, opened, sound, titles, words
from tests.support.homes import add_run
from tests.support.logs import record

DENSE = "1;" * (MAX_CHARS // 2)
COMPILATION = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}


@pytest.mark.promise("messages")
def test_a_graph_too_dense_to_parse_is_shown_as_text_and_said_not_to_be_parsed(empty_home: Path) -> None:
    """Text that is too dense to parse in pieces is shown unparsed, and the page says so."""
    log = record({"dynamo_output_graph": {}, **COMPILATION}, DENSE)
    run = add_run(empty_home, "dense", log)
    report = open_report(run)
    assert any("graph text was not parsed" in problem.what for problem in report.problems)
    app = sound(opened(menu.FX_GRAPH.script, run.id))
    assert titles(app)[0].startswith("Not parsed:")
    assert "was not parsed" in words(app)
    assert f"first {palette.MAX_CHARS:,} characters; the download has all {MAX_CHARS:,}" in words(app)
    (view,) = (key for key in keys(app) if key.startswith("unparsed"))
    (line,) = component(app, view)["lines"]
    assert "".join(text for _, text in line[2]).startswith("1;1;1;")
