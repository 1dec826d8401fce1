"""Where the project lies, which a worker is started in."""

import os
from pathlib import Path

import pytest

from core.base.machine import PROJECT_DIR, Load, Reading, build_once, python_path, shares


def test_a_worker_is_started_where_core_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (PROJECT_DIR / "core" / "base" / "machine.py").is_file()
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    assert python_path() == f"{PROJECT_DIR}{os.pathsep}elsewhere"
    monkeypatch.delenv("PYTHONPATH")
    assert python_path() == str(PROJECT_DIR)


def test_what_takes_long_to_build_is_built_once_and_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "library.so"

    def fail(place: Path) -> None:
        place.write_text("half")
        raise OSError("no compiler")

    def write(place: Path) -> None:
        place.write_text("whole")

    with pytest.raises(OSError, match="no compiler"):
        build_once(path, fail)
    assert not path.exists()
    assert build_once(path, write)
    assert not build_once(path, fail)
    assert path.read_text() == "whole"
    assert {entry.name for entry in path.parent.iterdir()} <= {"library.so", "lock"}


def test_the_load_is_the_share_of_other_processes_and_of_waiting() -> None:
    start = Reading(clock_s=10.0, busy_s=3.0, own_s=1.0, ran_s=2.0, waited_s=1.0, stolen_s=0.0)
    end = Reading(clock_s=20.0, busy_s=10.0, own_s=3.0, ran_s=5.0, waited_s=2.0, stolen_s=2.0)
    assert shares(start, end, 2) == Load(0.25, 0.25, 0.1)
    assert shares(start, Reading(20.0, 3.0, 9.0, None, None), 2) == Load(0.0, None, None)
    assert shares(start, Reading(11.0, 99.0, 1.0, 2.0, 1.0), 1) == Load(1.0, 0.0, None)
