"""The commands `options` and `doctor`: what they print, and their exit codes."""

import json
from pathlib import Path

import pytest

from core.commands.main import main, make_parser
from core.commands.output import FAILED, OK


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    return tmp_path


def test_doctor_looks_without_torch_and_fails_without_a_compiler(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["doctor", "--no-compile"]) == OK
    assert capsys.readouterr().out.startswith("Everything that a run needs is here;")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    assert main(["doctor", "--no-compile", "--json"]) == FAILED
    states = {check["name"]: check["state"] for check in json.loads(capsys.readouterr().out)}
    assert (states["C++ compiler"], states["torch"]) == ("problem", "ok")


@pytest.mark.torch
@pytest.mark.usefixtures("one_engine")
def test_doctor_compiles_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == OK
    compiled = json.loads(capsys.readouterr().out)[-1]
    assert (compiled["name"], compiled["state"]) == ("Compiling", "ok")


@pytest.mark.long
@pytest.mark.torch
def test_doctor_says_that_a_function_does_not_compile(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A compiler that starts and compiles nothing."""
    broken = tmp_path / "broken"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo \'broken 1.0\'\nexit $([ "$1" = --version ]; echo $?)\n')
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    assert main(["doctor", "--json"]) == FAILED
    found = {check["name"]: check for check in json.loads(capsys.readouterr().out)}
    assert (found["C++ compiler"]["state"], found["Compiling"]["state"]) == ("ok", "problem")
    assert found["Compiling"]["found"]


@pytest.mark.torch
@pytest.mark.usefixtures("one_engine")
def test_options_are_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options", "recompile_limit", "--module", "dynamo", "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    assert found[0]["name"] == "accumulated_recompile_limit"
    assert {"cache_size_limit", "recompile_limit"} <= {option["name"] for option in found}
    assert main(["options", "epilogue_fusion", "--module", "inductor"]) == OK
    printed = capsys.readouterr().out
    assert "torch._inductor.config.epilogue_fusion = True\n    fuse pointwise into templates epilogues" in printed


def test_a_log_is_opened_at_a_port_without_a_browser() -> None:
    parsed = make_parser().parse_args(["open", "trace.log", "--follow", "--port", "8600", "--no-browser"])
    assert (parsed.path, parsed.follow, parsed.port, parsed.no_browser) == (Path("trace.log"), True, 8600, True)
