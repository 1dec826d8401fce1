"""`core profile` joins a profile to a stored run, and `core export` writes a run for Perfetto."""

import gzip
import json
from pathlib import Path

import pytest

from core.commands.main import main
from tests.support.homes import add_run, add_scenario
from tests.support.profiles import LOG, PROFILE


def test_a_profile_is_stored_joined_and_printed(empty_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = add_run(empty_home, "h100", gzip.decompress(LOG.read_bytes()), kind="log")
    assert main(["profile", run.id]) == 3
    assert "This run has no profile." in capsys.readouterr().err
    assert main(["profile", run.id, str(PROFILE)]) == 0
    first = capsys.readouterr().out
    assert first.startswith("192 of 192 kernel slices of compiled graphs have their kernel")
    assert "idle" in first
    assert main(["profile", run.id]) == 0
    assert capsys.readouterr().out == first
    assert main(["profile", run.id, "/no/such/file"]) == 3


def test_a_run_is_written_for_perfetto(empty_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = add_scenario(empty_home, "measured")
    assert main(["export", run, "--perfetto", str(tmp_path / "trace.json")]) == 0
    assert "ui.perfetto.dev" in capsys.readouterr().out
    trace = json.loads((tmp_path / "trace.json").read_bytes())
    assert {event["ph"] for event in trace["traceEvents"]} >= {"M", "X"}
