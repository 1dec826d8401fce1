"""Rows of tables: what a click in one does, and what a key does not."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Server, click_row, go, headline, serving, settle
from tests.support.homes import add_scenario

pytestmark = pytest.mark.browser


def test_a_click_on_a_name_opens_a_run_and_a_key_does_not(tmp_path: Path, page: Page) -> None:
    older, newer = (add_scenario(tmp_path, name) for name in ("transformer_block", "training_step"))
    with serving(tmp_path, torch=False) as server:
        go(page, f"{server.url}/runs")
        table = page.locator(".st-key-runs-table [data-testid='stDataFrame']")
        box = table.bounding_box()
        assert box is not None
        assert 70 < box["height"] < 110
        click_row(page, "runs-table", 0, x=400)
        page.keyboard.press("ArrowDown")
        click_row(page, "runs-table", 1, x=80)
        expect(page).to_have_url(re.compile(rf"/overview\?run={older}"))
        page.go_back()
        expect(headline(page)).to_have_text("Runs")
        settle(page)
        click_row(page, "runs-table", 0, x=80)
        expect(page).to_have_url(re.compile(rf"/overview\?run={newer}"))


@pytest.mark.long
def test_a_click_on_a_guard_reads_it_whole(server: Server, transformer: str, page: Page) -> None:
    go(page, server.link("guards", run=transformer))
    click_row(page, "guard-table", 4, x=400)
    expect(page.get_by_text("Select a guard to read it in full.")).to_have_count(0)
    settle(page)
    expect(page.locator("[data-testid='stMain'] [data-testid='stCode']").first).to_be_visible()


@pytest.mark.long
def test_a_click_on_a_compilation_opens_its_graph(server: Server, page: Page) -> None:
    run = add_scenario(server.home, "graph_break_zoo")
    go(page, server.link("overview", run=run))
    click_row(page, "compilations", 1)
    expect(page).to_have_url(re.compile(r"/fx_graph\?.*compilation=\d+%2F0"))
    expect(headline(page)).to_contain_text("captured by Dynamo")
