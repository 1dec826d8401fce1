"""Fixes in Chromium: the button of each entry of the two zoos applies its fix, with equal results, or is refused."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import Server, go, headline, link_to, settle
from tests.support.homes import add_run, add_scenario, job_of
from tests.support.places import TRACES

pytestmark = pytest.mark.browser

ROUNDS_MS = 240_000
EQUAL = "1 graph break fewer, equal results."
BREAKS = (
    "Failed to trace builtin operator",
    "Data-dependent branching",
    "Unsupported Tensor.item() call",
    "Dynamic shape operator",
    "Attempted to call function marked as skipped",
)


def without_inductor(server: Server, name: str) -> str:
    """A recorded scenario whose repairs are tried with the backend eager: Dynamo's part, within a second."""
    job = job_of(name)
    log = (TRACES / name / "trace.log").read_bytes()
    return add_run(server.home, name, log, job={**job, "compile": {**job["compile"], "backend": "eager"}}).id


def offer(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key}")


def press(box: Locator, name: str) -> None:
    """Try a repair, and wait until its run is on its way; another test may have tried it on the same server.

    By the keyboard: results of earlier trials move the page, and a button that moves between a mouse's press and its
    release is not clicked.
    """
    button, tried = box.get_by_role("button", name=name), box.get_by_role("link", name="Open the fixed run")
    expect(button.or_(tried)).to_be_visible()
    if button.is_visible():
        button.press("Enter")
    expect(box.get_by_role("button", name="Cancel").or_(tried)).to_be_visible()


def press_all(box: Locator) -> None:
    """Apply all repairs in rounds, and wait until the run that confirms them has ended."""
    box.get_by_role("button", name="Apply all").press("Enter")
    expect(box.get_by_role("link", name="Open the fixed run")).to_be_visible(timeout=ROUNDS_MS)


def told(box: Locator) -> Locator:
    """What came of a repair."""
    return box.locator("[data-testid='stAlert']")


@pytest.mark.long
def test_each_break_of_the_zoo_is_fixed_by_its_button(server: Server, page: Page) -> None:
    go(page, server.link("graph_breaks", run=without_inductor(server, "graph_break_zoo")))
    expect(headline(page)).to_have_text("5 graph breaks, hit 10 times")
    boxes = [page.locator("[class*='st-key-break-']", has_text=reason) for reason in BREAKS]
    for box in boxes:
        press(box, "Try it")

    for box in boxes:
        expect(told(box)).to_have_text(re.compile(re.escape(EQUAL)))
        expect(box.get_by_role("row", name=re.compile("^graph breaks"))).to_have_text(re.compile("5\\s*4$"))
        expect(box.get_by_role("row", name=re.compile("^result"))).to_have_text(re.compile("same\\s*same$"))


@pytest.mark.long
def test_all_repairs_of_a_page_leave_one_graph_which_leads_back(server: Server, page: Page) -> None:
    run = add_scenario(server.home, "graph_break_zoo")
    go(page, server.link("graph_breaks", run=run))
    box = offer(page, "all-breaks")
    press_all(box)
    expect(box).to_contain_text("fixes together: graph breaks 5 → 0, results same")
    expect(told(box)).to_have_text(re.compile("5 graph breaks fewer, equal results."))
    expect(box.get_by_role("row", name=re.compile("^graphs"))).to_have_text(re.compile("9\\s*1$"))

    box.get_by_role("link", name="Open the fixed run").click()
    page.wait_for_url("**/overview?run=*repaired*")
    expect(headline(page)).to_have_text(re.compile("^1 graph, 0 graph breaks"))
    link_to(page, "Graph breaks").click()
    expect(headline(page)).to_have_text("No graph break: Dynamo captured each frame as one graph")
    settle(page)
    page.get_by_role("link", name="Back to the run that this fix is for").click()
    page.wait_for_url("**/graph_breaks?run=*-graph_break_zoo-0000*")


@pytest.mark.long
def test_the_recompiles_and_an_eager_frame_of_the_zoo_are_spared_at_once(server: Server, page: Page) -> None:
    run = without_inductor(server, "recompile_zoo")
    go(page, server.link("recompiles", run=run, compilation="0/4", select="0/4"))
    stacked = offer(page, "all-recompiles")
    press_all(stacked)
    expect(stacked).to_contain_text("eager frames 1 → 0, recompiles 7 → 2, results same (backend eager)")
    expect(told(stacked)).to_have_text(re.compile("1 frame .* eagerly fewer, 5 recompiles fewer, equal results."))


def test_the_result_of_a_trial_appears_on_its_card_without_a_reload(server: Server, page: Page) -> None:
    go(page, server.link("graph_breaks", run=without_inductor(server, "graph_break_zoo")))
    page.get_by_role("button", name="Try the fixes").press("Enter")
    expect(page.get_by_text("Trying the fixes: ")).to_be_visible()
    proven = page.get_by_text(re.compile("^Tried: graph breaks 5 → 4, .*results same")).first
    expect(proven).to_be_visible(timeout=ROUNDS_MS)
    stop = page.get_by_role("button", name="Stop")
    stop.press("Enter")
    expect(stop).to_be_hidden()
    expect(page.get_by_role("button", name="Try the fixes")).to_be_visible()


@pytest.mark.long
def test_a_repair_that_gives_another_dtype_is_refused(server: Server, page: Page) -> None:
    run = without_inductor(server, "recompile_zoo")
    go(page, server.link("recompiles", run=run, compilation="0/4", select="0/4"))
    dtype = offer(page, "offer-recompile-0-4")
    press(dtype, "Try it")

    expect(told(dtype)).to_have_text(re.compile("Refused: .* dtype of output: float64 in eager, float32 in compiled"))
    expect(dtype.get_by_role("row", name=re.compile("^recompiles"))).to_have_text(re.compile("7\\s*7$"))


@pytest.mark.long
def test_a_size_that_varies_is_marked_or_compiled_dynamic(server: Server, page: Page) -> None:
    run = without_inductor(server, "recompile_zoo")
    go(page, server.link("recompiles", run=run, compilation="0/1", select="0/1"))
    box = offer(page, "offer-recompile-0-1")
    expect(box.locator(".cv")).to_contain_text("torch._dynamo.mark_dynamic(dynamic_x, 0)")
    box.get_by_role("radio", name="Compile with").or_(box.get_by_role("button", name="Compile with")).click()
    expect(box.locator(".cv")).to_have_count(0)
    press(box, "Try it")
    expect(told(box)).to_have_text(re.compile("recompiles? fewer, equal results."))
