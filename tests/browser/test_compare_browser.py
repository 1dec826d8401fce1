"""Two runs compared in a browser: one drawing for both graphs, and the two sides exchanged."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import POSITIONS, Server, headline, opened, settle

pytestmark = pytest.mark.browser


def test_nodes_keep_their_places_from_the_left_graph_to_the_right_one(
    server: Server, transformer: str, training: str, page: Page
) -> None:
    link = server.link("compare", run=transformer, other=training, aspect="graphs")
    view = opened(page, link)
    expect(view.locator(".film b")).to_have_text("both")
    both = view.evaluate(POSITIONS)
    view.get_by_role("button", name=re.compile("Next step")).click()
    expect(view.locator(".film b")).to_have_text("right")
    right = view.evaluate(POSITIONS)
    assert {name: both[name] for name in right if name in both} == {name: right[name] for name in right if name in both}
    expect(page).to_have_url(re.compile("frame=2"))
    page.get_by_role("link", name="Swap").click()
    expect(page).to_have_url(re.compile(rf"run={training}.*other={transformer}"))
    settle(page)
    expect(headline(page)).to_contain_text("captured nodes added")
