"""Each process of ours is killed and stopped once, at one moment of a run; `python -m tests.attack.kills` does it at
random ones.
"""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.kills import SIGNALS, TARGETS, Server, strike
from tests.support.sample import one_in

pytestmark = pytest.mark.torch


class Dashboard:
    """The server that goes on, in one home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.server = Server(home)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    dashboard = Dashboard(tmp_path_factory.mktemp("kills"))
    yield dashboard
    assert dashboard.server.end() == []


@pytest.mark.promise("runs")
@pytest.mark.parametrize("target", one_in(4, TARGETS))
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_run_ends_rightly_leaves_nothing_and_the_next_is_done(
    dashboard: Dashboard, target: str, number: signal.Signals
) -> None:
    """Whichever process is killed or stopped, the run ends, leaves no process, and the next run works."""
    dashboard.server, _ = strike(dashboard.server, dashboard.home, target, number, delay_s=1.0)
