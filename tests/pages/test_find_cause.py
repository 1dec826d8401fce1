"""The button *Find out where*: on a run that failed, with the bisector or with a ladder of runs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core import CompileJob, Sweep
from core.sweep.presets.failures import RUNGS
from pages.parts.sweep import sweeps
from pages.session import actions
from tests.support.apps import opened
from tests.support.homes import add_run, job_of, record
from tests.support.places import TRACES

LABEL = "Find out where"


def failed(home: Path, job: dict[str, Any], state: str = "failed", side: str = "compiled") -> str:
    """A run whose compiled call raised, or its eager call."""
    log = (TRACES / "error" / "trace.log").read_bytes().replace(b'"call 1: eager"', f'"call 1: {side}"'.encode())
    return add_run(home, "error", log, job=job, state=state).id


def test_an_error_of_eager_asks_for_no_cause_and_its_line_is_in_the_url(empty_home: Path) -> None:
    app = opened("run/overview.py", failed(empty_home, job_of("error"), side="eager"))
    assert LABEL not in [button.label for button in app.button]
    assert app.query_params["item"] == "l:7"
    assert app.title[0].value.startswith("Eager failed on line 7 of your code")


def test_a_failed_run_is_run_again_with_the_bisector(empty_home: Path, submitted: list[CompileJob]) -> None:
    job = msgspec.convert(job_of("error"), CompileJob)
    app = opened("run/overview.py", failed(empty_home, job_of("error")))
    next(button for button in app.button if button.label == LABEL).click().run()
    assert submitted == [replace(job, bisect=True, measure=False)]


def test_a_crashed_run_climbs_a_ladder(
    empty_home: Path, submitted: list[CompileJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bisector would crash with it."""
    started: list[Sweep] = []

    def start(sweep: Sweep) -> Sweep:
        started.append(sweep)
        return sweep

    monkeypatch.setattr(actions, "start_sweep", start)
    monkeypatch.setattr(sweeps, "show_sweep", lambda _: None)
    app = opened("run/overview.py", failed(empty_home, job_of("error"), "crashed"))
    next(button for button in app.button if button.label == LABEL).click().run()
    (sweep,) = started
    assert sweep.preset == "ladder"
    assert set(sweep.axes[0].named()) <= {*RUNGS, "inductor"}
    assert submitted == []


def test_a_run_that_went_well_asks_for_no_cause(empty_home: Path, submitted: list[CompileJob]) -> None:
    log = (TRACES / "transformer_block" / "trace.log").read_bytes()
    app = opened("run/overview.py", add_run(empty_home, "block", log, job=job_of("transformer_block")).id)
    assert LABEL not in [button.label for button in app.button]


def test_a_minified_script_is_shown_run_and_reported(empty_home: Path, submitted: list[CompileJob]) -> None:
    script = "import torch\nmodel = torch.relu\ninputs = (torch.ones(3),)\n"
    left = {"schema": 1, "script": script, "ops": 1, "captured_ops": 4, "outcome": "differs", "reproduces": True}
    log = (TRACES / "error" / "trace.log").read_bytes() + record("compileboard_bisection", left)
    run = add_run(empty_home, "error", log, job=job_of("error"), state="failed")
    run.model_path.write_text(script)
    app = opened("run/overview.py", run.id)
    (shown,) = [block.value for block in app.code if block.value.startswith(script)]
    assert "torch.compile(model" in shown
    first, second = (info.value for info in app.info)
    assert first.startswith("No backend that torch's bisector tries")
    assert "left 1 of 4 ops" in second
    labels = [button.proto.label for button in app.get("download_button")]
    assert {"Download", "Markdown", "ZIP with script, model, job and trace"} <= set(labels)
    next(button for button in app.button if button.label == "Run it").click().run()
    (job,) = submitted
    assert (job.model.value, job.bisect, job.measure) == (script, False, False)
