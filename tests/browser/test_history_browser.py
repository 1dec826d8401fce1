"""The browser's history: one entry a page, and the way back is one step."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Server, go, headline, link_to, settle

pytestmark = pytest.mark.browser

WAY = {
    "Kernels": "/kernels?",
    "Fusion": "/fusion?",
    "Graph": "/fx_graph?",
    "Passes": "/passes?",
}


@pytest.mark.long
def test_each_page_is_one_entry_and_one_step_back(server: Server, transformer: str, page: Page) -> None:
    go(page, server.link("overview", run=transformer, compilation="0/0"))
    expect(headline(page)).to_contain_text("fused into")
    entries = page.evaluate("history.length")
    visited = []
    for title, path in WAY.items():
        visited.append(page.url)
        link_to(page, title).click()
        page.wait_for_url(f"**{path}*run={transformer}*")
        settle(page)
        page.wait_for_timeout(1_000)
    assert page.evaluate("history.length") == entries + len(WAY)

    for url in reversed(visited):
        page.go_back()
        expect(page).to_have_url(url)
        settle(page)
        page.wait_for_timeout(1_000)
        expect(page).to_have_url(url)


def test_another_run_of_the_same_page_is_an_entry_of_its_own(
    server: Server, transformer: str, training: str, page: Page
) -> None:
    go(page, server.link("guards", run=transformer, compilation="0/0"))
    first = page.url
    page.locator(".st-key-run input").fill("training_step")
    page.get_by_role("option").filter(has_text="training_step").first.click()
    page.wait_for_url(f"**run={training}*")
    settle(page)
    page.go_back()
    expect(page).to_have_url(first)
