"""Files that are asked for where none can be written: an error in words, whichever command was asked."""

from pathlib import Path

import pytest

from core.commands.main import main
from core.commands.output import FAILED
from tests.support.homes import add_scenario


@pytest.mark.parametrize(
    "command", [["export", "--html"], ["export", "--perfetto"], ["debug", "--out"], ["issue", "--out"]]
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
