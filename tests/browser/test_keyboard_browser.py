"""The demo by the keyboard alone: compile, the verdict, fusion with its code, and a repair of a graph break."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_repairs_browser import without_inductor
from tests.support.browser import Server, go, headline, run_id, settle

pytestmark = pytest.mark.browser

MOST_TABS = 250
FOCUSED = """
(selector) => {
    let at = document.activeElement
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
    return Boolean(at?.closest(selector) ?? at?.getRootNode().host?.closest(selector))
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
