"""The HTML file of a run and of two, opened from disk without a network: drawn, and read by axe in both themes."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, expect

from core import Store
from core.views.html import as_html, comparison_as_html
from tests.support.homes import add_scenario
from tests.support.sample import one_in

pytestmark = pytest.mark.browser

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LOOK = """async () => (await axe.run({ resultTypes: ["violations"] })).violations.map(({ id, nodes }) =>
    [id, nodes[0].html.slice(0, 200)])"""


@pytest.mark.parametrize(
    "names", one_in(3, [["transformer_block"], ["graph_break_zoo"], ["transformer_block", "target_h100"]])
)
def test_a_file_opens_without_a_network(tmp_path: Path, chromium: Browser, names: list[str]) -> None:
    home, path = tmp_path / "home", tmp_path / "run.html"
    left, *right = (Store(home).open(add_scenario(home, name)) for name in names)
    path.write_text(comparison_as_html(left, right[0]) if right else as_html(left), encoding="utf-8")
    # The file's policy lets no script in that is not its own.
    page = chromium.new_context(offline=True, bypass_csp=True, viewport={"width": 1024, "height": 800}).new_page()
    requested: list[str] = []
    raised: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("pageerror", lambda error: raised.append(str(error)))
    page.add_init_script(AXE)
    page.goto(path.as_uri())
    # A graph is drawn when it comes into view.
    graph = page.locator(".graph").first
    graph.scroll_into_view_if_needed()
    expect(graph.get_by_role("application")).to_be_visible(timeout=10_000)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(LOOK) == [], theme
    assert (requested, raised) == ([path.as_uri()], [])
    page.context.close()


def test_an_address_of_a_file_names_the_selected_op(tmp_path: Path, chromium: Browser) -> None:
    home, path = tmp_path / "home", tmp_path / "run.html"
    path.write_text(as_html(Store(home).open(add_scenario(home, "transformer_block"))), encoding="utf-8")
    page = chromium.new_context(offline=True, reduced_motion="reduce").new_page()
    page.goto(f"{path.as_uri()}#n:erf")
    selected = page.locator("[data-id][aria-selected='true']")
    expect(selected).to_have_attribute("data-id", "n:erf")
    expect(selected).to_be_in_viewport()
    page.get_by_role("application").filter(has=selected).focus()
    page.keyboard.press("ArrowUp")
    expect(selected).not_to_have_attribute("data-id", "n:erf")
    chosen = quote(selected.get_attribute("data-id") or "", safe="")
    expect(page).to_have_url(re.compile(f"{re.escape(path.as_uri())}.*#{chosen}$"))

    page.evaluate("location.hash = 'n:erf'")
    expect(selected).to_have_attribute("data-id", "n:erf")
    page.context.close()
