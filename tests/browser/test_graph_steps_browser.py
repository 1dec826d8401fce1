"""Graphs that change, in Chromium: the film of passes, both sides of fusion, forward and backward."""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import (
    PATIENCE_S,
    POLL_MS,
    POSITIONS,
    Server,
    box,
    click_row,
    item,
    opened,
    settle,
    wait_for,
)
from tests.support.homes import add_run, film_log
from tests.support.places import ROOT

pytestmark = pytest.mark.browser

# How far from the middle of its view the first item stands that both views have, in pixels, and how close both look.
IN_STEP = """
([one, other]) => {
    const [a, b] = [one.compileboardView, other.compileboardView]
    const offset = ({ viewport, camera: { x, y, k } }, { x: left, y: top, w, h }) =>
        [x + (left + w / 2) * k - viewport.clientWidth / 2, y + (top + h / 2) * k - viewport.clientHeight / 2, k]
    for (const { placed } of a.inStep.nearest()) {
        const { id, links } = a.choiceOf(placed.item.id)
        const there = b.placedOf(id) ?? b.visibleRelated(id, links)[0]
        if (there) return [offset(a, placed), offset(b, there)]
    }
    return null
}
"""

IN_THE_MIDDLE = """
(root, id) => {
    const { camera, placedOf } = root.compileboardView
    const [[x, y], box] = [camera.centre(), placedOf.call(root.compileboardView, id).box]
    return box[0] < x && x < box[2] && box[1] < y && y < box[3]
}
"""
# Shows each step up to the last; whether all stays in its place there, and the number of names of eager's calls.
WALK = """
async (root, last) => {
    const [view, seen] = [root.compileboardView, []]
    const before = JSON.stringify(view.positions())
    for (let frame = 1; frame <= last; frame += 1) {
        view.film.go(frame)
        await new Promise(requestAnimationFrame)
        seen.push([JSON.stringify(view.positions()) === before, root.querySelectorAll(".joint text").length])
    }
    return seen
}
"""


@pytest.fixture(scope="module")
def film(server: Server) -> str:
    """A log in which passes change a graph, stored."""
    return add_run(server.home, "film", film_log(), kind="log").id


def middle(locator: Locator) -> tuple[float, float]:
    """Where the middle of an item's box is on screen, whatever the width of its line."""
    found = box(locator.locator("> .body"))
    return found["x"] + found["width"] / 2, found["y"] + found["height"] / 2


def kernels(view: Locator) -> list[str]:
    """What stands in the picture besides groups."""
    return [id_ for id_ in view.evaluate(POSITIONS) if not id_.startswith("m:")]


def shows_frame(view: Locator, frame: int) -> None:
    """Wait until the film stands there."""
    expect(view.locator(".film .number")).to_have_text(re.compile(rf"^{frame} / \d+$"))


def test_the_film_runs_both_ways_and_nothing_moves(server: Server, film: str, page: Page) -> None:
    view = opened(page, server.link("passes", run=film))
    shows_frame(view, 2)
    positions = view.evaluate(POSITIONS)
    stays = [item(view, f"n:{name}") for name in ("relu", "exp", "sum_1")]
    last = [middle(node) for node in stays]
    expect(view.locator("g.rewritten")).to_have_attribute("data-id", "n:sum_1")
    view.get_by_role("button", name="Previous step (,)").click()
    shows_frame(view, 1)
    expect(view.locator("g.added")).to_have_attribute("data-id", "n:mul")
    expect(view.locator("g.gone")).to_have_attribute("data-id", "n:clone")
    expect(page).to_have_url(re.compile(r"frame=1"))
    settle(page)
    page.keyboard.press(",")
    shows_frame(view, 0)
    expect(item(view, "n:mul")).to_have_count(0)
    expect(view.locator("g.leaving")).to_have_attribute("data-id", "n:clone")
    expect(page).to_have_url(re.compile(r"frame=0"))
    settle(page)
    first = view.evaluate(POSITIONS)
    assert [middle(node) for node in stays] == last

    page.keyboard.press(".")
    page.keyboard.press(".")
    shows_frame(view, 2)
    expect(page).not_to_have_url(re.compile("frame="))
    settle(page)
    assert first == positions == view.evaluate(POSITIONS)
    assert [middle(node) for node in stays] == last
    expect(item(view, "n:clone")).to_have_count(0)


@pytest.mark.long
def test_a_film_of_recorded_passes_keeps_its_places(server: Server, training: str, page: Page) -> None:
    view = opened(page, server.link("passes", run=training, drawer="steps"))
    frames = int(view.locator(".film .number").inner_text().rpartition("/")[2])
    chapter = page.locator(".st-key-chapter").locator("[aria-checked='true'], [kind='segmented_controlActive']")
    expect(chapter).to_have_text(re.compile(rf"· {frames}$"))
    positions = view.evaluate(POSITIONS)
    for frame in reversed(range(frames)):
        view.get_by_role("button", name="Previous step (,)").click()
        shows_frame(view, frame)
    expect(page).to_have_url(re.compile(r"frame=0"))
    settle(page)
    expect(page.get_by_text("Step 0", exact=True)).to_be_visible()
    assert view.evaluate(POSITIONS) == positions
    for frame in range(1, frames + 1):
        view.get_by_role("button", name="Next step (.)").click()
        shows_frame(view, frame)

    assert view.evaluate(POSITIONS) == positions


@pytest.mark.long
def test_a_link_leads_to_a_chapter_and_a_step(server: Server, film: str, training: str, page: Page) -> None:
    view = opened(page, server.link("passes", run=film, frame="1", select="n:mul", drawer="steps"))
    shows_frame(view, 1)
    expect(item(view, "n:mul")).to_have_attribute("aria-selected", "true")
    click_row(page, "steps-0-0-inference", 0)
    shows_frame(view, 0)
    expect(page).to_have_url(re.compile(r"frame=0"))
    view = opened(page, server.link("passes", run=training, chapter="forward"))

    expect(page.get_by_role("heading", level=1)).to_contain_text("changed the forward")
    expect(page).to_have_url(re.compile(r"chapter=forward"))


def test_no_op_moves_in_any_step_of_fusion_and_eagers_calls_have_names(server: Server, page: Page) -> None:
    log = gzip.decompress((ROOT / "tests/launches/training.log.gz").read_bytes())
    run = add_run(server.home, "training", log, kind="log").id
    view = opened(page, server.link("fusion", run=run))
    view.get_by_role("button", name="Unfold all groups", exact=True).click()
    expect(view).to_have_attribute("aria-busy", "false")
    last = int(view.locator(".film .number").inner_text().rpartition("/")[2])
    view.evaluate("root => { const { camera } = root.compileboardView; camera.zoom(1 / camera.k) }")
    positions = view.evaluate(POSITIONS)
    view.evaluate("root => root.compileboardView.film.go(0)")
    shows_frame(view, 0)
    expect(view.locator(".film b")).to_have_text("Eager")
    assert "native_layer_norm" in view.locator(".joint text").all_text_contents()
    assert view.evaluate(POSITIONS) == positions
    view.get_by_role("button", name="Next step (.)").click()
    shows_frame(view, 1)
    assert view.evaluate(POSITIONS) == positions
    assert view.evaluate(WALK, last) == [[True, 0]] * last
    shows_frame(view, last)


def test_the_largest_launch_and_the_largest_missed_fusion_are_one_click_away(
    server: Server, transformer: str, page: Page
) -> None:
    view = opened(page, server.link("fusion", run=transformer, frame="0"))
    view.get_by_role("button", name="Fold all groups", exact=True).click()
    largest = view.get_by_role("group", name="Largest launches").get_by_role("button")
    expect(largest).to_contain_text(["most time", "most bytes", "saved most", "largest missed fusion"])
    largest.nth(2).click()
    expect(page).to_have_url(re.compile("select=g%3Aop9"))
    expect(item(view, "g:op9")).to_have_attribute("aria-expanded", "true")
    wait_for(lambda: view.evaluate(IN_THE_MIDDLE, "g:op9"))
    expect(view.locator(".amount")).to_have_text(["9 launches", "22.6 MB moved"])

    largest.nth(3).click()
    expect(page).to_have_url(re.compile("drawer=why"))
    expect(page.locator(".st-key-drawer")).to_contain_text("They share 1.05 MB of buffers")
    expect(view.locator(".outlined")).to_have_count(2)
    expect(view.locator(".ties")).to_have_text("not fused1.05 MB at stake")
    expect(page.get_by_label("Second")).to_have_value("TransformerBlock · add (kernel 4) · op16 · add")

    # A launch that is selected after the pair has the drawer to itself.
    largest.nth(0).click()
    expect(page.locator(".st-key-drawer")).to_contain_text("Open the kernel")
    expect(page).not_to_have_url(re.compile("drawer=why"))


def test_the_next_visit_unfolds_what_the_first_one_did(server: Server, transformer: str, page: Page) -> None:
    view = opened(page, server.link("fusion", run=transformer))
    first = view.evaluate("root => root.compileboardView.unfolded")
    view.get_by_role("button", name="Fold all groups", exact=True).click()
    assert view.evaluate("root => root.compileboardView.unfolded") == [] != first
    menu = page.get_by_test_id("stSidebarNavItems")
    menu.locator("a", has_text="Kernels").click()
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    page.wait_for_timeout(1_500)
    menu.locator("a", has_text="Fusion").click()
    expect(view.locator("[data-id]").first).to_be_attached()
    assert view.evaluate("root => root.compileboardView.unfolded") == first


def test_both_sides_of_fusion_move_and_fold_in_step(server: Server, transformer: str, page: Page) -> None:
    before = opened(page, server.link("fusion", run=transformer, fusion="side by side"))
    after = page.locator(".view").nth(1)
    expect(after.locator("[data-id]").first).to_be_attached()
    sides = [before.element_handle(), after.element_handle()]
    expect(before.locator(".largest button")).to_have_count(0)
    expect(after.locator(".largest button")).to_have_count(0)
    heights = [box(side.locator(".viewport"))["height"] for side in (before, after)]
    assert heights[0] == heights[1]

    def scale(order: list[Any], has_come: Callable[[float], bool]) -> float:
        """Wait until the first view has come to a scale, and both rest in step; gives the scale."""
        deadline, last = time.monotonic() + PATIENCE_S, None
        while True:
            page.wait_for_timeout(POLL_MS)
            mine, theirs = now = page.evaluate(IN_STEP, order)
            if now == last and has_come(mine[2]) and theirs == pytest.approx(mine, abs=2):
                return float(mine[2])
            assert time.monotonic() < deadline, now
            last = now

    drawing = box(before.locator(".viewport"))
    page.mouse.move(drawing["x"] + drawing["width"] / 2, drawing["y"] + drawing["height"] / 2)
    page.mouse.wheel(0, -200)
    closer = scale(sides, lambda k: k > 1)
    page.mouse.down()
    page.mouse.move(drawing["x"] + drawing["width"] / 2, drawing["y"] + 20, steps=4)
    page.mouse.up()
    assert scale(sides, lambda k: k > 1) == closer
    drawing = box(after.locator(".viewport"))
    page.mouse.move(drawing["x"] + drawing["width"] / 2, drawing["y"] + drawing["height"] / 2)
    page.mouse.wheel(0, 300)
    scale(sides[::-1], lambda k: k < closer)

    before.evaluate("root => root.compileboardView.goTo('m:attention')")
    expect(item(after, "m:attention")).to_have_attribute("aria-expanded", "true")
    item(before, "m:attention").get_by_role("button", name="Fold attention", exact=True).click()
    expect(item(before, "m:attention")).to_have_attribute("aria-expanded", "false")
    expect(item(after, "m:attention")).to_have_attribute("aria-expanded", "false")
    item(after, "m:attention").get_by_role("button", name="Unfold attention", exact=True).click()
    expect(item(before, "m:attention")).to_have_attribute("aria-expanded", "true")


@pytest.mark.long
def test_a_kept_value_is_found_in_the_graph(server: Server, training: str, page: Page) -> None:
    view = opened(page, server.link("partition", run=training, drawer="saved values"))
    click_row(page, "saved-aot_joint_graph", 1)
    expect(page).to_have_url(re.compile(r"select=n%3A\w+"))
    found = re.search(r"select=n%3A(\w+)", page.url)
    assert found is not None

    expect(item(view, f"n:{found.group(1)}")).to_have_attribute("aria-selected", "true")
    page.get_by_role("radio", name="value").or_(page.get_by_role("button", name="value", exact=True)).first.click()
    table = page.locator("[data-testid='stTable']")
    expect(table).to_contain_text(f"{found.group(1)} = ")
    expect(table).to_contain_text("Computed in the forward, or an input of it, and saved for the backward.")


AT_EDGE = """root => {
    const { camera, picture, viewport } = root.compileboardView;
    const { points } = picture.edges.find(({ edge, s }) => !edge.bytes && s.item.label === "var_mean");
    const box = viewport.getBoundingClientRect();
    const at = [0, 1].map(i => (points[i] + 3 * points[i + 2] + 3 * points[i + 4] + points[i + 6]) / 8);
    return [box.left + camera.x + at[0] * camera.k, box.top + camera.y + at[1] * camera.k];
}"""


def test_edges_and_the_legend_say_what_stays_in_a_kernel_and_a_tip_covers_no_kernel(
    server: Server, transformer: str, page: Page
) -> None:
    view = opened(page, server.link("fusion", run=transformer))
    expect(view.locator(".legend")).to_contain_text("stays in kernel")
    page.mouse.move(*view.evaluate(AT_EDGE))
    expect(view.locator(".tip")).to_contain_text("var_mean →")
    expect(view.locator(".tip")).to_contain_text("stays in the kernel: no buffer, no traffic")
    hull = box(item(view, "g:op0"))
    page.mouse.move(hull["x"] + hull["width"] / 3, hull["y"] + 12)
    expect(view.locator(".tip .name")).to_have_text("norm1 · layer_norm")
    tip = box(view.locator(".tip"))
    assert tip["x"] >= hull["x"] + hull["width"] or tip["x"] + tip["width"] <= hull["x"]
