"""What several servers over one home measure: one after the other on each device."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core import CompileJob, Model, Run, Runner, Store
from core.base.errors import StoreError
from core.runs.engine.local import Turns
from core.runs.engine.queues import assigned
from tests.support.engines import PromptEngine, until

IDS = ("20260101-000000-mlp-0000", "20260101-000000-mlp-0001")
pytestmark = pytest.mark.usefixtures("any_site")


def job(device: str = "cpu", measure: bool = True) -> CompileJob:
    return CompileJob(Model("sample", "mlp"), device=device, measure=measure)


@pytest.mark.parametrize(
    ("here", "there", "both"),
    [
        (job(), job(), False),
        (job(), job(measure=False), False),
        (job(measure=False), job(measure=False), True),
        (job("cuda:0"), job("cuda"), False),
        (job("cuda:0"), job("cuda:1"), True),
        (job("cuda:0"), job(), False),
        (job("cuda:0", measure=False), job("cuda:0"), False),
    ],
)
def test_what_is_measured_has_its_device_to_itself(
    tmp_path: Path, here: CompileJob, there: CompileJob, both: bool
) -> None:
    ours, theirs = PromptEngine(), PromptEngine()
    one, other = (
        assigned(Run(name, tmp_path / "runs" / name), found) for name, found in ((IDS[0], here), (IDS[1], there))
    )
    assert (ours.take_turn(one), theirs.take_turn(other)) == (True, both)
    ours.end_turn(one.run)
    theirs.end_turn(other.run)
    # A node ends a turn in the background.
    until(lambda: theirs.take_turn(other))
    theirs.end_turn(other.run)


def test_a_lock_that_fails_leaves_no_earlier_lock_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = Turns(), Turns()
    first, second = (assigned(Run(name, tmp_path / "runs" / name), job("cuda:0")) for name in IDS)
    opened = os.open

    def no_room(path: Path, flags: int, mode: int = 0o777) -> int:
        if Path(path).name == "cuda-0":
            raise OSError(errno.ENFILE, "too many open files")
        return opened(path, flags, mode)

    before = set(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", no_room)
        with pytest.raises(StoreError, match="too many open files"):
            ours.take(first)
    assert set(os.listdir("/proc/self/fd")) == before
    assert theirs.take(second)
    theirs.give_back(second.run)


@pytest.fixture
def two(tmp_path: Path) -> Callable[[], tuple[PromptEngine, Runner]]:
    """One more server over the same home, whose runs go on until they are ended."""

    def server() -> tuple[PromptEngine, Runner]:
        engine = PromptEngine(hold_after=0)
        return engine, Runner(Store(tmp_path), engine)

    return server


def test_run_waits_for_what_another_server_measures_and_can_be_cancelled_meanwhile(
    two: Callable[[], tuple[PromptEngine, Runner]],
) -> None:
    (first, here), (second, there) = two(), two()
    measured = here.submit(job())
    until(lambda: first.started == [measured])
    waits, given_up = there.submit(job()), there.submit(job())
    until(lambda: there.is_blocked(waits))
    assert (second.started, waits.status().state) == ([], "queued")
    there.cancel(waits)
    assert (waits.status().reason, there.is_blocked(waits)) == ("cancelled before it started", False)
    first.end(measured)
    until(lambda: second.started == [given_up])
    second.end(given_up)
    again = here.submit(job())
    until(lambda: first.started == [measured, again])
    first.end(again)
