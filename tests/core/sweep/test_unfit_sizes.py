"""A sweep over sizes that the model does not take: it stops, and says what to give instead. The engine is a fake."""

from pathlib import Path

import pytest

from core import CompileJob
from core.sweep.model import Axis
from core.sweep.runner import new_sweep
from tests.core.sweep.test_sweep_runner import CODE, sweeper
from tests.support import engines
from tests.support.engines import PromptEngine

UNFIT = "IndexError while call 0: eager: index 35 is out of bounds for dimension 0 with size 4"


@pytest.mark.parametrize(
    ("preset", "calls", "field", "started"),
    [
        ("shapes", ("calls(batch=4)",), "seed", 1),
        ("batch", (), "batch", 2),
        ("", (), "batch", 3),
        ("dtype", (), "seed", 3),
    ],
)
def test_a_preset_stops_once_the_model_does_not_take_inputs_of_other_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preset: str, calls: tuple[str, ...], field: str, started: int
) -> None:
    monkeypatch.setitem(engines.ENDS, "failed", UNFIT)
    engine = PromptEngine(lambda run: "failed")
    found = sweeper(tmp_path, engine)
    sweep = found.start(new_sweep(CompileJob(CODE, calls=calls), (Axis(field, (1, 2, 3)),), preset))
    found.wait(sweep.id)
    standing = found.standing(found.store.open(sweep.id))
    assert (len(engine.started), standing.state) == (started, "stopped" if started < 3 else "done")
    assert (f"eager failed at the first sizes: {UNFIT}." in standing.reason) == (started < 3)


def test_a_model_that_takes_some_size_is_measured_at_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.ENDS, "failed", UNFIT)
    engine = PromptEngine(lambda run: "done" if run.job().sizes["batch"] == 2 else "failed")  # type: ignore[union-attr]
    found = sweeper(tmp_path, engine)
    sweep = found.start(new_sweep(CompileJob(CODE), (Axis("batch", (1, 2, 3, 4)),), "batch"))
    found.wait(sweep.id)
    assert found.standing(found.store.open(sweep.id)).failed == 3
