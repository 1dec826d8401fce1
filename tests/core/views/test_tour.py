"""The tour: its stops have the run's own numbers, and their times are the run's compile time."""

from dataclasses import replace
from typing import Any

import pytest

from core import Report
from core.analysis.durations import class_seconds, compile_time_s
from core.analysis.dynamo.costs import break_costs, code_words, cost_words
from core.report import Kernel, Load, Phase, Setting
from core.trace.parsers.build import load_graph
from core.views.kernels.kernel import epilogue_words
from core.views.tour import TourView
from tests.record import SCENARIOS
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.timed import kernel


def tour(name: str, **changes: Any) -> TourView:
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


def test_each_stop_has_a_picture_of_this_run_and_draws_no_time_of_a_busy_machine() -> None:
    view = tour("measured")
    assert [[bars.label for bars in stop.figures] for stop in view.stops] == [
        ["Captured ops"],
        ["ATen ops"],
        ["Memory traffic"],
        ["Kernel launches with the most time"],
        ["Median time of a call"],
    ]
    assert "     compiled: 5.10 ms" in [*view.text]
    report = recorded_report(TRACES / "measured" / "trace.log")
    assert report.timing is not None
    busy = Load(others=0.9)
    disturbed = tour("measured", kernel_load=busy, timing=replace(report.timing, load=busy))
    assert [bars.label for bars in disturbed.stops[3].figures] == ["Kernel launches with the most traffic"]
    assert disturbed.stops[4].figures == ()


def test_the_stops_count_what_the_run_recorded() -> None:
    view = tour("measured")
    facts = {stop.name: stop.facts for stop in view.stops}
    assert facts["Dynamo"][:2] == ("1 compiled frame, 0 graph breaks", "17 captured ops in 1 graph")
    assert facts["Inductor"][0] == "26 ops (and 24 views) fused into 9 launches of 6 kernels"
    assert facts["Kernels"][:2] == ("9 launches of 6 kernels", "4 generated kernels in C++, 2 library functions")
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
        "Not here: all 4 matmuls are calls of a library; each adds a tensor"
    )
    timing = recorded_report(TRACES / "measured" / "trace.log").timing
    assert timing is not None
    compiled = tuple(value / 10 for value in timing.sides["compiled"])
    fast = replace(timing, sides={**timing.sides, "compiled": compiled})
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


def test_a_busy_machine_gives_no_figure_and_no_claim() -> None:
    timing = recorded_report(TRACES / "measured" / "trace.log").timing
    assert timing is not None
    view = tour("measured", timing=replace(timing, load=Load(others=0.5)))
    running = view.stops[-1]
    words = "not measurable: the machine was busy while it was measured"
    assert (running.seconds, running.time, running.facts[0]) == (None, "not measurable", f"speed {words}")
    answers = {answer.question: answer.answer for answer in view.answers}
    assert "A later call takes" not in answers["Why is the first call slower than the others?"]
    assert answers["At which batch size does compiling pay?"].startswith(f"The speed of this run is {words}. ")
    assert dict(view.claims)["torch.compile makes models 2 to 10 times faster."] == f"N{words[1:]}."
    text = "\n".join(view.text)
    assert "eager over compiled" not in text
    assert "ot measured" not in text


def test_calls_that_all_compiled_are_no_time_of_a_call() -> None:
    calls = recorded_report(TRACES / "training_step" / "trace.log").calls
    running = tour("training_step").stops[-1]
    assert (running.seconds, running.time, running.facts[0]) == (None, "not timed", "no call without compiling")
    again = replace(calls[0], index=1, how="reused", compiled_s=2e-3)
    running = tour("training_step", calls=(*calls, again)).stops[-1]
    assert (running.time, running.facts[0]) == ("2.00 ms", "last call without compiling, timed once")
    assert tour("dynamic_batch").stops[-1].facts[0] == "last call without compiling, timed once"
    limit = tour("recompile_zoo").stops[-1]
    assert limit.facts[0] == "no call ran only reused code"


def test_a_backend_that_is_not_inductor_has_no_stop_of_inductor() -> None:
    view = tour("eager_backend")
    assert view.title.startswith("From Python to graphs in ")
    words = "not compiled by Inductor: the backend was `eager`"
    assert [(stop.time, stop.facts[0]) for stop in view.stops[1:4]] == [
        ("did not run", "AOTAutograd recorded no graph in this run"),
        ("did not run", words),
        ("did not run", words),
    ]
    answers = {answer.question: answer.answer for answer in view.answers}
    assert answers["How does Inductor decide what to fuse?"].endswith(f"This run was {words}.")
    assert answers["Why is the first call slower than the others?"].count(" ms") == 3
    assert dict(view.claims)["A matmul, a bias and a ReLU become one kernel."] == f"This run was {words}."


def test_several_compilations_of_a_frame_are_one_frame() -> None:
    assert tour("recompile_zoo").stops[0].facts[:2] == (
        "1 compiled frame with 8 compilations, 0 graph breaks",
        "47 captured ops in 8 graphs",
    )


def matmul(name: str, *origins: str, extern: bool = True) -> Kernel:
    made = kernel(f"extern_kernels.{name}" if extern else name, origins=origins)
    return replace(made, extern=extern)


@pytest.mark.parametrize(
    ("kernels", "words"),
    [
        ((), "The kernels of this run have no matmul."),
        ((matmul("mm", "mm"),), "Not here: the matmul is a call of a library, without a bias. "),
        (
            (matmul("addmm", "addmm"), matmul("mm", "mm_1"), matmul("mm")),
            "Not here: all 3 matmuls are calls of a library; 1 of them adds a tensor, such as a bias, within the call.",
        ),
        (
            (matmul("addmm"), matmul("addmm", "addmm_1")),
            "Not here: both matmuls are calls of a library; each adds a tensor, such as a bias, within the call. ",
        ),
        ((matmul("t", "addmm", "relu", extern=False), matmul("mm", "mm")), "True for 1 of 2 matmuls here."),
        ((matmul("t", "mm", "add", "relu", extern=False),), "True for 1 of 1 matmul here."),
        ((matmul("t", "mm", "relu", extern=False),), "Not here: of 1 matmul, none is one kernel with a bias and "),
    ],
)
def test_the_claim_about_a_matmul_counts_each_matmul(kernels: tuple[Kernel, ...], words: str) -> None:
    text = epilogue_words(kernels)
    assert text.startswith(words)
    assert ("No other op is fused into such a call." in text) == (" of a library" in text)
