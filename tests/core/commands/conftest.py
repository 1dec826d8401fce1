"""What tests of commands share: torch is started once for all commands that need it."""

import pytest

from core import LocalEngine
from core.runs.engine import opening


@pytest.fixture
def one_engine(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that would start torch for themselves get the engine of the test run, and leave it open."""
    monkeypatch.setattr(engine, "close", lambda: None)
    monkeypatch.setattr(opening, "LocalEngine", lambda _cache: engine)
