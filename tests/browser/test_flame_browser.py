"""The flame chart of the page Compile time in Chromium: wheel, drag, keys, search, and what a click tells and opens."""

import json
import re
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Locator, Page, expect

from pages.components.flame.view import (
    MOST_SPANS,
    FlameData,
    FlameLegend,
    FlameName,
    FlameOwner,
    FlameSpan,
)
from tests.support.browser import NewContext, Server, box, go, open_sources, settle

pytestmark = pytest.mark.browser

LENS = "root => { const { from, to, whole } = root.compileboardFlame.lens; return [from / whole, to / whole] }"
PLACE = """(root, id) => {
  const view = root.compileboardFlame, span = view.rows.byId.get(id), box = view.stage.getBoundingClientRect();
  const middle = span[3] + span[4] / 2;
  return [((middle - view.lens.from) / view.lens.length) * box.width, 22 + span[6] * 19 + 9 - view.lens.top];
}"""
IDS = "root => [...root.compileboardFlame.rows.byId.values()].map((span) => [span[0], span[1], span[6]])"
MOUNT = """async (data) => {
  const { default: draw } = await import("/pages/components/flame/js/view.js");
  const parentElement = document.body.appendChild(document.createElement("div"));
  globalThis.sent = {};
  draw({ data, parentElement, setStateValue: (name, value) => (sent[name] = value), setTriggerValue() {} });
}"""
PAINTS = """root => {
  const view = root.compileboardFlame, taken = [];
  for (let i = 0; i < 20; i += 1) {
    view.lens.zoom(i % 2 ? 1.2 : 1 / 1.2, 0.5);
    const begun = performance.now();
    view.paint();
    taken.push(performance.now() - begun);
  }
  return taken.sort((a, b) => a - b)[10];
}"""


def chart(page: Page, server: Server, run: str, **query: str) -> Locator:
    go(page, server.link("compile_time", run=run, **query))
    root = page.locator(".flame")
    expect(root.locator("canvas")).to_be_visible()
    page.wait_for_function("root => root.compileboardFlame.lens.whole > 1", arg=root.element_handle())
    return root


def window(root: Locator) -> list[float]:
    found: list[float] = root.evaluate(LENS)
    return found


def zoomed(root: Locator, least: float, most: float) -> None:
    """Wait until so much of the whole is in view."""
    root.page.wait_for_function(
        "([root, least, most]) => { const { length, whole } = root.compileboardFlame.lens; "
        "return length / whole >= least && length / whole <= most }",
        arg=[root.element_handle(), least, most],
    )


def point(root: Locator, id_: str) -> tuple[float, float]:
    x, y = root.evaluate(PLACE, id_)
    stage = box(root.locator(".stage"))
    return stage["x"] + x, stage["y"] + y


def span_of(root: Locator, name: str) -> str:
    """The first span of that name."""
    found: str = root.evaluate(
        "(root, name) => { const view = root.compileboardFlame;"
        "return view.data.spans.find((span) => view.data.names[span[1]].text === name)[0] }",
        name,
    )
    return found


@pytest.mark.long
def test_the_wheel_zooms_about_the_pointer_and_a_drag_pans(server: Server, training: str, page: Page) -> None:
    root = chart(page, server, training)
    stage = box(root.locator(".stage"))
    assert window(root) == [0, 1]
    page.mouse.move(stage["x"] + stage["width"] / 4, stage["y"] + 60)
    for _ in range(5):
        page.mouse.wheel(0, -200)

    zoomed(root, 0.01, 0.5)
    low, high = window(root)
    assert low + (high - low) / 4 == pytest.approx(0.25, abs=0.01)
    page.mouse.down()
    page.mouse.move(stage["x"] + stage["width"] / 4 - 200, stage["y"] + 60, steps=5)
    page.mouse.up()
    moved_low, moved_high = window(root)
    assert moved_high - moved_low == pytest.approx(high - low)
    assert moved_low - low == pytest.approx(200 / stage["width"] * (high - low), rel=0.05)
    expect(root.locator(".detail")).to_have_class(re.compile("empty"))
    root.get_by_role("button", name="Fit all (f)").click()
    zoomed(root, 1, 1)


def test_keys_zoom_pan_walk_and_fit(server: Server, training: str, page: Page) -> None:
    root = chart(page, server, training)
    root.locator(".stage").focus()
    for key in "wwwd":
        page.keyboard.press(key)
    zoomed(root, 0.29, 0.3)
    low, high = window(root)
    assert low + (high - low) / 2 == pytest.approx(0.5 + 0.15 * (high - low), abs=0.01)
    page.keyboard.press("a")
    page.keyboard.press("s")
    zoomed(root, 0.44, 0.45)
    page.keyboard.press("f")
    zoomed(root, 1, 1)

    page.keyboard.press("ArrowDown")
    detail = root.locator(".detail .name")
    expect(detail).to_have_text("dynamo")
    page.keyboard.press("ArrowDown")
    expect(detail).to_have_text("entire_frame_compile")
    page.keyboard.press("ArrowUp")
    expect(detail).to_have_text("dynamo")
    page.keyboard.press("Enter")
    zoomed(root, 0.01, 0.999)
    page.keyboard.press("0")
    zoomed(root, 1, 1)
    page.keyboard.press("Escape")
    expect(root.locator(".detail")).to_have_class(re.compile("empty"))


@pytest.mark.long
def test_search_lights_what_it_finds_and_goes_from_one_to_the_next(server: Server, training: str, page: Page) -> None:
    root = chart(page, server, training)
    page.keyboard.press("/")
    field = root.get_by_label("Find a phase")
    expect(field).to_be_focused()
    page.keyboard.type("code_gen")
    expect(root.locator(".tally")).to_have_text("2")
    page.keyboard.press("Enter")
    expect(root.locator(".tally")).to_have_text("1 of 2")
    expect(root.locator(".detail .name")).to_have_text("code_gen")
    page.keyboard.type(" no such phase")
    expect(root.locator(".tally")).to_have_text("no match")
    page.keyboard.press("Escape")
    expect(root.locator(".tally")).to_have_text("")
    expect(root.locator(".stage")).to_be_focused()


@pytest.mark.long
def test_a_click_shows_a_phase_which_leads_to_its_graph_and_its_kernels(
    server: Server, training: str, page: Page
) -> None:
    root = chart(page, server, training)
    wanted = span_of(root, "code_gen")
    page.mouse.move(*point(root, wanted))
    expect(root.locator(".tip")).to_contain_text("code_gen [0/0]: ")
    page.mouse.click(*point(root, wanted))

    detail = root.locator(".detail")
    expect(detail).to_have_text(
        re.compile(r"^code_gen\[0/0\] .*in all.*by itself.* % of the compilation's .*from .* on.*$")
    )
    expect(page).to_have_url(re.compile(rf"item={wanted.replace(':', '%3A')}"))
    settle(page)
    page.reload()
    settle(page)
    expect(root.locator(".detail .name")).to_have_text("code_gen")
    page.mouse.dblclick(*point(root, wanted))
    zoomed(root, 0.001, 0.9)
    root.get_by_role("button", name="Kernels").click()
    page.wait_for_url("**/kernels?*")
    traced = span_of(chart(page, server, training), "create_aot_dispatcher_function")
    root = chart(page, server, training, select=traced)
    root.get_by_role("button", name="FX graph").click()
    page.wait_for_url("**/fx_graph?*graph=aot_*")


def test_twenty_thousand_phases_are_painted_in_a_frame_or_two(new_context: NewContext) -> None:
    page = new_context().new_page()
    spans = tuple(FlameSpan(f"p:{i}", i % 40, 0, i // 20 * 1000, 900, 400, i % 20, 0) for i in range(MOST_SPANS))
    data = FlameData(
        noun="phase",
        spans=spans,
        names=tuple(FlameName(f"phase {i}", "dynamo", ()) for i in range(40)),
        owners=(FlameOwner("0/0", "forward", 1.0, ()),),
        rows=20,
        threads=0,
        length_us=1_000_000,
        legend={"dynamo": FlameLegend("#5468D4", "#8594F0", "Dynamo")},
        links={},
        initial=None,
        area=None,
        areas=False,
    )
    sent: Any = json.loads(msgspec.json.encode(data))
    open_sources(page)
    page.evaluate(MOUNT, sent)
    root = page.locator(".flame")
    expect(root.locator("canvas")).to_be_visible()
    page.wait_for_function("root => root.compileboardFlame.stage.clientWidth > 0", arg=root.element_handle())

    assert root.evaluate(PAINTS) < 60
    assert len(root.evaluate(IDS)) == MOST_SPANS


def test_an_area_is_selected_by_drag_and_by_key_and_cleared_by_escape(new_context: NewContext) -> None:
    page = new_context().new_page()
    data = FlameData(
        noun="slice",
        spans=tuple(FlameSpan(f"s:{row}", 0, 0, 100 * row, 400, 400, row, 0) for row in range(4)),
        names=(FlameName("aten::mm", "op", ()),),
        owners=(FlameOwner("", "", 0.0, ()),),
        rows=4,
        threads=0,
        length_us=1_000,
        legend={"op": FlameLegend("#5468D4", "#8594F0", "op")},
        links={},
        initial=None,
        area=(100.0, 300.0, 0, 1),
        areas=True,
    )
    open_sources(page)
    page.evaluate(MOUNT, json.loads(msgspec.json.encode(data)))
    root = page.locator(".flame")
    page.wait_for_function("root => root.compileboardFlame.stage.clientWidth > 0", arg=root.element_handle())
    expect(root.get_by_label("Find a slice")).to_be_visible()
    stage = box(root.locator(".stage"))

    def drag(*keys: str) -> None:
        left, top = stage["x"] + stage["width"] / 4, stage["y"] + 22 + 19 + 5
        for key in keys:
            page.keyboard.down(key)
        page.mouse.move(left, top)
        page.mouse.down()
        page.mouse.move(left + stage["width"] / 4, top + 19, steps=4)
        page.mouse.move(left + stage["width"] / 2, top + 19, steps=4)
        page.mouse.up()
        for key in keys:
            page.keyboard.up(key)

    def area() -> list[float]:
        found: list[float] = page.evaluate("sent.area")
        return found

    assert root.evaluate("root => root.compileboardFlame.area") == [100, 300, 0, 1]
    drag("Shift")
    assert area() == [pytest.approx(250, abs=5), pytest.approx(750, abs=5), 1, 2]
    assert window(root) == [0, 1]
    root.locator(".stage").focus()
    page.keyboard.press("m")
    assert area() == [0, 1000, 0, 3]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("m")
    assert area() == [0, 400, 0, 3], "the time of the selected span, over all rows"
    page.keyboard.press("Escape")
    assert area() is None
    assert page.evaluate("sent.selected") == "s:0"
    page.keyboard.press("Escape")
    assert page.evaluate("sent.selected") is None
    root.get_by_role("button", name="Select area").click()
    drag()
    assert area()[2:] == [1, 2]
