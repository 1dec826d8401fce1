"""A large sweep in Chromium: a dialog says its cost, and its button starts it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Server, go, headline, settle

pytestmark = pytest.mark.browser


def test_a_large_sweep_starts_from_its_dialog_and_is_cancelled(server: Server, page: Page, transformer: str) -> None:
    # The cells are torch's backends, which it lists once it has started.
    go(page, server.link("options"))
    expect(headline(page)).to_have_text(re.compile(r"^torch\.compile has \d+ options here"))
    go(page, server.link("sweep", run=transformer))
    settle(page)
    page.locator(".st-key-ask-backends").get_by_role("button", name="Run").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Backends")
    start = dialog.get_by_role("button", name=re.compile(r"^Start \d+ runs$"))
    expect(start).to_be_visible()
    expect(page).not_to_have_url(re.compile("sweep=[^&]"))

    start.click()
    page.wait_for_url(re.compile("sweep=[^&]"))
    expect(dialog).to_have_count(0)
    cancel = page.get_by_role("button", name="Cancel")
    cancel.click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
