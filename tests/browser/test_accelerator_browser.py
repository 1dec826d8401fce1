"""The page Accelerator in a browser: from a node to its program and its bytes, and an op switched off beside the run
before.
"""

import json
import re

import pytest
from playwright.sync_api import expect

from core import Runner, Store, job_from_json
from core.views.accelerator.run import AcceleratorOptions
from tests.browser.test_axe_browser import AXE, LOOK, TABLES
from tests.support.browser import NewContext, Server, headline, item, opened, run_id, settle
from tests.support.pipelines import ACCELERATED, REFUSED, SEGMENT, add_pipeline, pipeline_log

pytestmark = pytest.mark.browser


def test_a_node_leads_to_its_program_and_an_op_switched_off_to_what_changes(
    server: Server, new_context: NewContext
) -> None:
    first = add_pipeline(server.home).id
    job = AcceleratorOptions(("cumsum", "relu")).applied(job_from_json(json.dumps(ACCELERATED)))
    relu = type(REFUSED)("relu", "aten.relu.default", "switched off")
    log = pipeline_log(SEGMENT, (REFUSED, relu))
    second = add_pipeline(server.home, log, fingerprint=Runner(Store(server.home)).fingerprint(job)).id
    page = new_context(bypass_csp=True, viewport={"width": 1280, "height": 720}).new_page()

    view = opened(page, server.link("accelerator", run=first))
    item(view, "n:relu").click()
    drawer = page.locator(".st-key-drawer")
    expect(drawer.get_by_text("instruction 2")).to_be_visible()
    drawer.get_by_role("button", name="Its program").click()
    expect(page).to_have_url(re.compile("station=program"))
    expect(page.locator("[data-testid='stDataFrame']").first).to_be_visible()

    page.get_by_role("radio", name="file").click()
    page.get_by_role("radio", name=re.compile("constants")).click()
    expect(page.get_by_text("20 B of float32: 1.00, 2.00, 3.00, −1.00")).to_be_visible()

    page.evaluate(AXE)
    assert page.evaluate(LOOK, [{}, TABLES]) == []

    page.get_by_role("button", name="What if").click()
    page.get_by_role("combobox", name=re.compile("Ops that torch runs")).fill("relu")
    page.get_by_role("option", name="relu").click()
    page.get_by_text("Ops that torch runs").click()
    page.get_by_role("button", name="Run beside this one").click()
    expect(page.get_by_text("1 op went back to torch.")).to_be_visible()
    settle(page)
    assert run_id(page) == second
    expect(page).to_have_url(re.compile(f"other={first}"))
    expect(headline(page)).to_contain_text("5 of 7 ops in 1 segment")
