"""Questions at the command line: the newest run or a named one, the forms, and the exit codes."""

import json
from pathlib import Path

import pytest

from core import Store
from core.commands.main import main
from core.commands.output import MISSING, OK, USAGE
from core.runs.stored import side_of_run
from core.views.printed import as_data, as_text
from core.views.why import ASK, why
from tests.support.homes import add_run
from tests.support.places import TRACES


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with two runs, the second of them newer."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    for created_s, scenario in enumerate(("recompile_zoo", "graph_break_zoo"), 1):
        log = (TRACES / scenario / "trace.log").read_bytes()
        add_run(Store(tmp_path).home, scenario, log, created_s=float(created_s))
    return tmp_path


def test_a_question_is_about_the_newest_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newest, _ = Store(home).list()[0]
    assert main(["why", "break", "1"]) == OK
    assert capsys.readouterr().out.splitlines() == [*as_text(why(side_of_run(newest), "break 1").blocks)]


def test_a_run_or_a_log_after_the_question_is_meant(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, (oldest, _) = Store(home).list()
    expected = as_data(why(side_of_run(oldest), "recompile 0/3").blocks)
    for named in (oldest.id, str(TRACES / "recompile_zoo" / "trace.log")):
        assert main(["why", "--json", "recompile", "0/3", named]) == OK
        assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(expected))
    assert main(["why", f"recompile 0/3 {oldest.id}"]) == OK


def test_a_question_of_no_form_prints_the_forms_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "--json", "is", "the", "sky", "blue"]) == USAGE
    captured = capsys.readouterr()
    assert (captured.out, captured.err.splitlines()[0]) == ("", ASK)
    assert main(["why", "break", "99"]) == USAGE


def test_without_a_run_there_is_nothing_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "empty"))
    assert main(["why", "slow"]) == MISSING
    assert capsys.readouterr().err == "there is no run; name one, or compile a model first\n"
