"""Ceilings of a machine: what a run measures raises them and never lowers them; and what else the machine did
meanwhile.
"""

from pathlib import Path

import pytest

from core import build_report
from core.report import Bandwidth, Load, Roofline
from tests.support.homes import ceilings, record

# Torch's own imports warn.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")]


def measured(memory: float, float32: float, disturbed: bool, **more: float) -> Roofline:
    return Roofline(
        device="cpu",
        bandwidths=(Bandwidth("L3 cache", 10, 5 * memory), Bandwidth("memory", None, memory)),
        flops_s={"float32": float32, **more},
        how="",
        disturbed=disturbed,
    )


@pytest.mark.parametrize(
    ("found", "stored", "best"),
    [
        (measured(2.0, 9.0, True), None, measured(2.0, 9.0, True)),
        (measured(2.0, 9.0, True), measured(3.0, 8.0, True), measured(3.0, 9.0, True)),
        (measured(2.0, 9.0, False), measured(3.0, 8.0, True), measured(3.0, 9.0, False)),
        (measured(2.0, 9.0, True, bfloat16=4.0), measured(3.0, 8.0, True), measured(3.0, 9.0, True, bfloat16=4.0)),
    ],
)
def test_each_ceiling_is_the_best_ever_measured(found: Roofline, stored: Roofline | None, best: Roofline) -> None:
    from core.worker.measuring.roofline import raised

    assert raised(found, stored) == best


def test_stored_ceilings_are_measured_again_until_a_quiet_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.worker.measuring import roofline

    path = tmp_path / "compileboard_roofline" / "this_machine.json"
    ceilings_so_far = []
    for rate, disturbed in ((2.0, True), (3.0, False), (4.0, False)):
        monkeypatch.setattr(roofline, "probe", lambda device, rate=rate: measured(rate, 9.0, False))
        monkeypatch.setattr(roofline, "busy", lambda load, disturbed=disturbed: disturbed)
        ceilings_so_far.append(roofline._best("cpu", path))
    assert ceilings_so_far == [measured(2.0, 9.0, True), measured(3.0, 9.0, False), measured(3.0, 9.0, False)]
    assert [file.name for file in path.parent.iterdir()] == ["this_machine.json"]


def test_arrays_are_twelve_times_the_last_cache_or_named_for_what_they_reach() -> None:
    from core.worker.measuring.roofline import far_arrays

    assert far_arrays(36_000_000, 8_000_000_000) == (432_000_000, "memory")
    assert far_arrays(1_000_000, 100_000_000) == (192_000_000, "memory")
    assert far_arrays(500_000_000, 8_000_000_000) == (2_000_000_000, "memory, in part the last cache")


def test_a_slow_product_is_made_smaller_and_not_left_out() -> None:
    import torch

    from core.worker.measuring.roofline import LEAST_PRODUCT, product

    assert product("cpu", torch.float32, slow_s=0.0).work == 2 * LEAST_PRODUCT**3


def test_others_have_what_the_process_did_not_use() -> None:
    from core.base.machine import Reading, shares

    then = Reading(clock_s=10.0, busy_s=100.0, own_s=5.0, ran_s=5.0, waited_s=1.0)
    load = shares(then, Reading(12.0, 103.5, 7.0, 7.0, 2.0), 2)
    assert load is not None
    assert (load.others, load.waited) == pytest.approx((0.375, 1 / 3))
    assert load.stolen is None
    assert shares(then, Reading(12.0, 101.9, 7.0, None, None), 2) == Load(0.0, None)


def test_older_records_show_a_busy_machine_in_words(tmp_path: Path) -> None:
    busy = {**ceilings(), "how": "STREAM triad; the machine was busy, so they are measured again by the next run"}
    found = []
    for number, data in enumerate((ceilings(), busy, {**ceilings(), "disturbed": True})):
        log = tmp_path / f"{number}.log"
        log.write_bytes(record("compileboard_roofline", data))
        limits = build_report(log, strict=True).roofline
        found.append(limits is not None and limits.disturbed)
    assert found == [False, True, True]
