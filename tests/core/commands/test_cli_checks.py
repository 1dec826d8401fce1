"""What a script learns of a run: how it ended, first, and exit codes for what is wrong or slow."""

import argparse
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import Run, Store, build_report
from core.analysis.comparison.matching import RunSide
from core.analysis.comparison.run import compare_runs
from core.analysis.verdict import verdict
from core.commands.main import main
from core.commands.output import FAILED, OK, SLOW, WRONG, add_check_options
from core.commands.summary import check_comparison, check_report
from core.report import Call, Difference, Report, Setting, SideTimes, from_json
from core.views.verdict import sentence
from tests.support.homes import add_run, job_of
from tests.support.logs import recorded_report
from tests.support.places import ROOT, TRACES


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of its own for each test."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    return tmp_path


def ended(home: Path, scenario: str, **status: Any) -> Run:
    log = (TRACES / scenario / "trace.log").read_bytes()
    return add_run(Store(home).home, "mlp", log, job=job_of("eager_backend"), **status)


ENDINGS = [
    (
        "timed out",
        "the run took longer than 30 s",
        "The run timed out at the step `{}`.",
        "Timed out while {}: the run took longer than 30 s.",
    ),
    (
        "crashed",
        "the worker was ended by SIGSEGV",
        "The run ended: crashed.",
        "Crashed while {}: the worker was ended by SIGSEGV.",
    ),
    ("cancelled", "", "The run was cancelled.", "Cancelled while {}."),
    ("out of memory", "it used 4 GB", "The run ended: out of memory.", "Out of memory while {}: it used 4 GB."),
]


@pytest.mark.parametrize(("state", "reason", "title", "words"), ENDINGS)
def test_a_report_of_a_run_that_did_not_end_well_begins_with_how_it_ended(
    home: Path, capsys: pytest.CaptureFixture[str], state: str, reason: str, title: str, words: str
) -> None:
    run = ended(home, "training_step", state=state, reason=reason)
    assert main(["report", run.id]) == FAILED
    first, second, third, *_ = capsys.readouterr().out.splitlines()
    assert first == title.format("making the inputs of call 1")
    assert second == f"  {words.format('making the inputs of call 1')}"
    assert third.startswith("  0 graph breaks · 0 recompiles · ")
    assert main(["report", run.id, "--json"]) == FAILED
    printed = capsys.readouterr().out
    assert list(json.loads(printed).items())[:2] == [("state", state), ("reason", reason)]
    assert from_json(printed.encode()).compilations


def test_a_report_of_a_model_that_raised_begins_with_the_error_and_its_lines(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ended(home, "error", state="failed")
    error = recorded_report(TRACES / "error" / "trace.log").error
    assert error is not None
    assert main(["report", run.id]) == FAILED
    first, stage, at, *_ = capsys.readouterr().out.splitlines()
    assert first == f"Eager failed on line 7 of your code: {error.type}: {error.message}."
    assert stage == f"  Failed while {error.stage} ({error.type}: {error.message})."
    assert at == f"  at {error.frames[0].file}:{error.frames[0].line} in {error.frames[0].name}"


def test_a_log_with_an_error_is_no_success_either(capsys: pytest.CaptureFixture[str]) -> None:
    log = str(TRACES / "error" / "trace.log")
    assert main(["report", log]) == FAILED
    assert capsys.readouterr().out.startswith("Eager failed on line 7 of your code: ")
    assert sentence(verdict(build_report(Path(log)))).startswith("Eager failed on line 7 of your code: ")


def test_a_run_that_ended_before_it_recorded_anything_says_why(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = add_run(home, "mlp", None, job=job_of("eager_backend"), state="interrupted", reason="the server ended")
    assert main(["report", run.id, "--json"]) == FAILED
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"state": "interrupted", "reason": "the server ended"}
    assert printed.err == "Interrupted: the server ended.\n"


def report(same: bool | None = True, slower: float = 1.0, kind: str = "value", **fields: Any) -> Report:
    """A run with one result, whose compiled call takes `slower` times as long as eager's."""
    differences = (Difference("output", same, kind, actual="all zeros", reason="drawn" if same is None else ""),)
    samples = tuple(0.001 * (1 + 0.001 * (index % 3)) for index in range(40))
    timing = SideTimes({"eager": samples, "compiled": tuple(slower * value for value in samples)})
    calls = (Call(0, "f32[2]", 0.001, 0.001, differences),)
    return replace(Report(Setting(), calls=calls, timing=timing), **fields)


EXCUSED = report(
    calls=(Call(0, "", 1.0, 1.0, (Difference("output", True, actual="all zeros", reason="zero but for rounding"),)),)
)


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_check_options(parser, "it differs")
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("found", "requested", "code", "said"),
    [
        (report(), ["--check", "--least-speedup", "0.9"], OK, ""),
        (report(False), [], OK, ""),
        (report(False), ["--check"], WRONG, "check failed: results differ from eager: output: all zeros\n"),
        (report(calls=()), ["--check"], WRONG, "check failed: nothing was compared with eager\n"),
        (report(None), ["--check"], OK, "check: results are not comparable: output: drawn\n"),
        (EXCUSED, ["--check"], OK, "check: output counts as the same (all zeros): zero but for rounding\n"),
        (
            report(slower=2.0),
            ["--least-speedup", "0.9"],
            SLOW,
            "check failed: 0.500× as fast as eager (0.500–0.500), at least 0.900× required\n",
        ),
        (report(slower=2.0), ["--least-speedup", "0.4"], OK, ""),
        (
            report(timing=None),
            ["--least-speedup", "0.4"],
            SLOW,
            "check failed: the speed was not measured, or is not comparable\n",
        ),
    ],
)
def test_a_script_learns_from_the_exit_code_what_is_wrong(
    capsys: pytest.CaptureFixture[str], found: Report, requested: list[str], code: int, said: str
) -> None:
    assert check_report(found, options(*requested)) == code
    assert capsys.readouterr() == ("", said)


def side(found: Report) -> RunSide:
    return RunSide(found, lambda _: "", lambda *_: ())


@pytest.mark.parametrize(
    ("left", "right", "requested", "code"),
    [
        (report(), report(), ["--check", "--least-speedup", "0.9"], OK),
        (report(), report(False), ["--check"], WRONG),
        (report(False), report(), ["--check"], OK),
        (report(), recorded_report(TRACES / "graph_break_zoo" / "trace.log"), ["--check"], WRONG),
        (recorded_report(TRACES / "graph_break_zoo" / "trace.log"), report(), ["--check"], OK),
        (report(), recorded_report(TRACES / "error" / "trace.log"), ["--check"], WRONG),
        (report(), report(slower=3.0), ["--check", "--least-speedup", "0.9"], SLOW),
        (report(slower=3.0), report(), ["--check", "--least-speedup", "2.5"], OK),
    ],
)
def test_a_comparison_fails_its_check_where_the_right_run_is_worse(
    left: Report, right: Report, requested: list[str], code: int
) -> None:
    assert check_comparison(compare_runs(side(left), side(right)), options(*requested)) == code


def test_output_that_nobody_reads_to_its_end_leaves_no_traceback() -> None:
    command = f"{sys.executable} -m core report tests/traces/recompile_zoo --json | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (141, "")
