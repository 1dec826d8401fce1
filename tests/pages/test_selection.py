"""The selected op on all pages."""

import pytest
from streamlit.testing.v1 import AppTest

from pages import menu
from tests.support.apps import assert_sound, component, opened

GELU = "k:0/0.inference.cpp_fused_gelu_view_2"
DYNAMO, POST_GRAD = "dynamo_output_graph", "inductor_post_grad_graph.inference"


def on_page(app: AppTest, page: menu.Page) -> tuple[str, str]:
    """Open a page from the menu, which empties the URL; return the selected op and the page's part of it."""
    app.query_params.clear()
    app.switch_page(page.script).run()
    assert_sound(app)
    assert app.query_params["of"]
    chips = component(app, "header-chips")["chips"]
    return str(app.query_params["select"]), chips[0]["label"].removeprefix("selected · ")


def test_an_op_stays_selected_over_the_pages_of_the_menu(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["transformer_block"], graph=POST_GRAD, select="n:erf")
    assert_sound(app)

    pages = {page.name: on_page(app, page) for page in menu.PAGES.values()}

    assert {select for select, _ in pages.values()} == {"n:erf"}
    assert {name: part for name, (_, part) in pages.items() if part != "not on this page"} == {
        "overview": "its op",
        "compilations": "its compilation",
        "bytecode": "its line",
        "fx_graph": "its node",
        "captures": "node 1 of 2",
        "passes": "its node",
        "fusion": "its op",
        "kernels": "its kernel",
        "kernel": "its kernel",
        "decisions": "its node",
        "targets": "its kernel, if both runs have it",
        "memory": "its kernel's buffers",
    }


def test_an_op_of_dynamos_graph_selects_its_lowered_op(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["transformer_block"], graph=DYNAMO, select="n:gelu")
    assert_sound(app)

    assert on_page(app, menu.FUSION) == ("n:gelu", "op 1 of 5")
    assert app.session_state["page-part"] == "n:mul_4"
    assert on_page(app, menu.KERNELS) == ("n:gelu", "its kernel")
    assert app.session_state["page-part"] == GELU
    assert on_page(app, menu.FX_GRAPH) == ("n:gelu", "its node")


def test_a_shared_link_selects_the_op_of_its_graph(runs: dict[str, str]) -> None:
    app = opened(menu.KERNELS.script, runs["training_step"], select="n:mul", of="inductor_post_grad_graph.backward")

    assert_sound(app)
    assert app.session_state["page-part"].startswith("k:0/0.backward.")


@pytest.mark.parametrize("select", ["g:op14", "s:op14"])
def test_a_launch_selects_its_kernel(runs: dict[str, str], select: str) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"], select=select)
    assert_sound(app)

    assert on_page(app, menu.KERNELS) == (select, "its kernel")
    assert app.session_state["page-part"] == GELU
    assert on_page(app, menu.FUSION)[0] == select
    assert app.session_state["page-part"] == select


def test_a_page_opened_without_a_selection_selects_no_op(runs: dict[str, str]) -> None:
    app = opened(menu.KERNELS.script, runs["transformer_block"])
    assert_sound(app)
    assert app.query_params["item"].startswith("k:")
    app.switch_page(menu.FUSION.script).run()

    assert_sound(app)
    assert "select" not in app.query_params


def test_an_item_of_a_page_does_not_replace_the_op(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["recompile_zoo"], compilation="0/1", select="n:l_x_")
    app.query_params["select"] = "0/1"
    app.switch_page(menu.RECOMPILES.script).run()

    assert_sound(app)
    assert (app.query_params["select"], app.query_params["item"]) == ("n:l_x_", "0/1")


def test_an_op_of_another_run_is_not_selected(runs: dict[str, str]) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"], select="n:erf")
    assert_sound(app)
    app.query_params["run"] = runs["training_step"]
    app.query_params.pop("select")
    app.switch_page(menu.FX_GRAPH.script).run()

    assert_sound(app)
    assert "select" not in app.query_params
