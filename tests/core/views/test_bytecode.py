"""Bytecode before and after Dynamo, in words and listings."""

from core import load_text
from core.views.compilations import BytecodeView
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def bytecode_of(name: str, compile_id: str) -> BytecodeView:
    log = TRACES / name / "trace.log"
    report = recorded_report(log)
    compilation = report.compilation(compile_id)
    assert compilation is not None

    return BytecodeView(report, compilation, lambda payload: load_text(log, payload))


def test_the_title_counts_instructions_and_calls() -> None:
    bytecode = bytecode_of("graph_break_zoo", "1/0")
    assert bytecode.is_recorded
    assert bytecode.title.startswith("\\[1/0\\] look: ")
    assert ", with calls of 1 compiled graph and 1 resume function." in bytecode.title


def test_the_modified_listing_marks_calls_of_the_graph_and_of_resume_functions() -> None:
    listing = bytecode_of("graph_break_zoo", "1/0").modified_listing
    assert {listing.notes[number] for number in listing.calls_graph} <= {"the compiled graph"}
    resumes = [note for number, note in listing.notes.items() if number not in listing.calls_graph]
    assert resumes
    assert all(note.startswith("resumes in ") for note in resumes)


def test_resume_functions_are_linked() -> None:
    bytecode = bytecode_of("graph_break_zoo", "1/0")
    graph, *resumes = bytecode.links
    assert (graph.page, graph.label) == ("fx_graph", "The graph")
    assert all(link.label.startswith(f"[{link.picks['compilation']}] ") for link in resumes)
    assert resumes
