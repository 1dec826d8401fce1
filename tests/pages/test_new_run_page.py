"""The page New run while torch starts and once it has."""

from pathlib import Path
from typing import Any

import pytest

from pages import menu
from pages.session import server
from tests.support.apps import opened


def test_the_tabs_stay_where_they_are_when_torch_has_started(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = []
    states: tuple[dict[str, Any] | None, ...] = (None, {"torch": "2.13.0"}, {"problem": "it is broken"})
    for environment in states:
        monkeypatch.setattr(server, "environment", lambda environment=environment: environment)
        children = opened(menu.NEW_RUN.script).main.children
        places.append([place for place, child in children.items() if child.type == "tab_container"])
    assert len(places[0]) == 1
    assert places == [places[0]] * 3
