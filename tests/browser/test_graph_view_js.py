"""The graph view in Chromium, on a page with nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.browser import POSITIONS, NewContext, box
from tests.support.graph_harness import harness, harness_page
from tests.support.graph_view import fold_all, item, mount, told, unfold_all, unfolded
from tests.support.places import ROOT

pytestmark = pytest.mark.browser
PAN = (ROOT / "benchmarks" / "pan_frames.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with harness() as address:
        yield address


@pytest.fixture
def page(new_context: NewContext, address: str) -> Page:
    """The harness without motion; an error in a script fails the test."""
    return harness_page(new_context, address)


def test_groups_unfold_in_place_and_fold_again(page: Page) -> None:
    view = mount(page, "transformer")
    fold_all(view)
    assert unfolded(view) == []
    stack = item(view, "m:blocks")
    expect(stack).to_have_attribute("aria-expanded", "false")
    before = stack.bounding_box()
    stack.get_by_role("button", name="Unfold blocks", exact=True).click()
    expect(stack).to_have_attribute("aria-expanded", "true")
    after = stack.bounding_box()

    assert before is not None
    assert after is not None
    assert after["y"] == pytest.approx(before["y"], abs=6)
    item(view, "m:blocks.0").dblclick()
    expect(item(view, "m:blocks.0.attn")).to_be_attached()
    assert unfolded(view) == ["m:blocks", "m:blocks.0"]
    item(view, "m:blocks.0.attn").click()
    page.keyboard.press("Enter")
    expect(item(view, "n:norm1_0")).to_be_attached()
    assert unfolded(view) == ["m:blocks", "m:blocks.0", "m:blocks.0.attn"]
    page.keyboard.press("o")
    assert unfolded(view) == ["m:blocks", "m:blocks.0"]


def test_levels_that_are_not_here_are_fetched_and_a_failure_can_be_retried(page: Page) -> None:
    view = mount(page, "transformer", opened={})
    page.route("**/levels?*", lambda route: route.abort())
    item(view, "m:blocks").dblclick()
    expect(view.get_by_role("alert")).to_be_visible()
    page.unroute("**/levels?*")
    view.get_by_role("button", name="Try again").click()

    expect(item(view, "m:blocks.0")).to_be_visible()
    fold_all(view)
    item(view, "m:blocks").locator(".sign").click(modifiers=["Shift"])
    expect(item(view, "n:norm1_0")).to_be_visible()
    assert len(unfolded(view)) == 37


def test_folds_survive_in_the_tab(page: Page) -> None:
    view = mount(page, "transformer")
    fold_all(view)
    item(view, "m:blocks").dblclick()
    again = mount(page, "transformer", source="later", opened={})

    expect(item(again, "m:blocks.0")).to_be_visible()
    assert unfolded(again) == ["m:blocks"]


def test_a_forgotten_graph_is_asked_for_again(page: Page) -> None:
    view = mount(page, "transformer", opened={}, digest="forgotten")
    item(view, "m:blocks").dblclick()

    page.wait_for_function("told.some(([, name]) => name === 'lost')")


def test_a_deep_link_into_folded_groups_unfolds_them(page: Page) -> None:
    view = mount(page, "transformer", opened={})
    page.evaluate(
        "window.dispatchEvent(new CustomEvent('compileboard:command', { detail: { source: 'transformer', id: "
        "'n:gelu_7', serial: 0 } }))"
    )

    expect(item(view, "n:gelu_7")).to_have_class("node op-pointwise selected")
    assert unfolded(view) == ["m:blocks", "m:blocks.7", "m:blocks.7.mlp"]
    assert told(page, "selected") == []


def test_of_two_wishes_the_later_counts_however_long_the_first_takes(page: Page) -> None:
    view = mount(page, "transformer", opened={})
    held: list[Route] = []
    page.route("**/find?id=n%3Agelu_7", lambda route: held.append(route))
    page.evaluate(
        """() => { for (const id of ["n:gelu_7", "n:gelu_3"]) {
            const detail = { source: "transformer", id, serial: 0 }
            window.dispatchEvent(new CustomEvent("compileboard:command", { detail })) } }"""
    )
    expect(view.locator("g.selected")).to_have_attribute("data-id", "n:gelu_3")
    with page.expect_response("**/find?id=n%3Agelu_7"):
        held[0].continue_()
    page.wait_for_timeout(100)

    expect(view.locator("g.selected")).to_have_attribute("data-id", "n:gelu_3")
    assert unfolded(view) == ["m:blocks", "m:blocks.3", "m:blocks.3.mlp"]


def test_a_selected_node_lights_its_edges_over_all_levels(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    item(view, "n:norm1_0").click()

    expect(item(view, "n:norm1_0")).to_have_attribute("aria-selected", "true")
    # Three edges to q, k and v; one from the embedding through three borders.
    expect(view.locator("g.lit > .edge")).to_have_count(4)
    expect(view.locator("g.lit > .stub")).to_have_count(1)
    assert told(page, "selected") == ["n:norm1_0"]


def test_views_light_up_what_is_related(page: Page) -> None:
    one, other = mount(page, "transformer", height=360), mount(page, "flat", height=360)
    unfold_all(one)
    item(one, "n:norm1_0").click()
    expect(item(other, "n:1000")).to_have_class(re.compile("related"))
    item(other, "n:1000").click()

    expect(item(one, "n:norm1_0")).to_have_class(re.compile("related"))
    expect(item(one, "n:norm1_0")).to_have_attribute("aria-selected", "false")
    assert told(page, "selected") == ["n:norm1_0", "n:1000"]


def test_search_finds_what_is_folded_away(page: Page) -> None:
    view = mount(page, "transformer", opened={})
    view.focus()
    page.keyboard.press("/")
    page.keyboard.type("scaled_dot")
    expect(view.locator(".hits .one")).to_have_count(12)
    page.keyboard.press("Enter")
    expect(item(view, "n:attn_0")).to_be_visible()
    page.keyboard.press("Enter")

    expect(item(view, "n:attn_1")).to_be_visible()
    expect(view.locator(".count")).to_have_text("2 of 12")


def test_a_neighbourhood_and_a_path(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    item(view, "n:norm1_0").click()
    page.keyboard.press("n")
    expect(view.locator(".chip-bar")).to_contain_text("1 hop around layer_norm")
    expect(view.locator("g.node")).to_have_count(5)
    view.get_by_role("button", name="More hops").click()
    expect(view.locator(".chip-bar")).to_contain_text("2 hops around layer_norm")
    page.keyboard.press("Escape")
    expect(view.locator(".chip-bar")).to_be_hidden()
    expect(item(view, "m:blocks")).to_be_visible()
    view.evaluate("root => root.compileboardView.goTo('n:embedding')")
    expect(item(view, "n:embedding")).to_have_attribute("aria-selected", "true")
    view.focus()
    page.keyboard.press("p")
    view.evaluate("root => { const v = root.compileboardView; v.focus.picks(v.choiceOf('n:attn_0')) }")

    expect(view.locator(".chip-bar")).to_contain_text("embedding to scaled_dot_product_attention")
    expect(view.locator("g.node")).to_have_count(6)


def test_a_film_shows_what_came_changed_and_went(page: Page) -> None:
    view = mount(page, "film")
    expect(view.locator("g.rewritten")).to_have_attribute("data-id", "n:d")
    view.locator(".viewport").click(position={"x": 5, "y": 200})
    page.keyboard.press(",")
    expect(item(view, "n:b")).to_have_class("node op-random gone")
    page.keyboard.press(",")
    expect(view.locator("g.added")).to_have_attribute("data-id", "n:c")
    expect(item(view, "n:b")).to_have_class("node op-random leaving")
    expect(view.locator(".words")).to_contain_text("fuse_addmm")
    page.keyboard.press(",")

    expect(item(view, "n:c")).to_have_count(0)
    page.wait_for_function("told.some(([, name, value]) => name === 'frame' && value === 0)")


def test_ops_join_step_by_step_until_the_launches_take_their_place(page: Page) -> None:
    view = mount(page, "fused", frame=0)
    first = view.evaluate(POSITIONS)
    expect(view.locator("g.joint")).to_have_count(0)
    expect(item(view, "g:op0")).to_be_hidden()
    view.locator(".viewport").click(position={"x": 5, "y": 200})
    for joints, alone in ((5, 4), (4, 3), (3, 2), (2, 1)):
        page.keyboard.press(".")
        expect(view.locator("g.joint")).to_have_count(joints)
        expect(view.locator("g.joint.alone")).to_have_count(alone)
    expect(item(view, "n:sum")).to_have_class(re.compile("joined"))
    page.keyboard.press(".")

    expect(view.locator("g.joint")).to_have_count(0)
    expect(item(view, "g:op0")).to_be_visible()
    expect(item(view, "g:op0").locator(".number")).to_have_text("K1")
    assert view.evaluate(POSITIONS) == first


def test_a_step_draws_only_the_hulls_that_it_changes(page: Page) -> None:
    view = mount(page, "fused", frame=1)
    joints = view.locator("g.joint")
    expect(joints).to_have_count(5)
    joints.evaluate_all("joints => joints.forEach((joint) => (joint.isOld = true))")
    view.evaluate("root => root.compileboardView.film.go(2)")
    expect(joints).to_have_count(4)

    assert joints.evaluate_all("joints => joints.filter((joint) => joint.isOld).length") == 3


def test_a_hull_shows_what_fusion_keeps_out_of_memory(page: Page) -> None:
    view = mount(page, "fused")
    expect(view.locator("g.edge.unstored")).to_have_count(4)
    expect(view.locator("g.edge:not(.unstored)")).to_have_count(1)
    item(view, "g:op0").get_by_role("button", name="Fold mul, add +3", exact=True).click()
    expect(view.locator("g.edge.unstored")).to_have_count(0)
    expect(item(view, "g:op0")).to_contain_text("7 µs · 5 ops")


@pytest.mark.parametrize(("scale", "shown"), [(0.7, "^K1.*7 µs"), (0.4, "^K17 µs$"), (0.25, "^K1$")])
def test_a_hull_has_its_number_and_its_time_at_any_zoom(page: Page, scale: float, shown: str) -> None:
    view = mount(page, "fused")
    zoom = "(root, k) => { const { camera } = root.compileboardView; camera.zoom(k / camera.k) }"
    view.evaluate(zoom, 1)
    expect(view.locator(".sign-post")).to_have_count(0)
    view.evaluate(zoom, scale)
    sign = view.locator(".sign-post").first
    expect(sign).to_have_text(re.compile(shown))

    assert box(sign.locator(".number rect"))["height"] == pytest.approx(15, abs=1)
    assert box(sign.locator(".number text"))["height"] >= 10
    for text in view.locator(":is(.open, .group) > text").all():
        expect(text).to_be_hidden()


SELECTED = "root => root.compileboardView.choice?.id ?? null"


def test_arrow_keys_walk_to_the_nearest_box_and_with_shift_to_the_nearest_hull(page: Page) -> None:
    view = mount(page, "fused")
    view.focus()
    walked = []
    for key in ("ArrowDown", "ArrowDown", "Shift+ArrowUp", "ArrowDown", "ArrowLeft", "Shift+ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
        walked.append(view.evaluate(SELECTED))
    assert walked == ["n:mul", "n:add", "g:op0", "n:mul", "n:mul", "g:op5", "n:mm"]

    view.get_by_role("button", name="More", exact=True).click()
    view.get_by_role("button", name="The keys of this view (?)").click()
    expect(view.get_by_role("dialog")).to_contain_text("Shift + ↑ ↓ ← →walk to the nearest kernel launch or group")


def test_arrow_keys_go_along_a_row_and_back(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    view.evaluate("root => root.compileboardView.goTo('n:norm1_1')")
    expect(item(view, "n:norm1_1")).to_have_attribute("aria-selected", "true")
    view.focus()
    page.keyboard.press("ArrowDown")
    row = [view.evaluate(SELECTED)]
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        row.append(view.evaluate(SELECTED))
    places = view.evaluate(POSITIONS)
    assert set(row) == {"n:q_1", "n:k_1", "n:v_1"}
    assert [places[name]["x"] for name in row[2:5]] == sorted(places[name]["x"] for name in row[2:5])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert view.evaluate(SELECTED) == row[-1]


def test_a_click_between_the_ops_of_a_launch_selects_the_launch(page: Page) -> None:
    view = mount(page, "fused")
    hull, first = box(item(view, "g:op0").locator("> .body")), box(item(view, "n:mul"))
    page.mouse.click(hull["x"] + 4, first["y"] + first["height"] / 2)
    assert view.evaluate(SELECTED) == "g:op0"
    expect(item(view, "g:op0")).to_have_attribute("aria-selected", "true")

    view.focus()
    page.keyboard.press("Escape")
    page.keyboard.press(",")
    page.mouse.click(hull["x"] + 4, first["y"] + first["height"] / 2)
    assert view.evaluate(SELECTED) is None


def test_titles_of_groups_lie_above_the_edges_that_cross_them(page: Page) -> None:
    view = mount(page, "fused")
    layers = view.evaluate(
        "root => [...root.querySelectorAll('.stage svg > g')].map((layer) => layer.className.baseVal)"
    )
    assert layers.index("frames") > max(layers.index(name) for name in ("edges", "lit", "near"))
    behind = item(view, "g:op0").locator("> .header").evaluate("header => getComputedStyle(header).fill")
    assert behind != "none"


def test_an_overlay_colours_nodes_and_says_what_was_not_recorded(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    view.get_by_label("Colour by").select_option("time")

    expect(item(view, "n:k_0")).to_have_class("node op-matmul painted")
    expect(view.locator("g.unrecorded").first).to_be_attached()
    expect(view.locator(".legend")).to_contain_text("not recorded")
    assert told(page, "overlay") == ["time"]


def test_views_in_step_follow_each_other(page: Page) -> None:
    one = mount(page, "transformer", height=360, step="s")
    other = mount(page, "twin", height=360, step="s")
    unfold_all(one)
    expect(item(other, "n:norm1_0")).to_be_attached()
    item(one, "m:blocks").get_by_role("button", name="Fold blocks", exact=True).dispatch_event("click")
    expect(item(other, "m:blocks")).to_have_attribute("aria-expanded", "false")
    one.evaluate("root => root.compileboardView.camera.zoom(1.6)")
    one.evaluate("root => root.compileboardView.camera.pan(0, -60)")

    cameras = (
        "root => new Promise((done) => setTimeout(() => { const { x, y, k } = root.compileboardView.camera; "
        "done([x, y, k].map(Math.round)) }, 100))"
    )
    assert one.evaluate(cameras) == other.evaluate(cameras)


def test_only_what_is_near_is_in_the_document(page: Page) -> None:
    view = mount(page, "flat")
    near = view.evaluate("root => root.compileboardView.stats")
    assert near["total"] == 10_000
    assert near["drawn"] < 400
    view.get_by_role("button", name="Fit the whole graph (f)").click()

    expect(view.locator("g.node")).to_have_count(0)
    expect(view.locator("canvas.far-surface")).to_be_visible()
    # A tree must have items.
    expect(view.locator("svg[role='tree']")).to_have_count(0)
    assert view.evaluate(PAN, 1)["frames_per_s"] > 0


DRAWN = """root => {
    const { stage, camera } = root.compileboardView
    stage.cull([-2, -2, -2, -2])
    stage.cull([-1e8, -1e8, 1e8, 1e8])
    return [...stage.drawn.values()].map((element) => element.outerHTML.replace(/ id="[^"]*"/, "")).sort()
}"""


def test_boxes_that_look_the_same_are_copies_with_their_own_ids(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    copied = view.evaluate(DRAWN)
    patterns = view.evaluate("root => [...root.compileboardView.stage.patterns.values()].filter(Boolean).length")
    view.evaluate("root => { root.compileboardView.stage.patterns = { get() {}, set() {}, clear() {} } }")

    assert 0 < patterns < len(copied) / 4
    assert view.evaluate(DRAWN) == copied


def test_downloads_hold_all_that_is_composed(page: Page) -> None:
    view = mount(page, "transformer")
    unfold_all(view)
    view.get_by_role("button", name="More", exact=True).click()
    with page.expect_download() as found:
        view.get_by_role("button", name="Download as SVG").click()
    text = Path(found.value.path()).read_text(encoding="utf-8")

    assert text.count("scaled_dot_product_attention") == 12
    assert "var(" not in text
    assert "data-id" not in text


def test_the_tool_bar_wraps_on_a_telephone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    view = mount(page, "transformer")
    for name in ("Fold all groups", "Zoom in (+)", "Fit the whole graph (f)", "Full screen (F)", "More"):
        expect(view.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)

    expect(view.get_by_label("Colour by")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_group_has_no_neighbourhood_and_escape_closes_the_message(page: Page) -> None:
    view = mount(page, "transformer")
    item(view, "m:blocks.0").locator(".label").click()
    page.keyboard.press("n")
    expect(view.get_by_role("alert")).to_contain_text("Select an op first")
    page.keyboard.press("Escape")

    expect(view.get_by_role("alert")).to_be_hidden()
    expect(item(view, "m:blocks.0")).to_have_attribute("aria-selected", "true")


def test_the_name_of_an_open_group_is_not_covered_by_the_edges_that_cross_it(page: Page) -> None:
    view = mount(page, "transformer")
    fold_all(view)
    item(view, "m:blocks").dblclick()
    named = view.evaluate(
        """root => {
            const drawing = root.compileboardView
            const group = drawing.picture.open.get(0)
            const [x, y] = [group.x + group.w / 2, group.y + 10]
            const box = drawing.viewport.getBoundingClientRect()
            const { camera } = drawing
            const at = { clientX: x * camera.k + camera.x + box.left, clientY: y * camera.k + camera.y + box.top }
            const edge = drawing.picture.edges[0]
            drawing.stage.lineGrid.add({ ...edge, points: [[x, y - 30], [x, y + 30]], box: [x, y - 30, x, y + 30] })
            drawing.hovered.over(drawing.choiceAt(new MouseEvent("mousemove", at)), new MouseEvent("mousemove", at))
            return [drawing.hovered.line === null, drawing.hovered.choice?.id]
        }"""
    )

    assert named == [True, "m:blocks"]


def test_a_tile_lights_up_the_folded_group_that_its_launch_is_in(page: Page) -> None:
    pair = {"name": "largest missed fusion", "badge": "3 and 7", "text": "linear with add", "value": "3 MB"}
    view = mount(page, "transformer", opened={}, largest=[{**pair, "ids": ["n:q_3", "n:head"]}])
    fold_all(view)
    tile = view.get_by_role("button", name="largest missed fusion")
    tile.hover()
    expect(view.locator(".preview")).to_have_count(2)
    expect(item(view, "m:blocks")).to_have_class(re.compile("preview"))
    expect(view.locator(".tip")).to_have_text("K3 and K7One of them is in blocks, folded: click to unfold")

    view.locator(".status").hover()
    expect(view.locator(".preview")).to_have_count(0)
    expect(view.locator(".tip")).to_be_hidden()


def test_slash_searches_from_anywhere_on_the_page(page: Page) -> None:
    view = mount(page, "transformer")
    page.keyboard.press("/")
    page.keyboard.type("cat")
    expect(view.get_by_role("combobox", name="Search the graph")).to_have_value("cat")


def test_from_afar_matches_keep_their_colours_and_all_else_fades(page: Page) -> None:
    view = mount(page, "flat")
    colours = """root => {
        const { far } = root.compileboardView
        const { canvas, context, at } = far
        const sharp = canvas.width / at.width
        return ["n:1", "n:2"].map((id) => {
            const { x, y, w, h } = root.compileboardView.placedOf(id)
            const [left, top] = [(x + w / 2) * at.k + at.x + at.marginX, (y + h * 0.9) * at.k + at.y + at.marginY]
            return [...context.getImageData(left * sharp, top * sharp, 1, 1).data].join()
        })
    }"""
    view.evaluate("root => root.compileboardView.camera.zoom(0.4 / root.compileboardView.camera.k, 0, 0)")
    expect(view).to_have_class(re.compile("far"))
    hit, other = view.evaluate(colours)
    page.keyboard.press("/")
    page.keyboard.type("op_1")
    expect(view.locator(".hits .one").first).to_be_visible()

    assert view.evaluate(colours)[0] == hit
    assert view.evaluate(colours)[1] != other
    page.keyboard.press("Escape")
    assert view.evaluate(colours) == [hit, other]
