"""What stands on every page of each recorded scenario, to the letter; `make screens` writes it again."""

import json

import pytest

from tests.screens import SCREENS, Screen, recorded
from tests.support.places import TRACES


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: f"{screen.scenario}: {screen.name}")
def test_a_page_says_what_it_said(runs: dict[str, str], screen: Screen) -> None:
    assert screen.lines(runs[screen.scenario]) == recorded(screen.scenario)[screen.name]


def test_nothing_is_kept_that_is_not_compared() -> None:
    kept = {(path.parent.name, name) for path in TRACES.glob("*/screens.json") for name in json.loads(path.read_text())}
    assert kept == {(screen.scenario, screen.name) for screen in SCREENS}
