"""Every page, light and dark, as axe-core reads it: contrast, names, roles."""

from __future__ import annotations

import json
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Page

from pages import menu
from pages.look.palette import Theme
from tests.support.browser import PAGES, NewContext, Server, go, settle, through_the_menu
from tests.support.homes import add_scenario

pytestmark = pytest.mark.browser

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LOOK = """
async ([rules, exclude]) => {
    const { violations } = await axe.run({ exclude }, { ...rules, resultTypes: ["violations"] })
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html, any, all, none }) =>
        [id, html.slice(0, 200), [...any, ...all, ...none][0]?.message]))
}
"""
PAPER = """
(theme) => {
    const [red] = getComputedStyle(document.querySelector(".stApp")).backgroundColor.match(/\\d+/g).map(Number)
    return (red < 128) === (theme === "dark")
}
"""
# The cells of a table are drawn on a canvas; what stands for them is Streamlit's.
TABLES = [["[data-testid='stDataFrame']"]]
# Every page has the same menu, which is a third of the work: it is looked at on the first page.
MENU = [["[data-testid='stSidebar']"]]
# What a theme changes is contrast alone.
RULES: dict[Theme, dict[str, list[str]]] = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
# What shows most of each page; a page that is not here is opened with the transformer block.
MORE = {
    menu.COMPARE.name: ("training_step", "&aspect=graphs&drawer=changes"),
    menu.GRAPH_BREAKS.name: ("graph_break_zoo", ""),
    menu.RECOMPILES.name: ("recompile_zoo", ""),
    menu.FX_GRAPH.name: ("transformer_block", "&select=n:layer_norm"),
    menu.FUSION.name: ("transformer_block", "&select=n:erf"),
    menu.PASSES.name: ("training_step", "&drawer=steps"),
    menu.PARTITION.name: ("training_step", "&drawer=saved+values"),
    menu.KERNELS.name: ("measured", ""),
    menu.SPEEDUP.name: ("measured", ""),
}


# A form, a page with tables and bars, and a graph with its drawer.
KINDS = ("", menu.KERNELS.name, menu.FUSION.name)


def violations(page: Page, excluded: list[list[str]]) -> list[list[str]]:
    """What axe finds on a page as it is, and then in the other theme, in which the page is left."""
    first: Theme = "dark" if page.evaluate(PAPER, "dark") else "light"
    themes: tuple[Theme, ...] = (first, "light" if first == "dark" else "dark")
    return [line for theme in themes for line in violations_in(page, theme, excluded)]


def violations_in(page: Page, theme: Theme, excluded: list[list[str]]) -> list[list[str]]:
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(PAPER, arg=theme)
    settle(page)
    return [[theme, *one] for one in page.evaluate(LOOK, [RULES[theme], [*TABLES, *excluded]])]


@pytest.fixture(scope="module")
def scenarios(server: Server) -> dict[str, str]:
    names = {"transformer_block", *(name for name, _ in MORE.values())}
    return {name: add_scenario(server.home, name) for name in sorted(names)}


@pytest.fixture
def axe_page(new_context: NewContext) -> Page:
    """A page with axe in it. The policy lets no script in that is not the product's."""
    page = new_context(bypass_csp=True, viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(AXE)
    return page


def test_axe_finds_nothing_wrong_on_pages_of_each_kind(
    server: Server, scenarios: dict[str, str], axe_page: Page
) -> None:
    wrong: dict[str, list[list[str]]] = {}
    for path in KINDS:
        scenario, more = MORE.get(path, ("transformer_block", ""))
        go(axe_page, f"{server.url}/{path}?run={scenarios[scenario]}{more}")
        wrong[path] = violations(axe_page, MENU if wrong else [])
    assert_nothing_wrong(wrong)


@pytest.mark.long
def test_axe_finds_nothing_wrong_on_any_page(server: Server, scenarios: dict[str, str], axe_page: Page) -> None:
    wrong: dict[str, list[list[str]]] = {}
    for path in through_the_menu(axe_page, server, run=scenarios["transformer_block"]):
        if path not in MORE:
            wrong[path] = violations(axe_page, MENU if wrong else [])
    for path, (scenario, more) in MORE.items():
        go(axe_page, f"{server.url}/{path}?run={scenarios[scenario]}{more}")
        wrong[path] = violations(axe_page, MENU)
    assert set(wrong) == set(PAGES)
    assert_nothing_wrong(wrong)


def assert_nothing_wrong(wrong: dict[str, list[list[str]]]) -> None:
    assert json.dumps({path: found for path, found in wrong.items() if found}, indent=1) == "{}"
