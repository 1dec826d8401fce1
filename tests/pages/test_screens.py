"""Recorded text of pages that show more on request, and how a difference reads; `make screens` writes the text again.

Pages as they open are compared where all scenarios are shown on all pages.
"""

from dataclasses import replace

import pytest

from pages import menu
from tests.record import SCENARIOS
from tests.screens import ASKED, FIRST, SCREENS, Screen, assert_as_recorded, difference, recorded
from tests.support.places import TRACES
from tests.support.screen import written

OVERVIEW = next(screen for screen in FIRST if screen.page == menu.OVERVIEW.script)


@pytest.mark.parametrize("screen", ASKED, ids=lambda screen: f"{screen.scenario}: {screen.name}")
def test_a_page_is_as_its_text_says(runs: dict[str, str], screen: Screen) -> None:
    assert_as_recorded(screen, screen.opened(runs[screen.scenario]))


def test_nothing_is_recorded_that_is_not_compared() -> None:
    assert {path.parent.name for path in TRACES.glob("*/screens.md")} == set(SCENARIOS)
    names = {(scenario, name) for scenario in SCENARIOS for name in recorded(scenario)}
    assert names == {(screen.scenario, screen.name) for screen in SCREENS}


def test_a_difference_shows_its_lines_and_says_what_to_do(runs: dict[str, str]) -> None:
    app = OVERVIEW.opened(runs[OVERVIEW.scenario])
    app.title[0].proto.body = "No graph was compiled."
    lines = difference(OVERVIEW, app).splitlines()

    assert "run `make screens`" in lines[0]
    assert "+## No graph was compiled." in lines
    assert [line[:4] for line in lines[1:] if line[0] in "+-" and line[:3] not in ("+++", "---")] == ["-## ", "+## "]


def test_a_page_without_a_text_says_what_to_do(runs: dict[str, str]) -> None:
    new = replace(OVERVIEW, query={"view": "new"})
    app = OVERVIEW.opened(runs[OVERVIEW.scenario])

    assert f"has no page `{new.name}` yet: run `make screens`" in difference(new, app)


def test_a_text_has_no_ids_and_no_widths(runs: dict[str, str]) -> None:
    text = written(OVERVIEW.opened(runs[OVERVIEW.scenario]))

    assert [word for word in ("$$ID", "Config", "sha256", "20260") if word in text] == []
