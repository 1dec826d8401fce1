"""The header: which compilation a page opens on, and the keys to the one before, the one after, and the list of all."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from core.analysis.work import captured_ops
from core.base.words import count
from core.views.progress import evidence
from pages import menu
from pages.components.keys import view
from pages.session import header
from tests.support.apps import assert_sound, chips, opened, picked_in
from tests.support.logs import recorded_report
from tests.support.places import TRACES

IDS = ["0/0", "0/1", "1/0"]


@pytest.mark.parametrize(
    ("pressed", "chosen", "then"),
    [
        ("]", "0/0", "0/1"),
        ("[", "0/1", "0/0"),
        ("[", "1/0", "0/1"),
        ("[", "0/0", "0/0"),
        ("]", "1/0", "1/0"),
        ("?", "0/1", "0/1"),
        ("", "0/1", "0/1"),
        ("]", "gone", "gone"),
    ],
)
def test_brackets_go_to_the_next_compilation_and_stay_at_the_ends(
    monkeypatch: pytest.MonkeyPatch, pressed: str, chosen: str, then: str
) -> None:
    monkeypatch.setattr(st, "session_state", {"compilation": chosen})
    header._press_key(IDS, pressed)
    assert st.session_state["compilation"] == then


def test_the_page_is_told_the_key_before_it_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Callable[[], None]] = []

    def component(*, on_pressed_change: Callable[[], None], **_: Any) -> SimpleNamespace:
        told.append(on_pressed_change)
        return SimpleNamespace(pressed="]")

    monkeypatch.setattr(view, "_COMPONENT", component)
    keys: list[str] = []
    view.page_keys(keys.append, key="k")
    for state in ({"pressed": "]"}, {"pressed": None}):
        monkeypatch.setattr(st, "session_state", {"k": state})
        told[0]()
    assert keys == ["]", ""]


@pytest.mark.parametrize(("pressed", "tables"), [("?", 4), ("]", 0)])
def test_a_question_mark_opens_the_list_of_keys(runs: dict[str, str], pressed: str, tables: int) -> None:
    app = opened(menu.GUARDS.script, runs["eager_backend"])
    picked_in(app, "page-keys", "pressed", pressed)
    assert_sound(app)
    assert len(app.table) == tables


def test_pages_open_on_the_compilation_with_the_most_ops(runs: dict[str, str]) -> None:
    report = recorded_report(TRACES / "foreign" / "trace.log")
    ops = {compilation.id: captured_ops(compilation) for compilation in report.compilations}
    assert len(set(ops.values())) > 1
    picker = opened(menu.KERNELS.script, runs["foreign"]).selectbox(key="compilation")
    assert picker.value == max(ops, key=ops.__getitem__)
    assert [option.split(" · ")[0] for option in picker.options] == [
        f"[{number}] {count(found, 'captured op')}" for number, found in ops.items()
    ]


def test_one_compilation_is_weighed_against_none(runs: dict[str, str]) -> None:
    assert opened(menu.KERNELS.script, runs["measured"]).selectbox(key="compilation").options == [
        "[0/0] TransformerBlock.forward"
    ]


def test_chips_begin_with_what_is_asked_first(runs: dict[str, str]) -> None:
    told = chips(opened(menu.OVERVIEW.script, runs["measured"]))
    assert told[0] == "done"
    assert [chip.rpartition(" ")[2] for chip in told[1:4]] == ["speedup", "breaks", "recompiles"]


def test_chip_and_table_count_the_same_ops(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["transformer_block"])
    assert "26 post-grad ops → 6 kernels" in chips(app)
    assert list(app.dataframe[0].value["post-grad ops"]) == [26]
    assert "26 ops fused into 6 kernels" in app.title[0].value
    lines = [line.text for line in evidence(recorded_report(TRACES / "transformer_block" / "trace.log"))]
    assert any(line.startswith("26 ops (and 24 views) fused into 9 launches of 6 kernels") for line in lines)
