"""One selection on all pages: through the menu, after a reload, and by a shared link."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages import menu
from tests.support.browser import NewContext, Server, go, headline, item, link_to, opened, settle, through_the_menu
from tests.support.homes import add_scenario
from tests.support.sample import one_in

pytestmark = pytest.mark.browser

CHIP = ".chips .closable"
POST_GRAD = "inductor_post_grad_graph.inference"
OP = {"compilation": "0/0", "of": POST_GRAD, "select": "n:erf"}
BACKWARD = {"compilation": "0/0", "of": "inductor_post_grad_graph.backward", "select": "n:exp_2"}
# A stored run, an op of a graph, and the op's name.
CASES = {"forward": ("transformer", OP, "erf"), "backward": ("training", BACKWARD, "exp_2")}


@pytest.fixture(scope="session")
def measured(server: Server) -> str:
    """The recorded run with measured kernels, stored."""
    return add_scenario(server.home, "measured")


def selection_of(url: str) -> dict[str, str]:
    """The selected op of a URL."""
    query = parse_qs(urlsplit(url).query)
    return {name: query[name][0] for name in OP if name in query}


def expect_op(page: Page, name: str = "erf", selected: dict[str, str] = OP) -> None:
    settle(page)
    expect(page.locator(CHIP)).to_contain_text(f"{name} (post-grad)")
    expect(page).to_have_url(re.compile(rf"select=n%3A{name}"))
    assert selection_of(page.url) == {**selected, "select": f"n:{name}"}


@pytest.mark.parametrize(("run", "selected", "name"), one_in(2, CASES.values()), ids=CASES)
def test_an_op_stays_selected_on_every_page_of_the_menu(
    request: pytest.FixtureRequest, server: Server, page: Page, run: str, selected: dict[str, str], name: str
) -> None:
    visited = []
    for path in through_the_menu(page, server, run=request.getfixturevalue(run), **selected):
        expect_op(page, name, selected)
        visited.append(path)

    assert len(visited) == len(menu.PAGES)


@pytest.mark.long
@pytest.mark.parametrize(("run", "selected", "name"), CASES.values(), ids=CASES)
def test_an_op_survives_a_reload_and_a_shared_link_on_every_page(
    request: pytest.FixtureRequest,
    server: Server,
    page: Page,
    new_context: NewContext,
    run: str,
    selected: dict[str, str],
    name: str,
) -> None:
    colleague = new_context().new_page()
    for _ in through_the_menu(page, server, run=request.getfixturevalue(run), **selected):
        part = page.locator(CHIP).inner_text()
        page.reload()
        expect_op(page, name, selected)
        expect(page.locator(CHIP)).to_have_text(part, use_inner_text=True)
        go(colleague, page.url)
        expect_op(colleague, name, selected)
        expect(colleague.locator(CHIP)).to_have_text(part, use_inner_text=True)


def test_an_op_that_is_clicked_is_selected_until_it_is_cleared(server: Server, transformer: str, page: Page) -> None:
    view = opened(page, server.link("fusion", run=transformer))
    item(view, "n:rsqrt").click()
    expect_op(page, "rsqrt")
    link_to(page, "Kernels").click()
    page.wait_for_url("**/kernels?*")
    expect_op(page, "rsqrt")
    expect(page.locator(CHIP)).to_contain_text("its kernel")
    link_to(page, "Fusion").click()
    page.wait_for_url("**/fusion?*")
    expect_op(page, "rsqrt")
    view = page.locator(".view").first
    expect(item(view, "n:rsqrt")).to_have_attribute("aria-selected", "true")
    view.focus()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("select="))
    expect(page.locator(CHIP)).to_have_count(0)
    settle(page)
    link_to(page, "Graph").click()
    page.wait_for_url("**/fx_graph?*")
    settle(page)
    expect(page).not_to_have_url(re.compile("select="))


def test_a_slice_for_perfetto_leads_to_its_op_and_the_op_has_the_id_of_the_slice(
    server: Server, measured: str, page: Page
) -> None:
    go(page, server.link("compile_time", run=measured))
    with page.expect_download() as download:
        page.get_by_role("button", name="Perfetto").click()
    trace = json.loads(download.value.path().read_text(encoding="utf-8"))["traceEvents"]
    piece = next(event for event in trace if "op" in event.get("args", {}))["args"]
    go(page, piece["open"])
    expect(page.locator(CHIP)).to_contain_text("its kernel")
    expect(page.locator(f"{CHIP} > .chip")).to_have_attribute("title", re.compile(re.escape(piece["op"])))
    link_to(page, "Fusion").click()
    page.wait_for_url("**/fusion?*select=k%3A*")
    settle(page)

    page.get_by_role("button", name="Forget the selection").click()
    expect(page.locator(CHIP)).to_have_count(0)
    page.keyboard.press("Control+K")
    page.get_by_role("combobox", name="Go to a page").fill(piece["op"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/kernels?*select=k%3A*")
    expect(page.locator(CHIP)).to_contain_text("its kernel")


def test_copy_link_has_the_selected_op(server: Server, transformer: str, new_context: NewContext) -> None:
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    go(page, server.link("overview", run=transformer, **OP))
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()

    assert selection_of(page.evaluate("navigator.clipboard.readText()")) == OP


def test_a_printed_page_has_neither_menu_nor_buttons(server: Server, transformer: str, page: Page) -> None:
    go(page, server.link("fx_graph", run=transformer, **OP))
    view = opened(page, page.url)
    page.emulate_media(media="print")

    expect(page.locator("[data-testid='stSidebar']")).to_be_hidden()
    expect(page.locator(".st-key-header")).to_be_hidden()
    expect(view.get_by_role("button", name="Fold all groups")).to_be_hidden()
    expect(headline(page)).to_be_visible()


def test_the_chip_says_that_a_page_has_no_part_and_forgets_the_op(server: Server, transformer: str, page: Page) -> None:
    go(page, server.link("guards", run=transformer, **OP))
    expect(page.locator(CHIP)).to_contain_text("not on this page")
    page.get_by_role("button", name="Forget the selection").click()

    expect(page.locator(CHIP)).to_have_count(0)
    expect(page).not_to_have_url(re.compile("select="))
