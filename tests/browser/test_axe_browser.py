"""Every page, light and dark, as axe-core reads it: contrast, names, roles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import axe_playwright_python
import pytest

from pages import menu
from tests.support.browser import NewContext, Server, go, settle
from tests.support.homes import add_scenario

pytestmark = pytest.mark.browser

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LOOK = """
async (rules) => {
    // The cells of a table are drawn on a canvas; what stands for them is Streamlit's.
    const pages = { exclude: [["[data-testid='stDataFrame']"]] }
    const { violations } = await axe.run(pages, { ...rules, resultTypes: ["violations"] })
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html, any, all, none }) =>
        [id, html.slice(0, 200), [...any, ...all, ...none][0]?.message]))
}
"""
# What a theme changes is contrast alone.
RULES: dict[str, dict[str, list[str]]] = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
# What shows most of each page; a page that is not here is opened with the transformer block.
MORE = {
    menu.COMPARE.name: ("training_step", "&aspect=graphs&drawer=changes"),
    menu.GRAPH_BREAKS.name: ("graph_break_zoo", ""),
    menu.RECOMPILES.name: ("recompile_zoo", ""),
    menu.FX_GRAPH.name: ("transformer_block", "&select=n:layer_norm"),
    menu.FUSION.name: ("transformer_block", "&select=s:op0"),
    menu.PASSES.name: ("training_step", "&drawer=steps"),
    menu.PARTITION.name: ("training_step", "&drawer=saved+values"),
    menu.KERNELS.name: ("measured", ""),
    menu.SPEEDUP.name: ("measured", ""),
}


@pytest.fixture(scope="module")
def scenarios(server: Server) -> dict[str, str]:
    names = {"transformer_block", *(name for name, _ in MORE.values())}
    return {name: add_scenario(server.home, name) for name in sorted(names)}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_wrong(
    server: Server, scenarios: dict[str, str], new_context: NewContext, theme: Literal["light", "dark"]
) -> None:
    # The policy lets no script in that is not the product's.
    context = new_context(color_scheme=theme, bypass_csp=True, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    wrong = {}
    for name in menu.PAGES:
        scenario, more = MORE.get(name, ("transformer_block", ""))
        path = "" if name == menu.NEW_RUN.name else name
        go(page, f"{server.url}/{path}?run={scenarios[scenario]}{more}")
        settle(page)
        page.evaluate(AXE)
        wrong[name] = page.evaluate(LOOK)

    assert json.dumps({name: found for name, found in wrong.items() if found}, indent=1) == "{}"
