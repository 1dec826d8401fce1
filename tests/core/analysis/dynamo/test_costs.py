"""Costs of graph breaks: the frames that Dynamo compiles only because of a break."""

from dataclasses import replace

import pytest

from core.analysis.dynamo.costs import break_costs, code_words, cost_words
from core.report import Compilation, Frame, FxGraph, Guard, Payload, Phase, Place, Report, Setting
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import frame
from tests.support.reports.generating import BROKEN

FILE = "m.py"
WRAPPER = Frame("/lib/torch/_dynamo/eval_frame.py", 1166, "compile_wrapper")
GRAPH = FxGraph("dynamo_output_graph", "dynamo_output_graph", "", 0, Payload(0, 0), {"call_function": 2})
GUARDS = (Guard("TENSOR_MATCH", "L['x']", "check_tensor(L['x'])", 1), Guard("ID_MATCH", "G['torch']", "id", 1))


def made(number: str, name: str, *callers: str, status: str = "ok", call: int | None = 0) -> Compilation:
    above = (WRAPPER, *(Frame(FILE, 7, caller) for caller in callers)) if number != "0/0" else ()
    stack = (*above, Frame(FILE, 3, name))
    return frame(number, name, status, guards=GUARDS, graphs=(GRAPH,), stack=stack, call=call)


def report_of(stack: tuple[Frame, ...], hits: tuple[str, ...], *compilations: Compilation) -> Report:
    broken = replace(BROKEN, place=Place(FILE, stack[-1].line), stack=stack, compilations=hits)
    times = [(compilation.id, 10.0 * at) for at, compilation in enumerate(compilations)]
    phases = [Phase("entire_frame_compile", name, at * 1e6, (at + 10) * 1e6, 0) for name, at in times]
    phases += [Phase("inductor_compile", name, (at + 2) * 1e6, (at + 9) * 1e6, 1) for name, at in times]
    return Report(Setting(), compilations, (broken,), phases=tuple(phases))


OUTER, MID, INNER = Frame(FILE, 11, "outer"), Frame(FILE, 7, "mid"), Frame(FILE, 4, "inner")
NESTED = report_of(
    (OUTER, MID, INNER),
    ("0/0", "1/0", "2/0", "4/0"),
    made("0/0", "outer"),
    made("1/0", "mid"),
    made("2/0", "inner", "outer"),
    made("3/0", "torch_dynamo_resume_in_inner_at_4", "outer", "mid"),
    made("4/0", "torch_dynamo_resume_in_mid_at_7", "outer"),
    # The second call of `inner` is on another line, which the break's stack does not have.
    made("5/0", "torch_dynamo_resume_in_mid_at_8", "outer", "mid"),
    made("6/0", "torch_dynamo_resume_in_outer_at_11"),
)
RESUMED_TWICE = report_of(
    (Frame(FILE, 5, "step"),),
    ("0/0", "0/1"),
    made("0/0", "step"),
    made("1/0", "torch_dynamo_resume_in_step_at_5"),
    made("0/1", "step", call=1),
    made("1/1", "torch_dynamo_resume_in_step_at_5", call=1),
    made("1/2", "torch_dynamo_resume_in_step_at_5", call=2, status="failed"),
)
SKIPPED = report_of(
    (Frame(FILE, 9, "step"),),
    ("0/0",),
    made("0/0", "step", status="failed"),
    made("1/0", "helper"),
    made("1/1", "helper", call=1),
)
AFTER_RESET = report_of(
    (Frame(FILE, 5, "step"),),
    ("0/0", "2:0/0"),
    made("0/0", "step"),
    made("1/0", "torch_dynamo_resume_in_step_at_5"),
    made("2:0/0", "step", call=1),
    made("2:1/0", "torch_dynamo_resume_in_step_at_5", call=1),
)


@pytest.mark.parametrize(
    ("report", "cost", "code"),
    [
        (NESTED, "6 more frames (4 resume functions), 12 guards, 18.0 s in Dynamo", "4 graphs, 40.0 s of compile time"),
        (
            RESUMED_TWICE,
            "1 more frame (1 resume function) compiled 2 times, 4 guards, 9.00 s in Dynamo",
            "3 graphs, 30.0 s of compile time",
        ),
        (SKIPPED, "1 more frame compiled 2 times, 4 guards, 6.00 s in Dynamo", ""),
        (
            AFTER_RESET,
            "2 more frames (2 resume functions), 4 guards, 6.00 s in Dynamo",
            "2 graphs, 20.0 s of compile time",
        ),
    ],
)
def test_a_break_costs_the_frames_that_there_are_because_of_it(report: Report, cost: str, code: str) -> None:
    costs = break_costs(report)
    assert (cost_words(costs), code_words(costs)) == (cost, code)


def test_a_frame_after_a_reset_is_no_cost_without_recorded_calls() -> None:
    unknown = [replace(each, call=None) for each in AFTER_RESET.compilations]
    costs = break_costs(replace(AFTER_RESET, compilations=tuple(unknown)))
    assert [each.id for each in costs[0].compilations] == ["1/0", "2:1/0"]


def test_a_run_of_one_frame_has_a_break_without_a_cost() -> None:
    report = report_of((Frame(FILE, 9, "step"),), ("0/0",), made("0/0", "step", status="failed"))
    assert (cost_words(break_costs(report)), code_words(break_costs(report))) == ("", "")


def test_no_compilation_is_a_cost_of_two_breaks() -> None:
    twice = (*NESTED.graph_breaks, replace(NESTED.graph_breaks[0], reason="another", compilations=("0/0", "2/0")))
    costs = break_costs(replace(NESTED, graph_breaks=twice))
    assert [len(cost.compilations) for cost in costs] == [6, 0]
    assert cost_words(costs) == cost_words(break_costs(NESTED))


def test_the_zoo_has_a_graph_after_each_break_and_one_before() -> None:
    costs = break_costs(recorded_report(TRACES / "graph_break_zoo" / "trace.log"))
    assert [(len(cost.compilations), cost.graphs, cost.launches) for cost in costs] == [(3, 1, 1)] * 4 + [(2, 1, 1)]
    assert code_words(costs).startswith("5 graphs, 5 kernel launches, ")
