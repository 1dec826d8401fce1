"""The way to a package in a browser: a box opens its step, by mouse and keyboard, and a reload shows the same."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_axe_browser import AXE, LOOK, TABLES
from tests.support.browser import NewContext, Server, go, settle
from tests.support.homes import add_run, job_of
from tests.support.reports.packaged import packaged_log

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_a_step_of_the_way_opens_by_a_click_and_by_a_key(server: Server, new_context: NewContext) -> None:
    run = add_run(server.home, "packaged", packaged_log(), job=job_of("transformer_block"))
    page = new_context(bypass_csp=True).new_page()
    go(page, server.link("aotinductor", run=run.id))
    boxes = {name: page.locator(f".way [data-id='{name}']") for name in ("export", "package", "c++")}
    expect(boxes["package"]).to_have_attribute("aria-pressed", "true")
    boxes["c++"].click()
    expect(boxes["c++"]).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("int main()")).to_be_visible()
    page.wait_for_url(re.compile("step=c%2B%2B"))
    page.reload()
    settle(page)
    expect(page.get_by_text("int main()")).to_be_visible()
    boxes["export"].focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("torch.ops.aten.relu")).to_be_visible()
    expect(boxes["export"]).to_be_focused()
    settle(page)
    page.evaluate(AXE)
    assert page.evaluate(LOOK, [{}, TABLES]) == []
