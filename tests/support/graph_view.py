"""A graph view of the harness: mounted, looked into, folded and unfolded."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect


def mount(page: Page, name: str, **more: Any) -> Locator:
    """Draw one of the harness's graphs; gives its view."""
    page.evaluate("([name, more]) => mount(name, more)", [name, more])
    return page.locator(f"#{more.get('source', name)} .view")


def item(view: Locator, id_: str) -> Locator:
    return view.locator(f"[data-id='{id_}']")


def unfolded(view: Locator) -> list[str]:
    return sorted(view.evaluate("root => root.compileboardView.unfolded"))


def told(page: Page, name: str) -> list[Any]:
    """What the views reported to Python under this name."""
    script = "name => told.filter(([, known]) => known === name).map(([, , value]) => value)"
    return list(page.evaluate(script, name))


def unfold_all(view: Locator) -> None:
    view.get_by_role("button", name="Unfold all groups", exact=True).click()
    expect(view.locator("[data-id='n:norm1_0']")).to_be_attached()


def fold_all(view: Locator) -> None:
    view.get_by_role("button", name="Fold all groups", exact=True).click()
