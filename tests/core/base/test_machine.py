"""Where the project lies, which a worker is started in."""

import os
from pathlib import Path

import pytest

from core.base.machine import PROJECT_DIR, build_once, python_path


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

    with pytest.raises(OSError, match="no compiler"):
        build_once(path, fail)
    assert not path.exists()
    assert build_once(path, lambda place: place.write_text("whole") and None)
    assert not build_once(path, fail)
    assert path.read_text() == "whole"
    assert {entry.name for entry in path.parent.iterdir()} <= {"library.so", "lock"}
