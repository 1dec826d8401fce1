"""A log whose names are links and icons: it is shown as text."""

import pytest
from playwright.sync_api import Page, expect

from tests.record import normalised
from tests.support.browser import Server, go
from tests.support.homes import add_run
from tests.support.places import TRACES

pytestmark = pytest.mark.browser

LIVELY = "see http://evil.example/x www.evil.example me@evil.example :material/home: :smile:"
NAMES = {"Data-dependent branching": LIVELY, "a tensor becomes a Python number": LIVELY}


@pytest.mark.promise("text")
@pytest.mark.attack("breach 12", "text 3", "links, mail addresses and icons in a log, in a browser")
def test_names_of_a_log_are_no_links_and_no_icons(closed: Server, page: Page) -> None:
    """Names from a log are shown as text, never as links or icons."""
    log = normalised((TRACES / "graph_break_zoo" / "trace.log").read_bytes(), NAMES)
    run = add_run(closed.home, "lively", log)
    go(page, closed.link("graph_breaks", run=run.id))
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("evil.example").first).to_be_visible()
    expect(main.locator("a[href*='evil.example']")).to_have_count(0)
    expect(main.get_by_text("material/home").first).to_be_attached()
    expect(main.get_by_text("😄")).to_have_count(0)
