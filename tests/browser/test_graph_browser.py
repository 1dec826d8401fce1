"""A graph on the dashboard's own pages, in Chromium: folding, deep links, search, keys, downloads, the dark, a
telephone.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pygraphviz
import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.synthetic import synthetic_nodes
from tests.support.browser import CAMERA, POSITIONS, NewContext, Server, box, item, opened, settle
from tests.support.homes import add_run, layers_log
from tests.support.sample import one_in

pytestmark = pytest.mark.browser

NODES = 1_000
STACK = "m:layers.0-17"
LAYERS = 18
GRAPH_PAGES = ("fx_graph", "passes", "partition", "fusion")
CONTRAST = """
(root) => {
    const context = document.createElement("canvas").getContext("2d")
    const luminance = (colour) => {
        context.fillStyle = colour
        context.fillRect(0, 0, 1, 1)
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((value) => value / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
            .reduce((sum, v, index) => sum + v * [0.2126, 0.7152, 0.0722][index], 0)
    }
    const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
    const paper = luminance(getComputedStyle(root).backgroundColor)
    const box = (one) => {
        const { fill } = getComputedStyle(one.querySelector(".body"))
        return fill === "none" ? paper : luminance(fill)
    }
    const ink = (one) => luminance(getComputedStyle(one.querySelector(".label")).fill)
    const items = [...root.querySelectorAll("[data-group], g.node:not(.unrecorded)")]
    return [paper, Math.min(...items.map((one) => contrast(box(one), ink(one))))]
}
"""


@pytest.fixture(scope="module")
def layers(server: Server) -> str:
    """A log with layers that are alike, stored."""
    return add_run(server.home, "layers", layers_log(NODES), kind="log").id


def press_in_menu(view: Locator, name: str) -> None:
    """Press one of the buttons that a view keeps behind its menu."""
    view.get_by_role("button", name="More", exact=True).click()
    view.get_by_role("button", name=name, exact=True).click()


def unfolded(view: Locator) -> set[str]:
    return set(view.evaluate("root => root.compileboardView.unfolded"))


def test_identical_layers_are_one_stack_that_unfolds_in_place(server: Server, layers: str, page: Page) -> None:
    view = opened(page, server.link("fx_graph", run=layers))
    view.get_by_role("button", name="Fold all groups", exact=True).click()
    expect(view.locator("[data-group]")).to_have_count(1)
    stack = item(view, STACK)
    expect(stack).to_have_attribute("aria-expanded", "false")
    expect(stack).to_contain_text("TransformerBlock")
    expect(stack).to_contain_text(f"× {LAYERS}")
    before = box(stack)
    stack.get_by_role("button", name=re.compile("^Unfold")).click()
    expect(stack).to_have_attribute("aria-expanded", "true")

    assert set(view.evaluate(POSITIONS)) == {"n:x", STACK, "n:output", *(f"m:layers.{n}" for n in range(LAYERS))}
    assert box(stack)["y"] == pytest.approx(before["y"], abs=6)
    layer = item(view, "m:layers.0")
    layer.get_by_role("button", name="Unfold layers.0", exact=True).click()
    expect(item(view, "m:layers.0.attention")).to_be_attached()
    assert unfolded(view) == {STACK, "m:layers.0"}
    layer.get_by_role("button", name="Unfold all below layers.0", exact=True).click()
    expect(item(view, "n:mean_1")).to_be_attached()
    layer.get_by_role("button", name="Fold layers.0", exact=True).click()
    expect(layer).to_have_attribute("aria-expanded", "false")
    expect(item(view, "n:mean_1")).to_have_count(0)


@pytest.mark.long
def test_folds_outlive_a_reload(server: Server, layers: str, page: Page) -> None:
    view = opened(page, server.link("fx_graph", run=layers))
    item(view, "m:layers.1").dblclick()
    expect(item(view, "m:layers.1.attention")).to_be_attached()
    page.reload()
    settle(page)

    expect(item(view, "m:layers.1.attention")).to_be_attached()
    assert unfolded(view) == {STACK, "m:layers.1"}


@pytest.mark.long
def test_a_deep_link_unfolds_what_hides_its_node(
    server: Server, layers: str, page: Page, new_context: NewContext
) -> None:
    gelu = next(node.name for node in synthetic_nodes(NODES) if node.module.endswith("layers.7.mlp"))
    view = opened(page, server.link("fx_graph", run=layers, select=f"n:{gelu}"))
    expect(item(view, f"n:{gelu}")).to_have_attribute("aria-selected", "true")
    assert unfolded(view) == {STACK, "m:layers.7", "m:layers.7.mlp"}
    expect(page.locator("[data-testid='stTable']").first).to_contain_text(gelu)
    view.focus()
    page.keyboard.press("ArrowUp")
    expect(item(view, f"n:{gelu}")).to_have_attribute("aria-selected", "false")
    expect(page).not_to_have_url(re.compile(gelu))
    settle(page)

    theirs = opened(new_context().new_page(), page.url)
    chosen = view.locator("[data-id][aria-selected='true']").get_attribute("data-id")
    assert chosen is not None
    expect(item(theirs, chosen)).to_have_attribute("aria-selected", "true")


def test_search_walks_through_what_is_folded_away(server: Server, layers: str, page: Page) -> None:
    view = opened(page, server.link("fx_graph", run=layers))
    first, second = [node.name for node in synthetic_nodes(NODES) if node.name.startswith("gelu")][:2]
    view.focus()
    page.keyboard.press("/")
    page.keyboard.type("gelu")
    expect(view.locator(".hits .one")).to_have_count(LAYERS)
    expect(view.locator(".hits .one").nth(3)).to_contain_text("layers.3")
    page.keyboard.press("Enter")
    expect(view.locator("g.node.selected")).to_have_attribute("data-id", f"n:{first}")
    page.keyboard.press("Enter")

    expect(view.locator(".count")).to_have_text(f"2 of {LAYERS}")
    expect(view.locator("g.node.selected")).to_have_attribute("data-id", f"n:{second}")
    assert unfolded(view) == {STACK, "m:layers.0", "m:layers.0.mlp", "m:layers.1", "m:layers.1.mlp"}
    expect(page).to_have_url(re.compile(f"select=n%3A{second}"))
    page.keyboard.press("Escape")
    expect(view.locator(".hits")).to_be_hidden()
    expect(view.locator(".count")).to_be_hidden()


@pytest.mark.long
def test_a_neighbourhood_and_the_way_back(server: Server, transformer: str, page: Page) -> None:
    view = opened(page, server.link("fx_graph", run=transformer))
    everything = view.evaluate(POSITIONS)
    node = view.locator("g.node").first
    chosen = node.get_attribute("data-id")
    node.click()
    expect(page.locator(".st-key-drawer")).to_be_visible()
    settle(page)
    camera = view.evaluate(CAMERA)
    page.keyboard.press("n")
    expect(view.locator(".chip-bar")).to_contain_text("1 hop around")
    near = set(view.evaluate(POSITIONS))
    assert chosen in near
    assert 1 < len(near) < len(everything)
    view.get_by_role("button", name="More hops").click()
    expect(view.locator(".chip-bar")).to_contain_text("2 hops around")
    assert set(view.evaluate(POSITIONS)) > near
    page.keyboard.press("Escape")

    expect(view.locator(".chip-bar")).to_be_hidden()
    assert view.evaluate(POSITIONS) == everything
    assert view.evaluate(CAMERA) == pytest.approx(camera)


def test_the_keyboard_alone_is_enough(server: Server, layers: str, page: Page) -> None:
    view = opened(page, server.link("fx_graph", run=layers))
    view.focus()
    page.keyboard.press("ArrowDown")
    expect(item(view, "n:x")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile(r"select=n%3Ax"))
    page.keyboard.press("ArrowDown")
    expect(item(view, "m:layers.0")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(item(view, "m:layers.0")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("o")
    expect(item(view, "m:layers.0")).to_have_attribute("aria-expanded", "false")
    before = view.evaluate(CAMERA)
    page.keyboard.press("+")
    assert view.evaluate(CAMERA)["k"] > before["k"]
    page.keyboard.press("?")
    expect(view.get_by_role("dialog", name="Keys of the graph")).to_be_visible()
    page.keyboard.press("Escape")
    expect(view.get_by_role("dialog", name="Keys of the graph")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(view.locator("[aria-selected='true']")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("select="))


def test_graphs_can_be_taken_along(server: Server, layers: str, page: Page, tmp_path: Path) -> None:
    view = opened(page, server.link("fx_graph", run=layers))
    files: dict[str, Path] = {}
    for kind in ("SVG", "PNG", "DOT", "JSON"):
        with page.expect_download() as download:
            press_in_menu(view, f"Download as {kind}")
        files[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[kind])
        assert files[kind].suffix == f".{kind.lower()}"

    svg = files["SVG"].read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert [n for n in range(LAYERS) if f">layers.{n}</text>" in svg] == list(range(LAYERS))
    assert files["PNG"].read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    total = int(view.locator(".status").inner_text().split(" nodes")[0].replace(",", ""))
    dot = pygraphviz.AGraph(str(files["DOT"]))
    told = json.loads(files["JSON"].read_bytes())
    assert dot.number_of_nodes() == len(told["nodes"]) == total
    assert dot.number_of_edges() == len({(edge["source"], edge["target"]) for edge in told["edges"]})


@pytest.mark.parametrize("path", one_in(4, GRAPH_PAGES))
def test_a_graph_is_readable_in_the_dark_and_usable_on_a_telephone(
    server: Server, training: str, new_context: NewContext, path: str
) -> None:
    page = new_context(color_scheme="dark", viewport={"width": 390, "height": 900}, has_touch=True).new_page()
    view = opened(page, server.link(path, run=training))
    expect(view).to_have_attribute("data-theme", "dark")
    paper, contrast = view.evaluate(CONTRAST)
    assert paper < 0.05
    assert contrast > 4.5
    assert_nothing_covers(view)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert view.locator(".top").evaluate("top => top.scrollWidth - top.clientWidth") <= 0
    view.get_by_role("button", name="More", exact=True).click()
    menu = box(view.locator(".rare"))
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= 390
    view.get_by_role("button", name="More", exact=True).click()
    expect(view.locator(".rare")).to_be_hidden()
    before = view.evaluate(CAMERA)
    view.get_by_role("button", name="Zoom in (+)").click()
    view.get_by_role("button", name="Zoom in (+)").click()
    closer = view.evaluate(CAMERA)
    assert closer["k"] > before["k"]
    view.get_by_role("button", name="Fit the whole graph (f)").click()
    assert view.evaluate(CAMERA)["k"] < closer["k"]
    page.set_viewport_size({"width": 1280, "height": 900})
    settle(page)
    assert_nothing_covers(view)


# In one moment: a drawing that is being resized moves between two questions.
EXTENTS = """view => [view, ...[".top", ".viewport", ".foot"].map((name) => view.querySelector(name))]
    .map((part) => part.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"""


def assert_nothing_covers(view: Locator) -> None:
    """Bar, drawing and foot stand one below the other, and the drawing has most of the room."""
    whole, top, drawing, foot = view.evaluate(EXTENTS)
    assert top[1] <= drawing[0] + 0.5
    assert drawing[1] <= foot[0] + 0.5
    assert foot[1] <= whole[1] + 0.5
    assert drawing[1] - drawing[0] > (whole[1] - whole[0]) / 2


LABELS = """
(root) => {
    const inside = (one, other) => one.left < other.right && other.left < one.right &&
        one.top < other.bottom && other.top < one.bottom
    const shrunk = (element) => {
        const { left, right, top, bottom } = element.getBoundingClientRect()
        return { left: left + 2, right: right - 2, top: top + 3, bottom: bottom - 3 }
    }
    const labels = [...root.querySelectorAll(".labels text")].map(shrunk)
    const boxes = [...root.querySelectorAll("g.node, g.group")].map(shrunk)
    const wrong = labels.flatMap((label, at) =>
        [...labels.slice(at + 1), ...boxes].filter((other) => inside(label, other)))
    return [labels.length, wrong.length]
}
"""


@pytest.mark.long
def test_no_label_of_an_edge_lies_on_a_box_or_on_another_label(server: Server, transformer: str, page: Page) -> None:
    view = opened(page, server.link("fx_graph", run=transformer, select="n:attended"))
    expect(item(view, "n:attended")).to_have_attribute("aria-selected", "true")
    settle(page)
    labels, wrong = view.evaluate(LABELS)

    assert labels >= 3
    assert wrong == 0
