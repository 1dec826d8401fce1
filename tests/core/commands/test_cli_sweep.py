"""The command line's sweeps, from the options to the exit code, with an engine that compiles nothing."""

import csv
import io
import json
import time
from pathlib import Path

import pytest

from core import Axis, CompileJob, Model, Runner, Store, SweepRunner, new_sweep
from core.commands import sweep as command
from core.commands.main import main
from core.commands.output import CANCELLED, FAILED, MISSING, OK, USAGE
from tests.support.engines import PromptEngine

AXES = ("--axis", "backend=eager,inductor", "--axis", "batch=1,2")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PromptEngine:
    """The engine of each command, over a home of the test's own."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    found = PromptEngine()
    monkeypatch.setattr(command, "open_engine", lambda *_, **__: found)
    monkeypatch.setattr(command, "POLL_S", 0.01)
    return found


def stored(home: Path, engine: PromptEngine) -> str:
    """A sweep whose second half was cut short; returns its id."""
    sweeps = SweepRunner(Runner(Store(home), engine), poll_s=0.001)
    sweep = sweeps.start(new_sweep(CompileJob(Model("sample", "mlp")), (Axis("batch", (1, 2)),)))
    while len(engine.started) < 2:
        sweeps.wait(sweep.id, 0.01)
    sweeps.cancel(sweep.id)
    sweeps.wait(sweep.id)
    return sweep.id


def test_sweep_shows_each_cell_as_it_ends_and_then_the_table(
    engine: PromptEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "mlp", "--threads", "1", *AXES]) == OK
    said = capsys.readouterr()
    told = [line.split(":")[0] for line in said.err.splitlines()[1:]]
    assert told == [
        "  [1/4] backend=eager, batch=1",
        "  [2/4] backend=eager, batch=2",
        "  [3/4] backend=inductor, batch=1",
        "  [4/4] backend=inductor, batch=2",
    ]
    assert said.out.splitlines()[-7].split() == ["backend", "batch"]
    assert {run.job().conditions.threads for run in engine.started} == {1}  # type: ignore[union-attr]


def test_sweep_as_csv_and_as_json_is_that_alone(engine: PromptEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "mlp", *AXES, "--csv"]) == OK
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(line["backend"], line["batch"], line["state"]) for line in lines][1] == ("eager", "2", "done")
    assert main(["sweep", "mlp", *AXES, "--json", "--title", "two by two"]) == OK
    said = json.loads(capsys.readouterr().out)
    assert (said["sweep"]["title"], said["standing"]["done"], len(said["rows"])) == ("two by two", 4, 4)


def test_cancelled_sweep_is_resumed_by_its_id_and_nothing_is_run_twice(
    engine: PromptEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.hold_after = 1
    sweep_id = stored(tmp_path, engine)
    assert main(["sweeps"]) == OK
    assert capsys.readouterr().out == f"{sweep_id}  mlp by batch: cancelled, 1 of 2 cells done\n"
    engine.hold_after = None
    assert main(["sweep", "--resume", sweep_id]) == OK
    assert len(engine.started) == 3
    capsys.readouterr()
    assert main(["sweeps", "--json"]) == OK
    assert [(item["id"], item["state"], item["done"]) for item in json.loads(capsys.readouterr().out)] == [
        (sweep_id, "done", 2)
    ]


def test_ctrl_c_leaves_a_sweep_that_can_be_resumed(
    engine: PromptEngine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.hold_after = 1

    def interrupted(*_: object) -> None:
        while len(engine.started) < 2:
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_follow", interrupted)
    assert main(["sweep", "mlp", *AXES]) == CANCELLED
    assert "cancelled, 1 of 4 cells done; resume with --resume" in capsys.readouterr().err


def test_sweep_of_which_no_cell_is_done_has_failed(engine: PromptEngine) -> None:
    engine.outcome = lambda run: "failed"
    assert main(["sweep", "mlp", *AXES]) == FAILED
    engine.outcome = lambda run: "done" if len(engine.started) > 5 else "failed"
    assert main(["sweep", "mlp", *AXES]) == OK


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["mlp"], USAGE, "from 1 to 8 axes, and this one has 0"),
        (["mlp", "--axis", "speed=1"], USAGE, "axis speed"),
        (["mlp", "--axis", "batch=1,x"], USAGE, "axis batch: `x` is no whole number"),
        ([], USAGE, "name a model, or a sweep to --resume"),
        (["mlp", "--resume", "x"], USAGE, "give its id alone"),
        (["no_such", *AXES], USAGE, "there is no sample"),
        (["--resume", "20260101-000000-x-0000"], MISSING, "there is no sweep"),
    ],
)
def test_what_cannot_be_swept_is_reported_with_an_exit_code(
    engine: PromptEngine, capsys: pytest.CaptureFixture[str], options: list[str], code: int, words: str
) -> None:
    assert main(["sweep", *options]) == code
    assert words in capsys.readouterr().err
    assert engine.started == []


def test_a_stored_sweep_is_printed_by_its_id(
    engine: PromptEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "mlp", *AXES, "--csv"]) == OK
    table = capsys.readouterr().out
    (sweep,) = SweepRunner(Runner(Store(tmp_path), engine)).store.list()
    assert main(["sweeps", sweep.id, "--csv"]) == OK
    assert capsys.readouterr().out == table
    assert main(["sweeps", sweep.id, "--json"]) == OK
    printed = json.loads(capsys.readouterr().out)
    assert (len(printed["rows"]), printed["standing"]["state"]) == (4, "done")
    assert main(["sweeps", sweep.id]) == OK
    assert capsys.readouterr().out.splitlines()[-7].split() == ["backend", "batch"]
    assert len(engine.started) == 4


def test_a_list_of_sweeps_is_no_table_and_an_unknown_id_is_reported(
    engine: PromptEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweeps", "--csv"]) == USAGE
    assert "give the id of one sweep" in capsys.readouterr().err
    assert main(["sweeps", "20260101-000000-nothing-0000"]) == MISSING
