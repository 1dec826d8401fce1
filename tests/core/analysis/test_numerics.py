"""Whether compiled is as right as eager, by float64, in words; on literal reports."""

from dataclasses import replace

import pytest

from core.analysis.numerics import (
    first_inaccurate,
    node_errors,
    node_standings,
    numerics,
    numerics_of,
    numerics_sentence,
    of_tolerance,
    standing,
)
from core.report import Accuracy, CallNumerics, GraphNumerics, NodeAccuracy, Report, ResultAccuracy, Setting
from core.views.numerics import (
    graph_sentence,
    left_out_words,
    narrowed_words,
    node_words,
    numerics_lines,
    outputs_words,
)

SAME = Accuracy("bfloat16", 8, 0.002, 0.002, 0.01, 0.01, apart=0.0, tolerance=0.01, same=True)
CLOSER = replace(SAME, compiled_error=0.001, apart=0.002)
FURTHER = replace(SAME, compiled_error=0.004, apart=0.002)
CLOSE = replace(SAME, compiled_error=0.0021, apart=0.001)
WRONG = replace(SAME, compiled_error=1.5, compiled_max_abs=2.0, apart=1.5, same=False)
ZEROS = replace(WRONG, eager_error=None, compiled_error=None, eager_max_abs=0.0)
OVERFLOWS = replace(SAME, eager_odd=3, apart=None)
UNTOLD = Accuracy("float32", 8, apart=0.5, tolerance=2e-5, reason="the call draws random numbers")
OF_NORM = "of the norm in float64, eager by 0.00200."
OUTPUTS = "with the compared nodes as additional outputs"

GRAPH = GraphNumerics(
    "0/0",
    (
        NodeAccuracy("linear", SAME),
        NodeAccuracy("view", left_out="a view of another value"),
        NodeAccuracy("relu", WRONG),
        NodeAccuracy("softmax", WRONG),
        NodeAccuracy("late"),
    ),
    parts=1,
    changed=0.0,
)


def of(*found: Accuracy, reason: str = "") -> Report:
    """A report of one call that left so many outputs."""
    results = tuple(ResultAccuracy(f"output[{index}]", one) for index, one in enumerate(found))
    return Report(Setting(), call_numerics=(CallNumerics(0, results, reason),))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (SAME, "the same bits"),
        (CLOSER, "closer"),
        (FURTHER, "further"),
        (CLOSE, "as close"),
        (WRONG, "differs"),
        (ZEROS, "differs"),
        (OVERFLOWS, "closer"),
        (UNTOLD, "not told"),
    ],
)
def test_compiled_stands_somewhere_by_float64(found: Accuracy, expected: str) -> None:
    assert standing(found) == expected


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            (SAME, SAME),
            "Compiled gives the same bits as eager: both are off by at most 0.00200 of the norm in float64.",
        ),
        ((CLOSER,), f"Compiled is closer to float64 than eager: off by at most 0.00100 {OF_NORM}"),
        (
            (CLOSER, SAME, CLOSE),
            f"Compiled is closer to float64 than eager in 1 of 3 results: off by at most 0.00210 {OF_NORM}",
        ),
        (
            (FURTHER,),
            "Compiled is further from float64 than eager, within what its dtype allows: off by at most 0.00400 "
            f"{OF_NORM}",
        ),
        (
            (FURTHER, CLOSER, CLOSER),
            f"Of 3 results 2 are closer to float64 than eager, 1 further: off by at most 0.00400 {OF_NORM}",
        ),
        ((CLOSE, SAME), f"Compiled is as close to float64 as eager: off by at most 0.00210 {OF_NORM}"),
        (
            (CLOSE, WRONG, ZEROS),
            "Compiled is wrong in output[2], and 1 more: off by up to 2.00 where float64 has zeros, eager by 0.",
        ),
        ((SAME, WRONG), "Compiled is wrong in output[1]: off by 1.50 of the norm in float64, eager by 0.00200."),
    ],
)
def test_the_results_of_a_run_are_a_sentence(found: tuple[Accuracy, ...], words: str) -> None:
    told = numerics(of(*found))
    assert told is not None
    assert numerics_sentence(told) == words


def test_an_undecided_result_says_why() -> None:
    told = numerics(of(UNTOLD, reason="the call draws random numbers"))
    assert told is not None

    assert told.worst is None
    assert numerics_sentence(told) == "The accuracy of the results is unknown: the call draws random numbers."
    assert numerics(Report(Setting())) is None


def test_the_first_node_that_differs_is_named() -> None:
    assert first_inaccurate(GRAPH) is GRAPH.nodes[2]
    assert node_standings(GRAPH) == {
        "linear": "as right as eager",
        "view": "not compared",
        "relu": "first to differ",
        "softmax": "differs",
        "late": "not compared",
    }
    assert node_errors(GRAPH) == {"linear": 0.002, "relu": 1.5, "softmax": 1.5}
    words = "off by 1.50 of the norm in float64, eager by 0.00200"
    assert graph_sentence(GRAPH) == f"2 of 3 nodes differ, first `relu`: {words}."
    assert graph_sentence(GRAPH, {"relu": "torch.relu"}) == f"2 of 3 nodes differ, first `relu`, `torch.relu`: {words}."
    assert node_words(GRAPH, "relu") == f"first to differ: {words}"
    assert node_words(GRAPH, "view") == "not compared: a view of another value"
    assert node_words(GRAPH, "nowhere") == node_words(GRAPH, "late") == ""
    assert left_out_words(GRAPH) == "2 nodes not compared: a view of another value (1); not reached (1)."


def test_a_graph_without_a_difference_says_how_many_nodes_have_the_same_bits() -> None:
    nodes = tuple(NodeAccuracy(f"n{index}", found) for index, found in enumerate((SAME, CLOSE, CLOSER)))
    right = replace(GRAPH, nodes=nodes)

    assert first_inaccurate(right) is None
    assert graph_sentence(right) == (
        "Compiled is as right as eager in the 3 nodes that were compared; 1 has the same bits."
    )
    assert graph_sentence(replace(GRAPH, nodes=nodes[:1])) == (
        "Compiled gives the same bits as eager in the 1 node that was compared."
    )
    assert left_out_words(right) == ""
    assert graph_sentence(GraphNumerics("0/1", reason="ValueError: no")) == "No node was compared: ValueError: no."


@pytest.mark.parametrize(
    ("parts", "changed", "words"),
    [
        (0, None, ""),
        (1, 0.0, f"from 1 compilation {OUTPUTS}. The graph's own outputs are bit-identical."),
        (2, 0.003, f"from 2 compilations {OUTPUTS}. The graph's own outputs changed by up to 0.00300 of their norm."),
        (1, None, f"from 1 compilation {OUTPUTS}, which may change fusion."),
    ],
)
def test_what_giving_values_out_changed_is_reported(parts: int, changed: float | None, words: str) -> None:
    told = outputs_words(replace(GRAPH, parts=parts, changed=changed))
    assert told == (f"Compiled values are {words}" if words else "")


def test_ops_that_float64_lacks_are_named() -> None:
    assert narrowed_words(()) == ""
    assert narrowed_words(("aten::a", "aten::b")) == (
        "Torch has no float64 version of `aten::a`, `aten::b`, which were computed in float32."
    )


def test_a_run_is_reported_line_by_line() -> None:
    report = replace(of(WRONG), graph_numerics=(GRAPH,))

    assert numerics_of(report, "0/0") is GRAPH
    assert numerics_of(report, "0/1") is None
    assert numerics_lines(report) == [
        "numerics: Compiled is wrong in output[0]: off by 1.50 of the norm in float64, eager by 0.00200.",
        "[0/0] 2 of 3 nodes differ, first `relu`: off by 1.50 of the norm in float64, eager by 0.00200.",
    ]
    assert of_tolerance(WRONG) == 150
    assert of_tolerance(replace(WRONG, tolerance=0.0)) is None


def test_a_node_without_a_verdict_or_without_errors_has_no_accuracy_class() -> None:
    assert standing(replace(FURTHER, same=None)) == "not told"
    assert standing(replace(FURTHER, eager_error=None, eager_max_abs=None)) == "not told"
    assert standing(FURTHER) == "further"
