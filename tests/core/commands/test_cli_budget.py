"""`check` on the command line: what it prints, the files it writes, and its exit codes."""

import json
from pathlib import Path

import pytest

from core.commands.main import main
from core.commands.output import MISSING, OK, USAGE, WRONG
from tests.support.homes import add_scenario
from tests.support.places import TRACES

ZOO, BLOCK = (str(TRACES / name / "trace.log") for name in ("graph_break_zoo", "transformer_block"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store and directory, with a budget."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compileboard.toml").write_text("[at-most]\ngraph-breaks = 0\n[more-than-baseline]\nkernels = 0\n")
    return tmp_path


def test_a_log_within_its_budget(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", BLOCK, "--baseline", BLOCK]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "trace is within its budget of 2 limits."
    assert lines[-1].startswith("No difference")


def test_a_log_over_its_budget_is_reported_in_every_form(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forms = ["--junit", "j.xml", "--markdown", "m.md", "--github", "--json"]
    assert main(["check", ZOO, "--baseline", BLOCK, *forms]) == WRONG
    printed = capsys.readouterr()
    data = json.loads(printed.out)
    assert (data["failed"], [each["standing"] for each in data["judgements"]]) == (True, ["over", "over"])
    assert data["comparison"].startswith("5 new graph breaks")
    assert [line.split(" ")[0] for line in printed.err.splitlines()] == ["::error"] * 6
    assert b'failures="2"' in (folder / "j.xml").read_bytes()
    assert "| graph breaks | at most 0 | 5 | over |" in (folder / "m.md").read_text()


def test_markdown_is_added_to_what_a_summary_has(folder: Path) -> None:
    for _ in range(2):
        main(["check", ZOO, "--markdown", "m.md"])
    assert (folder / "m.md").read_text().count("| graph breaks |") == 2


def test_what_is_undecided_fails_if_it_must_not_be() -> None:
    assert main(["check", BLOCK]) == OK
    assert main(["check", BLOCK, "--strict"]) == WRONG


def test_a_stored_run_has_the_budget_of_its_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "own.toml").write_text("[model.graph_break_zoo.at-most]\ngraph-breaks = 5\n[at-most]\ngraph-breaks = 0\n")
    run = add_scenario(folder / "home", "graph_break_zoo")
    assert main(["check", run, "--budget", "own.toml"]) == OK
    assert capsys.readouterr().out.startswith("graph_break_zoo is within its budget of 1 limit.")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--budget", "none.toml"], USAGE, "budget: none.toml cannot be read: No such file or directory"),
        (["--repeat", "0"], USAGE, "repeat: must be between 1 and 50"),
        (["--junit", "none/j.xml"], 1, "none/j.xml cannot be written: No such file or directory"),
        (["--baseline", "no-such-run"], USAGE, "there is no sample `no-such-run`"),
    ],
)
def test_what_cannot_be_done_is_reported(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert main(["check", BLOCK, *arguments]) == code
    assert message in capsys.readouterr().err


def test_a_text_that_is_no_trace_is_no_budget_kept(folder: Path) -> None:
    (folder / "a.log").write_text("nothing")
    assert main(["check", "a.log"]) == MISSING
