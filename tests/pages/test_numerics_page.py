"""The page Numerics: what errors against float64 are told as, and how they are asked for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from core import CompileJob, Model
from core.report import Accuracy, BitComparison, GraphNumerics, NodeBits
from pages import menu
from tests.support.apps import assert_sound, code_of, component, elements, opened, titles, words
from tests.support.homes import IMAGE, add_run, add_scenario, job_of, record
from tests.support.numerics import EXACT, GRAPH, RIGHT, WRONG, numerics_log
from tests.support.screen import arranged, written


def run_of(home: Path, log: bytes) -> str:
    return add_run(home, "numerics", log, job=job_of("transformer_block")).id


def unescaped(app: AppTest) -> str:
    """All text of the page without the marks that keep it from being Markdown."""
    return words(app).replace("\\", "")


def test_the_first_node_that_differs_is_in_the_sentence_the_code_and_the_graph(empty_home: Path) -> None:
    run = run_of(empty_home, numerics_log(("output", WRONG), ("buffer `seen`", RIGHT), graph=GRAPH))
    app = opened(menu.NUMERICS.script, run)

    assert_sound(app)
    assert unescaped(app).startswith(
        "Compiled is wrong in output: off by 0.500 of the norm in float64, eager by 1.00e-7"
    )
    said = unescaped(app)
    assert "2 of 4 nodes differ, first `gelu`, `torch._C._nn.gelu`: off by 0.500 of the norm" in said
    assert "The graph's own outputs are bit-identical. 1 node not compared: a view of another value (1)." in said
    assert app.query_params["item"] == "n:gelu"
    results, nodes = (table.value for table in app.dataframe)
    assert list(results["compiled is"]) == ["differs", "further"]
    assert arranged(app) == [
        "2 × row center",
        "1 × row",
        "1 × columns 50:50 medium gap",
        "1 × row end",
        "1 × columns 60:40 medium gap",
    ]
    assert "| index |" not in written(app)
    assert list(nodes["compiled is"]) == [
        *("as right as eager", "as right as eager", "not compared", "first to differ", "differs"),
    ]
    assert code_of(app, "user-numerics-0/0")["title"] == "model.py"
    link: dict[str, Any] = {"graph": "dynamo_output_graph", "select": "n:gelu", "colour": "numerics"}
    graph = opened(menu.FX_GRAPH.script, run, **link)
    assert_sound(graph)
    assert graph.query_params["colour"] == "numerics"
    assert "first to differ: off by 0.500 of the norm" in str([table.value for table in graph.table])
    overlay = next(
        one for one in component(graph, "fx-0/0-dynamo_output_graph")["overlays"] if one["name"] == "numerics"
    )
    assert [category["name"] for category in overlay["categories"]][-1] == "first to differ"


def test_a_node_that_is_selected_is_shown(empty_home: Path) -> None:
    run = run_of(empty_home, numerics_log(("output", EXACT), graph=replace(GRAPH, nodes=GRAPH.nodes[:3])))
    app = opened(menu.NUMERICS.script, run, select="n:linear")

    assert_sound(app)
    assert "Compiled gives the same bits as eager: both are off by at most 0 of the norm in float64" in unescaped(app)
    assert "as right as eager in the 2 nodes that were compared; 1 has the same bits." in unescaped(app)
    assert "`linear`" in unescaped(app)
    assert app.query_params["select"] == "n:linear"


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (None, "Single nodes were not compared."),
        (GraphNumerics("", reason="RuntimeError: no"), "No node was compared: RuntimeError: no."),
        (GraphNumerics("0/0", reason="it was not called"), "No node was compared: it was not called."),
        (replace(GRAPH, nodes=()), "No node was compared: the graph has none that computes a tensor."),
    ],
)
def test_why_no_node_was_compared_is_reported(empty_home: Path, graph: GraphNumerics | None, said: str) -> None:
    app = opened(menu.NUMERICS.script, run_of(empty_home, numerics_log(("output", RIGHT), graph=graph)))

    assert_sound(app)
    assert said in unescaped(app)


def test_undecided_results_say_why(empty_home: Path) -> None:
    reason = "the model could not be run in float64: in float64 the model draws random numbers in another order"
    app = opened(menu.NUMERICS.script, run_of(empty_home, numerics_log(("output", Accuracy("int64")), reason=reason)))

    assert_sound(app)
    assert unescaped(app).startswith(f"The accuracy of the results is unknown: {reason}")


def test_names_that_would_be_markup_are_text(empty_home: Path) -> None:
    nodes = (replace(GRAPH.nodes[3], name=IMAGE), replace(GRAPH.nodes[2], left_out=f"**{IMAGE}**"))
    log = numerics_log((f"output['{IMAGE}']", WRONG), graph=replace(GRAPH, nodes=nodes), reason=IMAGE)
    app = opened(menu.NUMERICS.script, run_of(empty_home, log))

    assert_sound(app)
    assert IMAGE not in words(app).replace(f"`{IMAGE}`", "")


def test_a_run_without_them_can_be_held_against_float64(empty_home: Path, submitted: list[CompileJob]) -> None:
    app = opened(menu.NUMERICS.script, add_scenario(empty_home, "transformer_block"))
    assert titles(app) == ["Results were not compared with float64"]
    app.button(key="numerics-now").click().run()

    assert_sound(app)
    assert submitted == [
        CompileJob(Model("sample", "transformer_block"), training=False, measure=False, numerics="nodes")
    ]


@pytest.mark.parametrize("scenario", ["target_h100", "foreign"])
def test_what_cannot_be_compared_is_not_offered(runs: dict[str, str], scenario: str) -> None:
    app = opened(menu.NUMERICS.script, runs[scenario])

    assert_sound(app)
    assert "numerics-now" not in [button.key for button in app.button]


def test_the_overview_leads_to_them(empty_home: Path) -> None:
    app = opened(menu.OVERVIEW.script, run_of(empty_home, numerics_log(("output", EXACT))))

    assert_sound(app)
    said = "Compiled gives the same bits as eager: both are off by at most 0 of the norm in float64"
    assert said in [link.label.replace("\\", "") for link in elements(app, "page_link")]


BITS = BitComparison(
    {"batch": 1},
    nodes=(
        NodeBits("sum_1", "aten.sum", "a.py:1: `x`", "k0", "k1", "float32", 8, 3, 0.5, True, "split reduction: `k1`"),
        NodeBits("relu", "aten.relu", "", "k2", "k2", "float32", 8, 2),
    ),
    compared=5,
    different=2,
)


def test_values_with_other_bits_are_listed_with_the_reason_of_the_first(empty_home: Path) -> None:
    bits = record("compileboard_bits", {"schema": 1, **msgspec.to_builtins(BITS)})
    app = opened(menu.NUMERICS.script, run_of(empty_home, numerics_log(("output", EXACT)) + bits))

    assert_sound(app)
    assert "With `batch=1`, 2 of 5 values have other bits. They first differ at `sum_1`" in unescaped(app)
    rows = next(table.value for table in app.dataframe if "begins here" in table.value)
    assert list(rows["begins here"]) == ["yes", ""]
    assert list(rows["elements"]) == ["3 of 8", "2 of 8"]
    assert list(rows["why"]) == ["split reduction: k1", ""]


def test_a_configuration_is_submitted_and_a_wrong_one_is_refused(submitted: list[CompileJob], empty_home: Path) -> None:
    app = opened(menu.NUMERICS.script, run_of(empty_home, numerics_log(("output", EXACT))))
    app.text_input(key="bits-other").set_value("bath=1")
    app.button(key="bits-now").click().run()
    assert "`bath` is none of batch, eval" in words(app)
    assert submitted == []
    app.text_input(key="bits-other").set_value("batch=2, options.split_reductions=False")
    app.button(key="bits-now").click().run()
    assert_sound(app)
    assert [job.bits for job in submitted] == [{"batch": 2, "options.split_reductions": False}]
