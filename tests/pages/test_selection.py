"""The selected op on all pages that show ops."""

import pytest
from streamlit.testing.v1 import AppTest

from pages import menu
from tests.support.apps import assert_sound, opened

GELU = "k:0/0.inference.cpp_fused_gelu_view_2"
DYNAMO, POST_GRAD = "dynamo_output_graph", "inductor_post_grad_graph.inference"


def selection_on(app: AppTest, page: menu.Page) -> str | None:
    """Open a page from the menu, which empties the URL, and return the selection there."""
    app.query_params.clear()
    app.switch_page(page.script).run()
    assert_sound(app)
    selected = app.query_params.get("select")
    return selected[0] if isinstance(selected, list) else selected


def test_an_op_stays_selected_over_the_pages_of_the_menu(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["transformer_block"], graph=POST_GRAD, select="n:erf")
    assert_sound(app)

    assert selection_on(app, menu.FUSION) == "n:erf"
    assert selection_on(app, menu.KERNELS) == GELU
    assert selection_on(app, menu.KERNEL) == GELU
    assert selection_on(app, menu.GUARDS) is None
    assert selection_on(app, menu.FX_GRAPH) == "n:erf"


def test_an_op_of_dynamos_graph_selects_its_lowered_op(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["transformer_block"], graph=DYNAMO, select="n:gelu")
    assert_sound(app)

    assert selection_on(app, menu.FUSION) == "n:mul_4"
    assert selection_on(app, menu.KERNELS) == GELU
    assert selection_on(app, menu.FX_GRAPH) == "n:gelu"


@pytest.mark.parametrize("select", ["g:op14", "s:op14"])
def test_a_launch_selects_its_kernel(runs: dict[str, str], select: str) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"], select=select)
    assert_sound(app)

    assert selection_on(app, menu.KERNELS) == GELU
    assert app.session_state["selected-op"][2] == select
    assert selection_on(app, menu.FUSION) == select


def test_an_op_of_another_run_is_not_selected(runs: dict[str, str]) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"], select="n:erf")
    assert_sound(app)
    app.query_params["run"] = runs["training_step"]
    app.query_params.pop("select")
    app.switch_page(menu.FX_GRAPH.script).run()

    assert_sound(app)
    assert "select" not in app.query_params
