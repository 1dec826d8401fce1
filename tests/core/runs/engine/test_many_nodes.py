"""What a server asks of hundreds of nodes stays within what its transport can carry."""

from pathlib import Path

import pytest

from core import Store
from core.base.errors import NodeError
from core.runs.engine.cluster.carrying import FIRST_POLL_S, LONGEST_POLL_S, POLL_S, Pace
from core.runs.engine.cluster.messages import HelloCall, call_of
from core.runs.engine.cluster.nodes import GREETED, Nodes


class Silent:
    """A transport to hosts that answer nothing; `greeted` are those that were greeted."""

    scheme = "silent"

    def __init__(self, hosts: int) -> None:
        self.hosts = {f"host-{number:03}": True for number in range(hosts)}
        self.greeted: list[str] = []

    def peers(self) -> dict[str, bool]:
        return self.hosts

    def call(self, peer: str, data: bytes, limit_s: float) -> bytes:
        assert isinstance(call_of(data), HelloCall)
        self.greeted.append(peer)
        raise NodeError(f"no answer within {limit_s} s")

    def close(self) -> None: ...


def test_many_hosts_are_greeted_one_by_one_and_new_ones_first(tmp_path: Path) -> None:
    transport = Silent(2 * GREETED)
    nodes = Nodes(Store(tmp_path), transport, code_allowed=True)
    nodes.greet()
    first = set(transport.greeted)
    nodes.greet()
    assert (len(first), len(transport.greeted), {*transport.greeted}) == (GREETED, 2 * GREETED, {*transport.hosts})
    transport.hosts |= {"new": True}
    del transport.hosts[transport.greeted[0]]
    transport.greeted.clear()
    nodes.greet()
    assert (len(transport.greeted), {"new"} <= {*transport.greeted} <= {"new", *first}) == (GREETED, True)


@pytest.mark.parametrize(
    ("look_s", "runs", "pause_s"),
    [(0.001, 1, POLL_S), (0.004, 10, POLL_S), (0.004, 100, 0.8), (0.004, 1_000, 8.0), (1.0, 1_000, LONGEST_POLL_S)],
)
def test_looks_take_half_of_what_the_transport_carries(look_s: float, runs: int, pause_s: float) -> None:
    assert Pace(look_s).pause_s(True, runs) == pytest.approx(pause_s)


def test_a_run_that_has_written_nothing_is_looked_at_sooner() -> None:
    assert Pace(0.001).pause_s(False, 1) == FIRST_POLL_S


def test_the_time_of_a_look_is_a_mean_of_many() -> None:
    pace = Pace()
    pace.note(1.6)
    assert pace.look_s == pytest.approx(0.1)
    for _ in range(200):
        pace.note(0.02)
    assert pace.look_s == pytest.approx(0.02, rel=1e-3)
