"""`--engine`: what executes the runs of a command, or of the dashboard that it starts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.commands import open_log
from core.commands.main import main
from core.commands.output import OK, USAGE
from core.runs.engine.opening import VARIABLE

ENGINE = ("--engine", "ray:nowhere")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "the option wins")


@pytest.mark.parametrize("command", ["run", "bisect", "tour", "captures", "pipeline", "aoti", "neighbours", "sweep"])
def test_each_command_that_runs_a_model_has_it(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "mlp", *ENGINE]) == USAGE
    assert capsys.readouterr().err.startswith("the engine is 'ray:nowhere'; write ray://HOST:PORT, sandbox or")


@pytest.mark.parametrize("options", [(), ("--processes", "2")])
def test_the_dashboard_is_started_with_it(options: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    engines: list[str] = []

    @contextmanager
    def started(port: int, variables: Mapping[str, str], more: Sequence[str]) -> Iterator[tuple[SimpleNamespace, str]]:
        engines.append(variables[VARIABLE])
        yield SimpleNamespace(wait=lambda: 0, poll=lambda: 0), f"http://localhost:{port}"

    monkeypatch.setattr(open_log, "_dashboard", started)
    monkeypatch.setattr(open_log, "_keep", lambda *_: None)
    assert main(["dashboard", "--no-browser", *options, "--engine", "ray://nowhere:1"]) == OK
    assert engines == ["ray://nowhere:1"] * (2 if options else 1)
