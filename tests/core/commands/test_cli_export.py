"""Files of stored runs: one HTML file of two runs, and an error in words where none can be written."""

from pathlib import Path

import pytest

from core.commands.export import digest_line
from core.commands.main import main
from core.commands.output import FAILED, OK, USAGE
from tests.support.homes import add_scenario
from tests.support.places import ROOT
from tests.support.sample import one_in


@pytest.mark.parametrize(
    "command", one_in(4, [["export", "--html"], ["export", "--perfetto"], ["debug", "--out"], ["issue", "--out"]])
)
def test_a_file_that_cannot_be_written_is_an_error_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    run = add_scenario(tmp_path, "transformer_block")
    (tmp_path / "runs" / run / "model.py").write_text("model = None\n")
    name, option = command
    assert main([name, run, option, str(tmp_path / "none" / "file")]) == FAILED
    assert capsys.readouterr().err.endswith("none/file cannot be written: No such file or directory\n")


def test_two_runs_become_one_html_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    left, right = (add_scenario(tmp_path, name) for name in ("transformer_block", "training_step"))
    for run in (left, right):
        (tmp_path / "runs" / run / "model.py").write_text("model = None\n")
    file = tmp_path / "both.html"
    assert main(["export", left, right, "--html", str(file), "--scrub", "paths"]) == OK
    assert f"Runs {left} (left) and {right} (right)" in file.read_text(encoding="utf-8")
    assert main(["export", left, right, "--perfetto", str(file)]) == USAGE
    assert capsys.readouterr().err == "--perfetto writes one run: leave the second one out\n"


def test_a_file_with_a_scrubbed_text_is_written_on_request_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    run = add_scenario(tmp_path, "transformer_block")
    (tmp_path / "runs" / run / "model.py").write_text("class QuokkaNet: ...\nprint('MyQuokkaNets')\n")
    file = tmp_path / "issue.zip"
    command = ["issue", run, "--out", str(file), "--scrub", "names"]
    assert main(command) == FAILED
    assert not file.exists()
    left = "The file still has 1 text of the author: 'MyQuokkaNets'."
    assert capsys.readouterr().err == f"{left} It was not written; `--allow-leftovers` writes it.\n"
    assert main([*command, "--allow-leftovers"]) == OK
    assert (capsys.readouterr().err, file.exists()) == (f"{left}\n", True)


def test_a_skill_is_written_and_an_older_version_of_it_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "skills" / "compileboard" / "SKILL.md"
    newest = (ROOT / "docs" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    assert main(["skill", "--to", str(tmp_path / "skills")]) == OK
    assert (file.read_text(encoding="utf-8"), capsys.readouterr().out) == (newest, f"{file}\n")
    file.write_text(f"of an older version\n\n{digest_line('of an older version' + chr(10))}", encoding="utf-8")
    assert main(["skill", "--to", str(tmp_path / "skills")]) == OK
    assert file.read_text(encoding="utf-8") == newest


@pytest.mark.parametrize("own", ["my own skill", "mine{}", "{}mine"])
def test_a_skill_that_the_user_changed_is_replaced_by_force_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], own: str
) -> None:
    newest = (ROOT / "docs" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    file = tmp_path / "compileboard" / "SKILL.md"
    file.parent.mkdir()
    file.write_text(own.format(newest), encoding="utf-8")
    assert main(["skill", "--to", str(tmp_path)]) == FAILED
    assert capsys.readouterr().err == f"{file} was changed; `--force` replaces it\n"
    assert file.read_text(encoding="utf-8") == own.format(newest)
    assert main(["skill", "--to", str(tmp_path), "--force"]) == OK
    assert file.read_text(encoding="utf-8") == newest


def test_a_skill_that_cannot_be_written_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "compileboard").write_text("a file", encoding="utf-8")
    assert main(["skill", "--to", str(tmp_path)]) == FAILED
    assert "cannot be written: " in capsys.readouterr().err
