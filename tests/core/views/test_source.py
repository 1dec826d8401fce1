"""The user's files of a log, and the notes beside their lines."""

from core import Report, load_text
from core.report import Frame, GraphBreak, Payload, Place, RunError, Setting
from core.views.texts import SourceView
from tests.support.logs import recorded_report
from tests.support.places import TRACES

LOG = TRACES / "graph_break_zoo" / "trace.log"
CALLER, BROKEN = Frame("model.py", 3, "f", "g(x)"), Frame("library.py", 9, "g", "x.item()")


def read(payload: Payload) -> str:
    return load_text(LOG, payload)


def test_the_text_is_that_of_the_compiled_file_or_of_a_file_by_its_path() -> None:
    source = SourceView(recorded_report(LOG), read)
    assert source.path == "/compileboard/run/model.py"
    assert source.text() == source.text(source.path)
    assert "positive = x[x > 0]" in source.text()
    assert source.text("/elsewhere.py") == ""
    assert SourceView(Report(Setting()), read).text() == ""


def test_equal_reasons_of_a_line_are_one_note_and_an_error_is_at_its_last_frame() -> None:
    graph_break = GraphBreak("item()", "", (), "", "", Place("library.py", 9), "x.item()", (CALLER, BROKEN), ())
    frames = (Frame("model.py", 1, "main", "f(x)"), Frame("model.py", 5, "f", "h(x)"))
    error = RunError("calls", "ValueError", "", "no", frames, "")
    source = SourceView(Report(Setting()), read)
    assert source.notes("model.py", (graph_break, graph_break), error) == {3: "item() × 2", 5: "ValueError: no"}
    assert source.notes("library.py", (graph_break,), None) == {9: "item()"}
    assert source.notes("library.py", (graph_break,), error) == {9: "item()"}
    at_break = RunError("calls", "ValueError", "", "no", (CALLER,), "")
    assert source.notes("model.py", (graph_break,), at_break) == {3: "item()\nValueError: no"}
