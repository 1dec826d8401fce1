"""A log that means harm, not only looked at but used: tooltips, searches, selections, charts and downloads."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pygraphviz
import pytest
from playwright.sync_api import Page, expect

from tests.record import normalised
from tests.support.browser import Server, go, opened
from tests.support.homes import IMAGE, add_run
from tests.support.places import TRACES

pytestmark = pytest.mark.browser

LINK = "<a href='http://evil.example'>compile</a>"
NAMES = {"model.py": f"{IMAGE}.py", "backend_compile": LINK, "self.attention": f"self.{IMAGE}"}
MARKUP = "img[src='x'], [onerror], a[href*='evil'], a[*|href*='evil']"
SHAPES = {
    "svg",
    "g",
    "rect",
    "text",
    "tspan",
    "path",
    "polygon",
    "polyline",
    "line",
    "circle",
    "ellipse",
    "title",
    "marker",
}


@pytest.fixture(scope="module")
def hostile(closed: Server) -> str:
    log = normalised((TRACES / "transformer_block" / "trace.log").read_bytes(), NAMES)
    return add_run(closed.home, "hostile_views", log, kind="log").id


@pytest.mark.promise("text")
@pytest.mark.attack(
    "text 6", "text 1", "markup in names: hovered, searched, chosen, found in code, in the graph's page"
)
def test_what_is_done_with_a_graph_makes_no_markup_of_names(closed: Server, hostile: str, page: Page) -> None:
    """Names in a graph stay text when they are hovered, searched or selected."""
    view = opened(page, closed.link("fx_graph", run=hostile))
    node = view.locator("g.node").first
    node.hover()
    expect(view.locator(".tip")).to_be_visible()
    node.click()
    for typed in ("onerror", ".*(a+)+$", "\u202e", "9" * 300):
        view.focus()
        page.keyboard.press("/")
        page.keyboard.type(typed)
        page.keyboard.press("Escape")
    find = page.get_by_label("Find in this code").first
    find.fill("onerror")
    expect(page.get_by_text(re.compile(r"^1 of \d+$")).first).to_be_visible()
    find.fill("(a+)+$[")
    expect(page.locator(MARKUP.partition(", a[*")[0])).to_have_count(0)


@pytest.mark.promise("text")
@pytest.mark.attack("text 6", "markup in names: downloads as SVG, DOT and JSON")
def test_a_downloaded_picture_holds_shapes_and_text_alone(
    closed: Server, hostile: str, page: Page, tmp_path: Path
) -> None:
    """Downloaded SVG and DOT files contain shapes and text only: no scripts and no links."""
    view = opened(page, closed.link("fx_graph", run=hostile))
    for kind in ("SVG", "DOT"):
        with page.expect_download() as download:
            view.get_by_role("button", name="More", exact=True).click()
            view.get_by_role("button", name=f"Download as {kind}", exact=True).click()
        download.value.save_as(tmp_path / kind)
    drawn = list(ElementTree.parse(tmp_path / "SVG").iter())
    assert {element.tag.rpartition("}")[2] for element in drawn} <= SHAPES
    assert [name for element in drawn for name in element.attrib if re.search(r"^on|href|style", name)] == []
    given = {name for node in pygraphviz.AGraph(str(tmp_path / "DOT")).nodes() for name in node.attr}
    assert given <= {"label", "id", "shape"}


@pytest.mark.promise("text")
@pytest.mark.attack("abuse 6", "breach 12", "a link in the name of a phase, in the chart of compile time")
def test_a_chart_holds_no_link(closed: Server, hostile: str, page: Page) -> None:
    """Names in a chart are never links."""
    go(page, closed.link("compile_time", run=hostile))
    field = page.get_by_label("Find a phase")
    field.fill("evil.example")
    field.press("Enter")
    expect(page.locator("[data-testid='stMain']")).to_contain_text("evil.example")
    expect(page.locator("a[href*='evil.example']")).to_have_count(0)
