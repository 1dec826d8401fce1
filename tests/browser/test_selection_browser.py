"""One selection on all pages: through the menu, after a reload, and by a shared link."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages import menu
from tests.support.browser import NewContext, Server, go, item, link_to, opened, settle, through_the_menu

pytestmark = pytest.mark.browser

CHIP = ".chips .closable"
POST_GRAD = "inductor_post_grad_graph.inference"
OP = {"compilation": "0/0", "of": POST_GRAD, "select": "n:erf"}


def selection(page: Page) -> dict[str, str]:
    """The selected op of the URL."""
    query = parse_qs(urlsplit(page.url).query)
    return {name: query[name][0] for name in OP if name in query}


def expect_op(page: Page) -> None:
    settle(page)
    expect(page.locator(CHIP)).to_contain_text("erf (post-grad)")
    expect(page).to_have_url(re.compile(r"select=n%3Aerf"))
    assert selection(page) == OP


def test_an_op_stays_selected_on_every_page_of_the_menu(server: Server, transformer: str, page: Page) -> None:
    visited = []
    for path in through_the_menu(page, server, run=transformer, **OP):
        expect_op(page)
        visited.append(path)

    assert len(visited) == len(menu.PAGES)


@pytest.mark.long
def test_an_op_survives_a_reload_and_a_shared_link_on_every_page(
    server: Server, transformer: str, page: Page, new_context: NewContext
) -> None:
    colleague = new_context().new_page()
    for path in through_the_menu(page, server, run=transformer, **OP):
        expect_op(page)
        if path not in ("fusion", "kernels", "memory", "guards"):
            continue
        page.reload()
        expect_op(page)
        go(colleague, page.url)
        expect_op(colleague)


def test_an_op_that_is_clicked_is_selected_until_it_is_cleared(server: Server, transformer: str, page: Page) -> None:
    view = opened(page, server.link("fusion", run=transformer))
    item(view, "n:erf").click()
    expect_op(page)
    link_to(page, "Kernels").click()
    page.wait_for_url("**/kernels?*")
    expect_op(page)
    expect(page.locator(CHIP)).to_contain_text("its kernel")
    link_to(page, "Fusion").click()
    page.wait_for_url("**/fusion?*")
    expect_op(page)
    view = page.locator(".view").first
    expect(item(view, "n:erf")).to_have_attribute("aria-selected", "true")
    view.focus()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("select="))
    expect(page.locator(CHIP)).to_have_count(0)
    settle(page)
    link_to(page, "Graph").click()
    page.wait_for_url("**/fx_graph?*")
    settle(page)
    expect(page).not_to_have_url(re.compile("select="))


def test_the_chip_says_that_a_page_has_no_part_and_forgets_the_op(server: Server, transformer: str, page: Page) -> None:
    go(page, server.link("guards", run=transformer, **OP))
    expect(page.locator(CHIP)).to_contain_text("not on this page")
    page.get_by_role("button", name="Forget the selection").click()

    expect(page.locator(CHIP)).to_have_count(0)
    expect(page).not_to_have_url(re.compile("select="))
