"""The transport of an engine's address: the module of its scheme, which needs no row in any table."""

from importlib import import_module
from pathlib import Path

import pytest

from core import Store
from core.base.errors import SettingError
from core.runs.engine import transports
from core.runs.engine.cluster.remote import RemoteEngine
from core.runs.engine.opening import open_engine

PAPER = """
FORM = "paper://DESK"
OPENED = []


class Paper:
    scheme = "paper"

    def peers(self):
        return {}

    def call(self, peer, data, limit_s):
        raise AssertionError

    def close(self):
        pass


def transport(address, store, code_allowed):
    OPENED.append((address, store.home, code_allowed))
    return Paper()
"""


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A transport in a file of its own."""
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "paper.py").write_text(PAPER)
    monkeypatch.setattr(transports, "__path__", [*transports.__path__, str(folder)])
    return folder


@pytest.mark.usefixtures("paper")
def test_a_file_is_all_that_another_way_to_machines_needs(tmp_path: Path) -> None:
    engine = open_engine(Store(tmp_path), code_allowed=False, address="paper://desk")
    assert isinstance(engine, RemoteEngine)
    assert engine.nodes("cpu") == ()
    opened = import_module(f"{transports.__name__}.paper").OPENED
    assert opened == [("paper://desk", tmp_path, False)]
    engine.close()


@pytest.mark.usefixtures("paper")
def test_an_unknown_address_is_refused_with_the_forms_of_all() -> None:
    with pytest.raises(SettingError) as refused:
        open_engine(Store(), address="stone://desk")
    assert str(refused.value) == (
        "the engine is 'stone://desk'; write ray://HOST:PORT, sandbox, workers://HOST:PORT or paper://DESK, "
        "or leave it empty"
    )
