"""A run that goes on, looked at: its verdict stands before its numbers, and its pages follow it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Server, go, headline, link_to, settle

pytestmark = pytest.mark.browser

# Measuring it takes seconds.
SLOW = """import time

import torch


@torch.compiler.disable
def wait(x):
    time.sleep(0.5)
    return x


def model(x):
    return wait(x.sin() + 1).cos() * 2


inputs = (torch.ones(64, 64),)
"""


@pytest.mark.long
def test_the_verdict_stands_while_the_run_measures_and_pages_follow_it(server: Server, page: Page) -> None:
    go(page, server.url)
    page.get_by_role("tab", name="Your code").click()
    page.get_by_label("Code", exact=True).fill(SLOW)
    page.locator(".st-key-compile-code button").click()
    page.wait_for_url("**/overview?run=*")

    expect(headline(page)).to_contain_text("1 graph break split the code into 2 graphs")
    expect(page.locator(".chip", has_text="measuring …")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    link_to(page, "Graph").click()
    expect(headline(page)).to_contain_text("captured by Dynamo")
    expect(page.locator("[data-testid='stMain']")).to_contain_text("Measuring eager and compiled, interleaved…")
    page.locator(".view g.node").first.click()
    expect(page).to_have_url(re.compile(r"select=n%3A"))
    selected = page.url

    expect(page.locator(".chip", has_text="done")).to_be_visible()
    settle(page)
    expect(page.locator("[data-testid='stMain']")).not_to_contain_text("Measuring eager and compiled")
    assert page.url == selected
    expect(page.locator(".view g.node.selected")).to_have_count(1)
    page.get_by_role("link", name="Overview", exact=True).click()
    expect(headline(page)).to_contain_text(re.compile("1 graph break|slower than eager"))
    expect(page.locator(".chip", has_text="speedup")).to_be_attached()
