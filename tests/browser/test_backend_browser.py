"""A backend of one's own, from an empty editor on the page to a chart of its executions, an error on the way."""

import pytest
from playwright.sync_api import Page, expect

from core import CompileJob, Model, job_to_json
from core.base.decoder import decoded
from tests.browser.test_axe_browser import AXE, LOOK, TABLES
from tests.support.browser import NewContext, Server, go, headline, settle
from tests.support.homes import add_run, chain_log
from tests.support.reports.backends import JOB, backend_log

pytestmark = pytest.mark.browser

MODEL = Model("code", "import torch\n\nmodel = torch.sin\ninputs = (torch.ones(3),)\n")


def write(page: Page, text: str) -> None:
    """Type a backend in place of what is in the editor, and run it."""
    field = page.get_by_label("Backend", exact=True).last
    field.press("Control+a")
    page.keyboard.type(text)
    page.get_by_role("button", name="Run with this backend").click()


def test_a_click_on_a_line_of_the_contract_shows_that_compilation(server: Server, new_context: NewContext) -> None:
    page = new_context(bypass_csp=True).new_page()
    run = add_run(server.home, "own", backend_log(), job=decoded(job_to_json(JOB))).id
    go(page, server.link("backend", run=run))
    expect(page.get_by_role("img", name="call 1 with")).to_have_text("●")
    page.get_by_role("button", name="[0/1]").click()
    expect(page.get_by_role("button", name="[0/1]")).to_have_attribute("aria-pressed", "true")
    assert "compilation=0%2F1" in page.url
    page.evaluate(AXE)
    assert page.evaluate(LOOK, [{}, TABLES]) == []


@pytest.mark.long
def test_a_backend_is_written_run_corrected_and_its_executions_drawn(server: Server, page: Page) -> None:
    job = CompileJob(MODEL, training=False, measure=False)
    run = add_run(server.home, "identity", chain_log(2), job=decoded(job_to_json(job))).id
    go(page, server.link("backend", run=run))
    write(page, "def backend(gm, example_inputs):\nraise ValueError('not yet')\n")
    expect(headline(page)).to_contain_text("raised ValueError: not yet")
    marked = page.get_by_role("listbox", name="backend.py")
    expect(marked.get_by_text("raised ValueError: not yet", exact=True)).to_be_visible()
    page.get_by_role("radio", name="write").click()
    settle(page)
    write(page, "def backend(gm, example_inputs):\nreturn gm.forward\n")
    expect(headline(page)).to_have_text("backend received 1 graph; executed 1 time in 1 call")
    page.get_by_role("radio", name="executions").click()
    expect(page.locator(".js-plotly-plot .bars .point")).to_have_count(1)
