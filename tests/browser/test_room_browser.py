"""The room that a drawing has: the window but for a line of header, a drawer that a click opens, full screen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import CAMERA, NewContext, Server, box, go, item, opened, settle, wait_for
from tests.support.sample import one_in

pytestmark = pytest.mark.browser

HEADER = "[data-testid='stLayoutWrapper']:has(> .st-key-header)"
DRAWER = ".st-key-drawer"
# Width, height and scale of a window, and the least share of it that the drawing has; 960 × 600 at 1.5 is a zoom.
WINDOWS = {
    "a laptop": (1440, 900, 1, 0.6),
    "a projector": (1280, 720, 1, 0.6),
    "a zoom of 150 %": (960, 600, 1.5, 0.6),
}
FIRST_NODE = "g.node"
# The header's chips, counted in one moment: a rerun may replace them between two questions.
CHIPS = """row => {
  const behind = row.querySelectorAll(".rest .chip").length;
  const inLine = row.querySelectorAll(":scope > .chip").length;
  return { all: inLine + behind, behind, number: row.querySelector("summary").textContent };
}"""


def share(view: Locator, width: int, height: int) -> float:
    """The share of the window that the drawing itself has, without its tool bar."""
    seen = box(view.locator(".viewport"))
    shown = min(height, seen["y"] + seen["height"]) - max(0, seen["y"])
    return seen["width"] * shown / (width * height)


@pytest.mark.parametrize("path", one_in(2, ["fx_graph", "passes"]))
def test_the_drawing_has_most_of_every_window(server: Server, transformer: str, page: Page, path: str) -> None:
    view = opened(page, server.link(path, run=transformer))
    devtools = page.context.new_cdp_session(page)
    for width, height, scale, least in WINDOWS.values():
        window = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        devtools.send("Emulation.setDeviceMetricsOverride", window)
        wait_for(lambda: share(view, width, height) >= least)  # noqa: B023
        assert box(page.locator(HEADER))["height"] <= 44
        view.get_by_role("button", name="Full screen (F)").click()
        expect(page.locator(HEADER)).to_be_hidden()
        wait_for(lambda: share(view, width, height) >= 0.85)  # noqa: B023
        view.focus()
        page.keyboard.press("F")
        expect(page.locator(HEADER)).to_be_visible()


@pytest.mark.long
def test_both_drawings_of_fusion_have_most_of_the_window(
    server: Server, transformer: str, new_context: NewContext
) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    go(page, server.link("fusion", run=transformer, fusion="side by side"))
    views = page.locator(".view")
    expect(views).to_have_count(2)
    expect(views.nth(1).locator(FIRST_NODE).first).to_be_visible()

    assert sum(share(view, 1440, 900) for view in views.all()) >= 0.6


def test_the_small_map_is_in_a_margin_and_covers_no_node(server: Server, transformer: str, page: Page) -> None:
    view = opened(page, server.link("fx_graph", run=transformer))
    margin = box(view.locator(".margin"))
    nodes = [box(node) for node in view.locator(FIRST_NODE).all()]
    assert len(nodes) > 5
    assert all(node["x"] + node["width"] <= margin["x"] for node in nodes)
    view.focus()
    page.keyboard.press("m")
    expect(view.locator(".margin")).to_be_hidden()


def test_a_click_opens_the_drawer_beside_the_node_which_stays_in_sight(
    server: Server, transformer: str, page: Page
) -> None:
    view = opened(page, server.link("fx_graph", run=transformer))
    expect(page.locator(DRAWER)).to_have_count(0)
    item(view, "n:layer_norm").click()
    drawer = page.locator(DRAWER)
    expect(drawer.locator("[data-testid='stTable']")).to_contain_text("layer_norm")
    expect(drawer.locator(".cv .line.related")).to_contain_text("self.norm1(x)")
    settle(page)
    node, room = box(item(view, "n:layer_norm")), box(view)
    assert room["x"] <= node["x"]
    assert node["x"] + node["width"] <= room["x"] + room["width"]
    assert box(drawer)["y"] + box(drawer)["height"] <= 900

    wide = box(drawer)["width"]
    page.get_by_role("separator", name="Width of the drawer").press("ArrowLeft")
    assert box(drawer)["width"] == pytest.approx(wide + 32, abs=2)
    page.locator(".st-key-drawer-close button").first.click()
    expect(page.locator(DRAWER)).to_have_count(0)


@pytest.mark.long
def test_escape_takes_back_the_selection_and_its_drawer(server: Server, transformer: str, page: Page) -> None:
    view = opened(page, server.link("fx_graph", run=transformer, select="n:layer_norm"))
    expect(page.locator(DRAWER)).to_be_visible()
    view.focus()
    page.keyboard.press("Escape")

    expect(page.locator(DRAWER)).to_have_count(0)


@pytest.mark.long
def test_folds_and_zoom_are_in_the_url(server: Server, transformer: str, page: Page, new_context: NewContext) -> None:
    view = opened(page, server.link("fx_graph", run=transformer))
    view.get_by_role("button", name="Fold all groups", exact=True).click()
    view.get_by_role("button", name="Zoom in (+)", exact=True).click()
    expect(page).to_have_url(re.compile("look="))
    before = view.evaluate(CAMERA)

    theirs = opened(new_context().new_page(), page.url)
    assert theirs.evaluate("root => root.compileboardView.unfolded") == []
    after = theirs.evaluate(CAMERA)
    assert after["k"] == pytest.approx(before["k"], rel=0.02)
    assert after["x"] == pytest.approx(before["x"], abs=3)


# What of a title cannot be seen, in pixels.
CUT = """h1 => {
    const style = getComputedStyle(h1)
    const hidden = style.overflow !== "visible" || style.whiteSpace === "nowrap"
    return hidden ? [h1.scrollWidth - h1.clientWidth, h1.scrollHeight - h1.clientHeight] : [0, 0]
}"""
PRESENTED = """() => [getComputedStyle(document.querySelector(".st-key-title h1"), "::after").content,
    document.querySelector(".st-key-title h1").getBoundingClientRect().right <= innerWidth]"""


@pytest.mark.parametrize(("width", "height", "scale"), [(1280, 720, 1), (853, 480, 1.5)], ids=["projector", "150 %"])
def test_a_title_is_whole_and_whoever_presents_shows_the_model_and_large_nodes(
    server: Server, transformer: str, new_context: NewContext, width: int, height: int, scale: float
) -> None:
    page = new_context(viewport={"width": width, "height": height}, device_scale_factor=scale).new_page()
    go(page, server.link("fusion", run=transformer))
    view = page.locator(".view").first
    # In the low window the whole drawing is there as signs, without nodes of the page.
    expect(view.locator("[data-id], canvas").first).to_be_attached()
    title = page.locator(".st-key-title h1")
    assert title.evaluate(CUT) == [0, 0]
    page.keyboard.press("P")
    expect(page.get_by_role("button", name="Why not fused?")).to_be_hidden()
    wait_for(lambda: view.evaluate(CAMERA)["k"] * 11 >= 14)
    assert page.evaluate(PRESENTED) == ['"transformer_block"', True]
    assert title.evaluate(CUT) == [0, 0]


@pytest.mark.long
def test_whoever_presents_turns_steps_and_pages_by_two_keys(server: Server, transformer: str, page: Page) -> None:
    go(page, server.link("fusion", run=transformer))
    expect(page.locator(".film:not([hidden]) .number")).to_have_text("9 / 9")
    page.keyboard.press("P")
    expect(page.locator("[data-testid='stSidebar']")).to_be_hidden()
    page.keyboard.press("PageDown")
    expect(page.locator(".film:not([hidden]) .number")).to_have_text("0 / 9")
    expect(page).to_have_url(re.compile("frame=0"))
    settle(page)
    page.keyboard.press("PageDown")
    expect(page.locator(".film:not([hidden]) .number")).to_have_text("1 / 9")
    expect(page).to_have_url(re.compile("frame=1"))
    settle(page)
    page.keyboard.press("PageUp")
    expect(page.locator(".film:not([hidden]) .number")).to_have_text("0 / 9")
    expect(page).to_have_url(re.compile("frame=0"))
    settle(page)
    page.keyboard.press("PageUp")
    page.wait_for_url("**/partition?*")
    page.keyboard.press("P")
    expect(page.locator("[data-testid='stSidebar']")).to_be_visible()


@pytest.mark.parametrize("widths", one_in(2, [((390,),), ((1920, 1440, 1024),)]), ids=["a telephone", "screens"])
def test_the_header_is_one_line_and_what_it_has_no_room_for_is_behind_a_number(
    server: Server, transformer: str, new_context: NewContext, widths: tuple[int, ...]
) -> None:
    page = new_context(viewport={"width": widths[0], "height": 900}).new_page()
    go(page, server.link("overview", run=transformer))
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        # On a telephone the chips have a line of their own.
        limit = 44 if width > 600 else 90
        wait_for(lambda: box(page.locator(HEADER))["height"] <= limit)  # noqa: B023
        wait_for(lambda: page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width)  # noqa: B023
        chips = page.locator(HEADER).locator(".chips")
        wait_for(lambda: chips.evaluate(CHIPS)["all"] == 9)  # noqa: B023
        more = page.locator(".more")
        if more.is_visible():
            more.locator("summary").click()
            expect(more.locator(".rest .chip").first).to_be_visible()
            counts = chips.evaluate(CHIPS)
            assert counts == {"all": 9, "behind": counts["behind"], "number": f"+{counts['behind']}"}
            more.locator("summary").click()
