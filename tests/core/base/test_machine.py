"""Where the project lies, which a worker is started in."""

import os

import pytest

from core.base.machine import PROJECT_DIR, python_path


def test_a_worker_is_started_where_core_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (PROJECT_DIR / "core" / "base" / "machine.py").is_file()
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    assert python_path() == f"{PROJECT_DIR}{os.pathsep}elsewhere"
    monkeypatch.delenv("PYTHONPATH")
    assert python_path() == str(PROJECT_DIR)
