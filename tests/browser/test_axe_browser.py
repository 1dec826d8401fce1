"""Every page, light and dark, from a phone to a wide screen, as axe-core reads it: contrast, names, roles.

On the same walk: titles are whole, and no page scrolls sideways.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
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
# A name has its visible text, so that it can be said to a voice control; axe counts this rule as experimental.
NAMED: dict[str, object] = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
# What a theme changes is contrast alone.
RULES: dict[Theme, dict[str, object]] = {"light": NAMED, "dark": {"runOnly": ["color-contrast"]}}
# A title that is cut or hidden behind its end, a line of the page's title that something around it hides, and a page
# that is wider than its window.
ROOM = """
() => [...document.querySelectorAll("h1")].flatMap((title) => {
        const text = document.createRange()
        text.selectNodeContents(title)
        return [...text.getClientRects()].filter((line) => {
            for (let around = title; around; around = around.parentElement) {
                const box = around.getBoundingClientRect()
                const hides = getComputedStyle(around).overflow !== "visible"
                if (hides && (line.bottom > box.bottom + 2 || line.right > box.right + 2)) return true
            }
            return false
        }).map((line) => ["hidden", title.textContent, Math.round(line.top)])
    })
    .concat([...document.querySelectorAll("h1, h2, h3, [data-testid='stHeading']")]
    .filter((title) => title.checkVisibility() && title.scrollWidth > title.clientWidth + 1)
    .map((title) => ["cut", title.textContent, `${title.scrollWidth} > ${title.clientWidth}`]))
    .concat(document.documentElement.scrollWidth > innerWidth
        ? [["sideways", `${document.documentElement.scrollWidth} > ${innerWidth}`]] : [])
"""
# Windows: a phone, a narrow one, a low one, two magnified by 150 % (the usual one and a projector's), and a wide one.
WINDOWS = {
    "phone": (390, 844),
    "narrow": (900, 900),
    "low": (1280, 640),
    "150 %": (960, 600),
    "projector, 150 %": (853, 480),
    "wide": (1920, 1080),
}
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
    return with_axe(new_context, 1440, 900)


def with_axe(new_context: NewContext, width: int, height: int) -> Page:
    page = new_context(bypass_csp=True, viewport={"width": width, "height": height}).new_page()
    page.add_init_script(AXE)
    return page


def walk(server: Server, scenarios: dict[str, str], page: Page) -> Iterator[str]:
    """Every page, with what shows most of it; the menu has been looked at on the first."""
    for path in through_the_menu(page, server, run=scenarios["transformer_block"]):
        if path not in MORE:
            yield path
    for path, (scenario, more) in MORE.items():
        go(page, f"{server.url}/{path}?run={scenarios[scenario]}{more}")
        yield path


def test_axe_finds_nothing_wrong_on_pages_of_each_kind(
    server: Server, scenarios: dict[str, str], axe_page: Page
) -> None:
    wrong: dict[str, list[list[str]]] = {}
    for path in KINDS:
        scenario, more = MORE.get(path, ("transformer_block", ""))
        go(axe_page, f"{server.url}/{path}?run={scenarios[scenario]}{more}")
        wrong[path] = [*violations(axe_page, MENU if wrong else []), *axe_page.evaluate(ROOM)]
    assert_nothing_wrong(wrong)


@pytest.mark.long
def test_axe_finds_nothing_wrong_on_any_page(server: Server, scenarios: dict[str, str], axe_page: Page) -> None:
    wrong: dict[str, list[list[str]]] = {}
    for path in walk(server, scenarios, axe_page):
        wrong[path] = [*violations(axe_page, MENU if wrong else []), *axe_page.evaluate(ROOM)]
    assert set(wrong) == set(PAGES)
    assert_nothing_wrong(wrong)


@pytest.mark.long
@pytest.mark.parametrize("window", WINDOWS)
def test_every_page_fits_its_window(
    server: Server, scenarios: dict[str, str], new_context: NewContext, window: str
) -> None:
    page = with_axe(new_context, *WINDOWS[window])
    wrong: dict[str, list[list[str]]] = {}
    for path in walk(server, scenarios, page):
        wrong[path] = [*violations_in(page, "light", MENU if wrong else []), *page.evaluate(ROOM)]
    assert set(wrong) == set(PAGES)
    assert_nothing_wrong(wrong)


def assert_nothing_wrong(wrong: dict[str, list[list[str]]]) -> None:
    assert json.dumps({path: found for path, found in wrong.items() if found}, indent=1) == "{}"
