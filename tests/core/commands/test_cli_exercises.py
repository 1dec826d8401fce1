"""The command `exercises`: the list, the code of one, and the check of a solution, without a worker."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core import CompileJob, Run, Store
from core.commands import run as command
from core.commands.main import main
from core.commands.output import FAILED, OK, USAGE, WRONG
from core.job.gallery import exercise
from tests.support.engines import FakeEngine
from tests.support.homes import add_run
from tests.support.places import TRACES

SOLUTION = "import torch\n\nmodel = torch.sin\ninputs = (torch.ones(3),)\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    return tmp_path


class Recorded:
    """Instead of a runner: each run ends at once, with a recorded log."""

    def __init__(self, home: Path, scenario: str, **status: Any) -> None:
        self.home, self.scenario, self.status = home, scenario, status
        self.jobs: list[CompileJob] = []
        self.engine = FakeEngine()

    def stalled(self) -> None:
        """Return None: the run does not wait."""

    def submit(self, job: CompileJob) -> Run:
        self.jobs.append(job)
        log = (TRACES / self.scenario / "trace.log").read_bytes()
        run = add_run(self.home, "attempt", log, job=msgspec.to_builtins(job), **self.status)
        run.write_status(replace(run.written_status(), title=job.title()))
        return run


def test_the_list_has_the_progress(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Recorded(home, "eager_backend").submit(exercise("print_inside").job(SOLUTION))
    Recorded(home, "graph_break_zoo").submit(exercise("counter").job(SOLUTION))
    assert main(["exercises"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "solved     print_inside        Graph breaks: A forgotten print"
    assert lines[3] == "tried      counter             Recompiles: A counter in the module"
    assert lines[4].startswith("not tried  loop_over_number    ")
    assert lines[-1] == "1 of 12 exercises solved."
    assert main(["exercises", "--json"]) == OK
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 12
    assert rows[0] == {
        "name": "print_inside",
        "title": "A forgotten print",
        "topic": "Graph breaks",
        "state": "solved",
    }


def test_an_exercise_is_printed_as_a_file_to_edit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exercises", "counter"]) == OK
    printed = capsys.readouterr().out
    row = exercise("counter")
    assert printed == f'"""{row.title}\n\n{row.task}\n"""\n\n{row.code}'
    compile(printed, "counter.py", "exec")


@pytest.mark.parametrize(("scenario", "code"), [("eager_backend", OK), ("graph_break_zoo", WRONG)])
def test_a_solution_is_checked(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    scenario: str,
    code: int,
) -> None:
    runner = Recorded(home, scenario)
    monkeypatch.setattr(command, "Runner", lambda *_: runner)
    (home / "mine.py").write_text(SOLUTION)
    assert main(["exercises", "print_inside", str(home / "mine.py")]) == code
    assert runner.jobs == [exercise("print_inside").job(SOLUTION)]
    lines = capsys.readouterr().out.splitlines()
    passed = [line.split()[0] for line in lines if line.startswith(("passed", "failed"))]
    if code == OK:
        assert (lines[0], passed, len(lines)) == ("Solved.", ["passed"] * 3, 4)
    else:
        assert (lines[0], passed) == ("Not yet: 1 of 3 checks failed.", ["passed", "passed", "failed"])
        assert lines[3] == "failed  5 graph breaks. The first at line 20: Failed to trace builtin operator."
        assert lines[4].startswith("torch: Avoid calling builtin print with argument types ['str', 'Tensor'].")
    assert main(["exercises", "print_inside", str(home / "mine.py"), "--json"]) == code
    data = json.loads(capsys.readouterr().out)
    assert data["solved"] == (code == OK)
    assert len(data["checks"]) == 3


def test_a_run_that_fails_is_no_solution(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "Runner", lambda *_: Recorded(home, "error", state="failed"))
    (home / "mine.py").write_text(SOLUTION)
    assert main(["exercises", "print_inside", str(home / "mine.py")]) == FAILED
    captured = capsys.readouterr()
    assert captured.out.startswith("Not yet: the run failed, so nothing was checked.\nfailed  Failed while ")
    assert captured.err.splitlines()[-1] == "failed: ValueError while call 1: eager: at most four rows"


def test_what_cannot_be_checked_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exercises", "countr"]) == USAGE
    assert "did you mean counter?" in capsys.readouterr().err
    assert main(["exercises", "counter", str(home / "none.py")]) == USAGE
    assert "none.py cannot be read: No such file or directory" in capsys.readouterr().err
    (home / "latin.py").write_bytes(b"\xff\xfe")
    assert main(["exercises", "counter", str(home / "latin.py")]) == USAGE
    assert "latin.py cannot be read: it is no UTF-8" in capsys.readouterr().err
    assert Store(home).list() == []
