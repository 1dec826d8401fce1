"""The tour: its stops have the run's own numbers, and their times are the run's compile time."""

from dataclasses import replace

import pytest

from core import Report
from core.analysis import break_costs, code_words, compile_time_s, cost_words
from core.analysis.durations import class_seconds
from core.report import Phase, Setting
from core.trace.parsers import load_graph
from core.views.tour import TourView
from tests.record import SCENARIOS
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def tour(name: str, **changes: object) -> TourView:
    """The tour of a recorded scenario, with fields of its report changed."""
    log = TRACES / name / "trace.log"
    report = replace(recorded_report(log), **changes)
    return TourView.of(report, lambda compilation, graph: load_graph(log, compilation, graph))


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_times_of_the_stops_are_the_compile_time(name: str) -> None:
    view = tour(name)
    stops = view.stops
    compiling = sum(stop.seconds or 0.0 for stop in stops[:4])
    assert compiling == pytest.approx(compile_time_s(recorded_report(TRACES / name / "trace.log")))
    assert [stop.name for stop in stops] == ["Dynamo", "AOTAutograd", "Inductor", "Kernels", "Running"]
    assert all(stop.sentence and stop.facts and stop.speech for stop in stops)
    assert len(view.answers) == 5
    assert len(list(view.text)) > 20


def test_a_phase_without_a_class_counts_for_the_one_around_it() -> None:
    phases = (
        Phase("dynamo", "0/0", 0.0, 10e6, 0),
        Phase("inductor_compile", "0/0", 2e6, 8e6, 1),
        Phase("something new", "0/0", 3e6, 5e6, 2),
        Phase("something else", "0/0", 12e6, 13e6, 0),
        Phase("never ended", "0/0", 14e6, None, 0),
    )
    assert class_seconds(Report(Setting(), phases=phases)) == pytest.approx({"dynamo": 5.0, "inductor": 6.0})


def test_the_stops_count_what_the_run_recorded() -> None:
    view = tour("measured")
    facts = {stop.name: stop.facts for stop in view.stops}
    assert facts["Dynamo"][:2] == ("1 compiled frame, 0 graph breaks", "17 captured ops in 1 graph")
    assert facts["Inductor"][0] == "16 scheduler nodes, 10 after fusion"
    assert facts["Kernels"][:2] == ("6 kernels (9 launches)", "4 generated kernels in C++, 2 library functions")
    assert facts["Running"][0].startswith("eager ")
    training = {stop.name: stop.facts for stop in tour("training_step").stops}
    assert training["AOTAutograd"][1] == "1 backward graph"
    assert training["AOTAutograd"][2].split(",")[0].endswith("saved for the backward")


def test_the_questions_are_answered_with_the_runs_numbers() -> None:
    answers = {answer.question: answer.answer for answer in tour("measured").answers}
    assert "Here 6 lines became 17 nodes" in answers["Does each line of Python become one node?"]
    assert "This run has no break." in answers["Why do graph breaks matter?"]
    broken = {answer.question: answer.answer for answer in tour("graph_break_zoo").answers}
    costs = break_costs(recorded_report(TRACES / "graph_break_zoo" / "trace.log"))
    assert broken["Why do graph breaks matter?"] == (
        "A break ends a graph, and nothing fuses across it. "
        f"This run's 5 breaks added {cost_words(costs)}. Code after them: {code_words(costs)}."
    )
    assert "eager time over compiled time is" in answers["At which batch size does compiling pay?"]


def test_claims_are_compared_with_what_was_measured() -> None:
    claims = dict(tour("measured").claims)
    assert claims["A matmul, a bias and a ReLU become one kernel."].startswith(
        "Not here: all 4 matmuls are calls of a library"
    )
    timing = recorded_report(TRACES / "measured" / "trace.log").timing
    assert timing is not None
    fast = replace(timing, compiled_s=tuple(value / 10 for value in timing.compiled_s))
    claims = dict(tour("measured", timing=fast).claims)
    assert claims["torch.compile makes models 2 to 10 times faster."].startswith("True here")
    unmeasured = dict(tour("script").claims)
    assert unmeasured["torch.compile makes models 2 to 10 times faster."] == "Not measured in this run."


def test_lines_are_counted_with_those_of_one_node() -> None:
    answers = [answer.answer for answer in tour("transformer_block").answers if "line of Python" in answer.question]
    assert answers == [
        "No. Here 6 lines became 17 nodes. 1 line became exactly one node, and line 47 became 5 nodes. "
        "Lines that compute no tensor have no node."
    ]
