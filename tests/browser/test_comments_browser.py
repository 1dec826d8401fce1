"""Comments of two people who look at one run."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.test_axe_browser import AXE, PAPER
from tests.support.browser import NewContext, Server, go, settle
from tests.support.homes import add_scenario

pytestmark = pytest.mark.browser

LOOK = """
async (rules) => {
    const { violations } = await axe.run(".st-key-comments-pane", { ...rules, resultTypes: ["violations"] })
    return violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 200)])
}
"""


def test_what_one_writes_appears_beside_what_another_is_typing(server: Server, new_context: NewContext) -> None:
    run = add_scenario(server.home, "eager_backend")
    ada = new_context(bypass_csp=True, viewport={"width": 1440, "height": 900}).new_page()
    bob = new_context().new_page()
    ada.add_init_script(AXE)
    for page in (ada, bob):
        go(page, server.link("overview", run=run, comments="open"))
    typed = ada.locator(".st-key-comment-form-text textarea")
    typed.click()
    ada.keyboard.type("half a thou")
    bob.locator(".st-key-comment-form-text textarea").fill("why <b>here</b>?")
    bob.locator(".st-key-comment-form-text textarea").press("Control+Enter")
    expect(ada.locator(".st-key-comments-pane").get_by_text("why <b>here</b>?")).to_be_visible()
    expect(ada.locator(".st-key-comments").get_by_role("button")).to_have_text("1")
    ada.keyboard.type("ght")
    expect(typed).to_have_value("half a thought")
    wrong = {"light": ada.evaluate(LOOK, {})}
    ada.emulate_media(color_scheme="dark")
    ada.wait_for_function(PAPER, arg="dark")
    settle(ada)
    wrong["dark"] = ada.evaluate(LOOK, {"runOnly": ["color-contrast"]})
    assert json.dumps(wrong) == '{"light": [], "dark": []}'
