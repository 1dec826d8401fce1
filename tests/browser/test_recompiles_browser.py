"""The tree of recompiles in Chromium: a click, or a key, on a compilation shows it, and its guard is one click away."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Server, go
from tests.support.homes import add_scenario

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_a_compilation_of_the_tree_is_shown_by_click_and_by_key(server: Server, page: Page) -> None:
    run = add_scenario(server.home, "recompile_zoo")
    go(page, server.link("recompiles", run=run, compilation="0/1"))
    rows = page.locator(".lineage .row")
    expect(rows).to_have_count(9)
    expect(page.locator(".lineage .row.chosen")).to_contain_text("[0/1]")
    rows.nth(7).locator(".met").click()
    expect(page).to_have_url(re.compile(r"compilation=0%2F7"))
    expect(page.locator(".lineage .row.chosen")).to_contain_text("[0/7]")
    expect(page.locator(".st-key-recompile-0-7")).to_contain_text("self.mode == 'sin'")
    rows.nth(2).get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-recompile-0-2")).to_contain_text("power == 2")
    page.get_by_role("link", name="Guards of [0/1]").click()
    page.wait_for_url(re.compile(r"/guards\?.*compilation=0%2F1"))
    expect(page.get_by_role("textbox", name="Search")).to_have_value("L['power']")


def test_the_strip_shows_each_call_in_words(server: Server, page: Page) -> None:
    run = add_scenario(server.home, "symbols")
    go(page, server.link("recompiles", run=run))
    cells = page.locator(".lineage .row").first.locator("td.cell [role=img]")
    expect(cells).to_have_count(2)
    assert [cell.get_attribute("aria-label") for cell in cells.all()] == [
        "the call compiled it",
        "the call reused it",
    ]
