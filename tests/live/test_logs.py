"""TORCH_LOGS as a job's choice: the same messages as torch prints by itself, kept by compile id."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from core import CompileJob, Model, Run, Runner, open_report
from core.report import FusionRound, Report
from core.runs.stored import side_of_run
from core.views.texts import LogsView, log_messages
from tests.support.homes import NO_LOOKUPS

pytestmark = pytest.mark.torch
CODE = """import torch
def model(x):
    y = x.sin()
    print("here")
    return y.cos() + 1
inputs = (torch.ones(4),)
"""
FUSES = """import torch
def model(x, y):
    return torch.nn.functional.gelu(x + y).sum(-1), (x * 2).softmax(-1)
inputs = (torch.randn(16, 32), torch.randn(16, 32))
"""
ALONE = CODE + "torch.compile(model)(*inputs)\n"
NAMES = "graph_breaks,guards,graph_code"


def run_with(runner: Runner, names: str, code: str = CODE) -> Run:
    job = CompileJob(Model("code", code), logs=tuple(names.split(",")), measure=False)
    return runner.wait(runner.submit(job))


def view_of(run: Run) -> LogsView:
    side = side_of_run(run)
    assert side is not None
    return LogsView(side.report, side.text)


def rounds_of(report: Report) -> list[FusionRound]:
    """Every fusion round of a report."""
    schedules = (schedule for compilation in report.compilations for schedule in compilation.schedules)
    return [each for schedule in schedules for each in schedule.rounds]


@pytest.mark.long
def test_the_messages_are_those_that_torch_prints_by_itself(runner: Runner, tmp_path: Path) -> None:
    view = view_of(run_with(runner, NAMES))
    script = tmp_path / "model.py"
    script.write_text(ALONE)
    environment = {**os.environ, **NO_LOOKUPS, "TORCH_LOGS": NAMES}
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=True)
    messages = [message for message in log_messages(printed.stderr) if message.name in NAMES.split(",")]
    alone = Counter((message.name, message.compilation) for message in messages)
    assert Counter((message.name, message.compilation) for message in view.matches) == alone
    assert set(alone) >= {("graph_breaks", "0/0"), ("guards", "0/0"), ("graph_code", "1/0")}
    mine = [message.text.splitlines()[-1] for message in view.matches if message.name == "graph_code"]
    assert mine == [m.text.splitlines()[-1] for m in log_messages(printed.stderr) if m.name == "graph_code"]


def test_a_log_with_a_level_has_its_modules_and_its_users_lines(runner: Runner) -> None:
    view = view_of(run_with(runner, "+dynamo"))
    assert view.names["torch._dynamo.symbolic_convert"] > 0
    chosen = LogsView(view.report, view.read, compilation="0/0", search="STEP")
    assert chosen.matches
    assert {message.compilation for message in chosen.matches} == {"0/0"}
    breaks = LogsView(view.report, view.read, name="graph_breaks")
    assert [breaks.user_line(message) for message in breaks.matches] == [4]


def test_all_is_every_log(runner: Runner) -> None:
    names = view_of(run_with(runner, "all")).names
    assert any(name.startswith("torch._dynamo") for name in names)
    assert any(name.startswith("torch._inductor") for name in names)


def test_no_message_is_recorded_without_logs(runner: Runner) -> None:
    assert open_report(runner.wait(runner.submit(CompileJob(Model("code", CODE), measure=False)))).logs == ()


def test_fusion_rounds_are_recorded_with_any_log(runner: Runner) -> None:
    rounds = rounds_of(open_report(runner.wait(runner.submit(CompileJob(Model("code", FUSES), measure=False)))))
    assert any(each.fused for each in rounds)
    for names in ("guards", "fusion", "+inductor"):
        run = run_with(runner, names, FUSES)
        assert rounds_of(open_report(run)) == rounds
        assert ("fusion" in view_of(run).names) == (names == "fusion")


def test_a_wrong_name_is_answered_with_the_nearest(runner: Runner) -> None:
    error = open_report(run_with(runner, "graph_brakes")).error
    assert error is not None
    assert error.field == "logs"
    assert "nearest: graph_breaks" in error.message


def test_the_variable_of_the_server_does_not_matter(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"import os\nos.environ['TORCH_LOGS'] = 'bytecode'\n{CODE}"
    assert set(view_of(run_with(runner, "guards", code)).names) == {"guards"}


def test_messages_over_the_bound_are_left_out_with_a_note(runner: Runner) -> None:
    code = """import logging
import torch
def model(x):
    for _ in range(40):
        logging.getLogger("torch._dynamo").info("x" * 4_000_000)
    return x.sin()
torch._dynamo.config.reorderable_logging_functions.add(print)
inputs = (torch.ones(4),)
model = torch.compiler.disable(model)
"""
    run = run_with(runner, "dynamo", code)
    report = open_report(run)
    assert sum(part.text.length for part in report.logs) <= 64 * 2**20
    assert any("the first 67.1 MB of torch's log messages" in note for note in report.notes)
