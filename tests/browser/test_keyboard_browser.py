"""The demo by the keyboard alone: compile, the verdict, fusion with its code, and a repair of a graph break."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_repairs_browser import without_inductor
from tests.support.browser import NewContext, Server, go, headline, item, opened, run_id, settle, wait_for
from tests.support.sample import one_in

pytestmark = pytest.mark.browser

MOST_TABS = 250
FOCUSED = """
(selector) => {
    let at = document.activeElement
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
    return Boolean(at?.closest(selector) ?? at?.getRootNode().host?.closest(selector))
}
"""


# True if the selected op is in its view, where the camera comes to rest.
CHOICE_IN_VIEW = """
root => {
    const { camera, choice, viewport } = root.compileboardView
    const { x, y, w, h } = root.compileboardView.placedOf(choice.id)
    const [left, top] = [x * camera.k + camera.x, y * camera.k + camera.y]
    return left >= -1 && top >= -1 && left + w * camera.k <= viewport.clientWidth + 1
        && top + h * camera.k <= viewport.clientHeight + 1
}
"""


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until what a selector names has the focus, or holds what has it."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED, selector):
            return
    raise AssertionError(f"{MOST_TABS} tabs did not reach {selector}")


@pytest.mark.long
def test_the_demo_needs_no_mouse(server: Server, transformer: str, page: Page) -> None:
    go(page, server.url)
    settle(page)
    tab_to(page, ".st-key-compile-sin_cos")
    page.keyboard.press("Enter")
    page.wait_for_url("**/overview?run=*")
    expect(page.locator(".steps li").first).to_have_text("loading the model")
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(headline(page)).to_have_text(re.compile(r"1 graph, 0 graph breaks, \d+ ops fused into 1 kernel"))
    settle(page)
    for text in ("done", "speedup", "same"):
        expect(page.locator(".chip", has_text=text)).to_be_attached()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert [path.name for path in (server.home / "runs" / run_id(page) / "trace").glob("*.log")]

    go(page, server.link("overview", run=transformer))
    settle(page)
    tab_to(page, "a[data-testid='stSidebarNavLink'][href*='fusion']")
    page.keyboard.press("Enter")
    expect(headline(page)).to_contain_text("launches of")
    settle(page)
    tab_to(page, ".view")
    page.keyboard.press("/")
    page.keyboard.type("addmm")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-drawer .cv .title").first).to_have_text(re.compile("cpp_fused|extern_kernels"))

    go(page, server.link("graph_breaks", run=without_inductor(server, "graph_break_zoo")))
    settle(page)
    tab_to(page, "[class*='st-key-try-']")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Cancel").first).to_be_visible()
    expect(page.locator("[data-testid='stAlert']").first).to_contain_text("equal results")


@pytest.mark.parametrize("width", one_in(2, [1440, 390]))
def test_fusion_is_walked_from_its_first_op_to_its_last_and_folded_by_keys(
    server: Server, transformer: str, new_context: NewContext, width: int
) -> None:
    page = new_context(viewport={"width": width, "height": 900}).new_page()
    view = opened(page, server.link("fusion", run=transformer))
    settle(page)
    tab_to(page, ".view")
    walked = []
    for _ in range(22):
        page.keyboard.press("ArrowDown")
        chosen = view.evaluate("root => root.compileboardView.choice.id")
        assert chosen not in walked
        walked.append(chosen)
        wait_for(lambda: view.evaluate(CHOICE_IN_VIEW))
    launches = ["n:var_mean", "n:addmm", "n:addmm_1", "n:var_mean_1", "n:addmm_2", "n:addmm_3", "n:add_6"]
    assert [name for name in walked if name in launches] == launches
    page.keyboard.press("Escape")

    tab_to(page, ".largest button")
    page.keyboard.press("Enter")
    expect(item(view, "g:op13")).to_have_attribute("aria-selected", "true")
    expect(item(view, "g:op13")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")
    expect(item(view, "g:op13")).to_have_attribute("aria-expanded", "false")
    page.keyboard.press(",")
    expect(view.locator(".film .number")).to_have_text("7 / 8")
    page.keyboard.press("Escape")
    expect(view.locator("[aria-selected='true']")).to_have_count(0)


def test_an_exercise_is_solved_without_a_mouse(server: Server, page: Page) -> None:
    go(page, f"{server.url}/exercises?exercise=print_inside")
    settle(page)
    tab_to(page, ".cm-content")
    page.keyboard.press("Control+Enter")
    outcome = page.locator("[data-testid='stAlert']").first
    expect(outcome).to_contain_text("Not yet: 1 of 3 checks failed.")
    assert page.evaluate(FOCUSED, ".cm-content")
    page.keyboard.press("Control+Home")
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Delete")
    page.keyboard.press("Control+Enter")
    expect(outcome).to_have_text(re.compile("Solved"))
    expect(headline(page)).to_have_text("1 of 12 exercises solved")
    expect(page.get_by_role("radio", checked=True)).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="A tensor becomes a number")).to_be_visible()
    settle(page)
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="A branch on data")).to_be_visible()
