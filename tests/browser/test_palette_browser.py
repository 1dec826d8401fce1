"""The command palette by the keyboard, in one load of one page."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages import menu
from tests.support.browser import Server, go, headline, settle

pytestmark = pytest.mark.browser

FOCUSED = "document.activeElement?.closest('[data-testid=stSidebarNavLink]')?.textContent ?? ''"


def test_the_palette_goes_to_pages_runs_and_nodes(server: Server, transformer: str, training: str, page: Page) -> None:
    go(page, server.link("guards", run=transformer))
    dialog, field = (
        page.get_by_role("dialog", name="Command palette"),
        page.get_by_role("combobox", name="Go to a page"),
    )
    chosen = dialog.locator("[role='option'][aria-selected='true']")
    # Its key is heard once it is there.
    page.locator("dialog.palette").wait_for(state="attached")
    page.locator("a[data-testid='stSidebarNavLink']").nth(1).focus()
    focused = page.evaluate(FOCUSED)
    assert focused

    page.keyboard.press("Control+k")
    expect(field).to_be_focused()
    expect(dialog.locator(".head")).to_have_text(["Runs", "Actions", "Pages"])
    page.keyboard.press("End")
    expect(chosen).to_contain_text(list(menu.PAGES.values())[-1].title)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(dialog.locator("[role='option']").nth(1)).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", "palette-option-1")
    page.keyboard.type("qqzz")
    expect(dialog.get_by_role("status")).to_contain_text("No match for “qqzz”")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert page.evaluate(FOCUSED) == focused

    page.keyboard.press("Control+k")
    page.keyboard.type("node addmm")
    expect(chosen).to_have_text(re.compile("^Nodeaddmm"))
    expect(chosen.locator("mark").first).to_have_text("addmm")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    page.wait_for_url(re.compile(r"/fx_graph\?.*select=n%3Aaddmm"))
    assert transformer in page.url
    settle(page)

    page.keyboard.press("Control+k")
    page.keyboard.type("training_step")
    expect(chosen).to_contain_text("training_step")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"/fx_graph\?.*run={training}"))
    settle(page)

    page.keyboard.press("Control+k")
    page.keyboard.type("kern add")
    dialog.locator("[role='option']", has_text="extern_kernels.addmm").first.click()
    page.wait_for_url(re.compile(r"/kernels\?.*select=k%3A"))
    settle(page)

    page.keyboard.press("Control+k")
    page.keyboard.type("compare with")
    page.keyboard.press("Enter")
    page.keyboard.type("transformer_block")
    expect(chosen).to_contain_text("transformer_block")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"/compare\?.*other={transformer}"))
    expect(headline(page)).to_be_visible()
