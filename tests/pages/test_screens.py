"""What stands on a page of a recorded scenario of which more is asked, to the letter; `make screens` writes it again.

What stands there at first is compared where all scenarios are shown on all pages.
"""

import json

import pytest

from tests.screens import ASKED, SCREENS, Screen, recorded
from tests.support.places import TRACES
from tests.support.screen import written


@pytest.mark.parametrize("screen", ASKED, ids=lambda screen: f"{screen.scenario}: {screen.name}")
def test_a_page_says_what_it_said(runs: dict[str, str], screen: Screen) -> None:
    assert written(screen.opened(runs[screen.scenario])) == recorded(screen.scenario)[screen.name]


def test_nothing_is_kept_that_is_not_compared() -> None:
    kept = {(path.parent.name, name) for path in TRACES.glob("*/screens.json") for name in json.loads(path.read_text())}
    assert kept == {(screen.scenario, screen.name) for screen in SCREENS}
