"""Dashboards that listen on a store, as other processes find them."""

import json
import os
from pathlib import Path

import pytest

from core import Store
from core.runs.processes.servers import DIRECTORY

URL = "http://127.0.0.1:8501"


def test_a_dashboard_is_found_while_it_listens(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.announced(URL):
        assert (store.dashboard(), (tmp_path / DIRECTORY).stat().st_mode & 0o077) == (URL, 0)
    assert (store.dashboard(), list((tmp_path / DIRECTORY).iterdir())) == ("", [])


def test_a_store_that_cannot_be_written_stops_no_dashboard(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / DIRECTORY).write_text("no directory")
    with store.announced(URL):
        assert store.dashboard() == ""


@pytest.mark.parametrize(
    "left",
    [
        b"{",
        json.dumps({"url": URL, "handle": f"local:{os.getpid()}@12.00"}).encode(),
        json.dumps({"url": "javascript:alert(1)", "handle": "other:1"}).encode(),
        b"x" * 20_000,
    ],
    ids=["damaged", "of another process", "no address", "large"],
)
def test_what_an_ended_dashboard_left_or_what_is_no_address_is_not_shown(tmp_path: Path, left: bytes) -> None:
    store = Store(tmp_path)
    (tmp_path / DIRECTORY).mkdir()
    (tmp_path / DIRECTORY / "1.json").write_bytes(left)
    assert store.dashboard() == ""
