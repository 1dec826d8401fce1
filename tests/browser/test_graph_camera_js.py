"""The camera of a graph view in Chromium: zoom, signs, the small map, and what is brought into view."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import CAMERA, NewContext, box, wait_for
from tests.support.graph_harness import harness, harness_page
from tests.support.graph_view import fold_all, item, mount, told, unfold_all

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with harness() as address:
        yield address


@pytest.fixture
def page(new_context: NewContext, address: str) -> Page:
    """The harness without motion; an error in a script fails the test."""
    return harness_page(new_context, address)


def test_a_step_outside_of_the_window_is_brought_into_view(page: Page) -> None:
    view = mount(page, "fused", frame=1, height=420)
    view.evaluate("root => { const { camera } = root.compileboardView; camera.zoom(1.5); camera.pan(0, -2000) }")
    before = view.evaluate(CAMERA)
    view.focus()
    for name in ("n:add", "n:exp", "n:sum"):
        page.keyboard.press(".")
        expect(item(view, name).locator(".label")).to_be_in_viewport()
    assert view.evaluate(CAMERA)["k"] == before["k"]

    # The same keys outside of the view, but not in a text field.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(",")
    expect(view.locator(".film .number")).to_contain_text("3 / 5")
    view.locator("input:not([type=range])").first.focus()
    page.keyboard.press(",")
    page.keyboard.press("Escape")
    expect(view.locator(".film .number")).to_contain_text("3 / 5")
    view.focus()
    calm = view.evaluate(CAMERA)
    page.keyboard.press(".")
    page.keyboard.press(",")
    expect(view.locator(".film .number")).to_contain_text("3 / 5")
    assert view.evaluate(CAMERA) == calm


def test_the_small_map_yields_to_a_selection_under_it(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    view.evaluate("root => root.compileboardView.goTo('n:norm1_1', { atOnce: true })")
    margin = view.locator(".margin")
    expect(margin).to_be_visible()
    pan = "(root, [across, down]) => root.compileboardView.camera.pan(across, down)"
    node, screen = box(item(view, "n:norm1_1")), box(view.locator(".viewport"))
    across = screen["x"] + screen["width"] - 30 - node["x"] - node["width"]
    down = screen["y"] + screen["height"] - 10 - node["y"] - node["height"]
    view.evaluate(pan, [across, down])
    expect(margin).to_be_hidden()
    view.evaluate(pan, [0, -down])
    expect(margin).to_be_visible()


def test_signs_of_another_picture_are_gone_and_a_click_on_a_sign_selects_its_group(page: Page) -> None:
    view = mount(page, "transformer")
    view.evaluate("root => root.compileboardView.camera.zoom(0.4)")
    sign = view.locator(".sign-post", has_text="blocks").first
    sign.click(force=True)
    chosen = told(page, "selected")
    assert chosen[-1].startswith("m:blocks")
    view.focus()
    page.keyboard.press("Escape")
    fold_all(view)

    expect(view.locator(".sign-post")).to_have_count(0)


def test_signs_stay_while_the_picture_is_panned_and_zoomed(page: Page) -> None:
    view = mount(page, "transformer")
    view.evaluate("root => root.compileboardView.camera.zoom(0.4)")
    signs = view.locator(".sign-post")
    expect(signs.first).to_be_attached()
    signs.evaluate_all("signs => signs.forEach((sign) => (sign.isOld = true))")
    step = """async (root, [x, factor]) => {
        root.compileboardView.camera.pan(x, 0)
        root.compileboardView.camera.zoom(factor)
        await new Promise(requestAnimationFrame)
        return root.querySelectorAll(".sign-post").length
    }"""
    before = box(signs.first)["height"]
    counts = [view.evaluate(step, move) for move in ([3, 1], [-3, 1], [2, 1.04], [0, 1 / 1.04])]

    assert counts == [signs.count()] * 4
    assert signs.evaluate_all("signs => signs.every((sign) => sign.isOld)")
    assert box(signs.first)["height"] == pytest.approx(before, abs=0.1)


ZOOM_IN = """async (root) => {
    const { camera, canvas } = root.compileboardView
    const views = []
    for (let step = 0; step < 30; step += 1) {
        camera.zoom(1.01)
        await new Promise(requestAnimationFrame)
        // A wheel event asks what is under the pointer, too.
        document.elementFromPoint(300, 300)
        views.push([canvas.style.willChange, canvas.getBoundingClientRect().width / camera.k])
    }
    return views
}"""


def test_a_zoom_scales_the_painted_drawing_and_paints_it_sharply_at_rest(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    expect(view.locator(".margin")).to_be_visible()
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable")

    def layouts() -> float:
        counts = metrics.send("Performance.getMetrics")["metrics"]
        return float(next(count["value"] for count in counts if count["name"] == "LayoutCount"))

    before = layouts()
    layers, widths = zip(*view.evaluate(ZOOM_IN), strict=True)

    assert layers[3:] == ("transform",) * 27
    assert widths == pytest.approx([widths[0]] * 30, rel=0.001)
    assert layouts() - before < 10
    # Texts that a browser has not laid out since would have the size of another scale.
    expect(item(view, "n:norm1_0").locator(".label")).to_have_css("text-rendering", "geometricprecision")
    expect(view.locator(".stage")).to_have_attribute("style", re.compile(r"^(?!.*will-change: transform).*scale\("))


def test_a_pair_that_is_outlined_comes_into_view(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    page.evaluate(
        """() => {
            const detail = { source: "transformer", id: null, serial: 0, outlined: ["n:norm1_0", "n:gelu_7"] }
            window.dispatchEvent(new CustomEvent("compileboard:command", { detail })) }"""
    )
    page.wait_for_timeout(300)
    seen = view.evaluate(
        """root => {
            const { camera } = root.compileboardView
            const [left, top, right, bottom] = camera.rect()
            return ["n:norm1_0", "n:gelu_7"].map((id) => root.compileboardView.placedOf(id).box)
                .every(([x, y, X, Y]) => left <= x && top <= y && X <= right && Y <= bottom) }"""
    )

    assert seen


def test_the_camera_looks_at_the_same_place_when_the_graph_is_shown_again(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    view.evaluate("root => root.compileboardView.camera.pan(-30, -400)")
    page.wait_for_url("**look=*")
    camera = view.evaluate(CAMERA)
    again = mount(page, "transformer", source="later", opened={})
    expect(item(again, "n:norm1_0")).to_be_attached()
    assert again.evaluate(CAMERA) == pytest.approx(camera, abs=2)
    again.evaluate("root => root.compileboardView.camera.pan(9_000, 9_000)")
    page.wait_for_timeout(400)
    last = mount(page, "transformer", source="last", opened={})

    expect(item(last, "n:norm1_0")).to_be_visible()


WHOLE = """root => {
    const { camera: { x, y, k, picture, size } } = root.compileboardView
    return x >= 0 && y >= 0 && x + picture.width * k <= size.width && y + picture.height * k <= size.height
}"""


@pytest.mark.parametrize("height", [420, 700])
def test_launches_are_seen_whole_at_first_and_in_a_view_of_another_size(page: Page, height: int) -> None:
    view = mount(page, "fused", height=height)
    assert view.evaluate(WHOLE)
    scale = view.evaluate(CAMERA)["k"]
    view.evaluate("root => root.compileboardView.camera.pan(0, 0)")
    view.evaluate("root => { root.style.width = '90px' }")
    wait_for(lambda: view.evaluate(CAMERA)["k"] < scale and bool(view.evaluate(WHOLE)))
    view.evaluate("root => { root.style.width = '' }")
    wait_for(lambda: bool(view.evaluate(CAMERA)["k"] == pytest.approx(scale)))
