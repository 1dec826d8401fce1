"""Small parts of pages on literal values: heights, colours, devices, charts."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from core import CompileJob, Environment, Model
from pages.components.boxes import view as boxes
from pages.look.palette import CODE_FRAME_PX, CODE_LINE_PX, code_height, kernel_colour, segment_colour
from pages.parts.performance.charts import COLOURS, samples_chart
from pages.parts.run import submit
from pages.session import server, tables, url
from pages.session.tables import HEAD_PX, LINE_PX

JOB = CompileJob(Model("sample", "mlp"))


def test_a_code_block_is_as_high_as_its_text_up_to_a_limit() -> None:
    three = CODE_FRAME_PX + 3 * CODE_LINE_PX
    assert code_height("a\nb\nc", three) == "content"
    assert code_height("a\nb\nc\nd", three) == three
    assert code_height("a\nb\nc", three - 1) == three - 1


def test_a_table_is_as_high_as_its_rows_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[dict[str, Any]] = []
    monkeypatch.setattr(st, "dataframe", lambda _, **look: drawn.append(look))
    limit = HEAD_PX + 5 * LINE_PX
    for count in (5, 6):
        tables.shown([], range(count), height=limit)
    tables.shown([], range(6))
    assert [look.get("height") for look in drawn] == ["content", limit, None]


def test_a_segment_has_the_colour_of_its_number() -> None:
    assert segment_colour("segment_3") == kernel_colour(3)
    assert segment_colour("segment_99999") == kernel_colour(99999)
    assert [segment_colour(name) for name in ("segment_100000", "segment_x", "fused_3", "segment")] == [""] * 4


@pytest.mark.parametrize(
    ("device", "missing"), [("cpu", ""), ("cuda", ""), ("cuda:1", ""), ("xpu", "xpu"), ("mps:0", "mps")]
)
def test_a_device_is_here_if_any_of_its_kind_is(monkeypatch: pytest.MonkeyPatch, device: str, missing: str) -> None:
    here = Environment(devices={"cpu": "Xeon", "cuda:0": "H100", "cuda:1": "H100"})
    monkeypatch.setattr(server, "environment", lambda: here)
    assert submit.missing_device(replace(JOB, device=device)) == missing


def test_samples_are_drawn_in_one_unit_and_in_the_colours_of_their_side() -> None:
    figure = samples_chart((2e-3, 4e-3), (1e-3, 3e-3), 1, "light")
    assert [list(trace.y) for trace in figure.data] == [pytest.approx([2, 4]), pytest.approx([1, 3])]
    assert [trace.marker.color for trace in figure.data] == [
        kernel_colour(COLOURS[side]) for side in ("eager", "compiled")
    ]


REPORTED = [("a", ["a"]), ("b", ["b"]), ("other", []), (None, []), (7, [])]


@pytest.mark.parametrize(("reported", "picked"), REPORTED)
def test_only_a_stage_that_was_drawn_is_picked(
    monkeypatch: pytest.MonkeyPatch, reported: object, picked: list[str]
) -> None:
    """What a browser reports is untrusted."""
    monkeypatch.setattr(boxes, "_COMPONENT", lambda *, on_picked_change, **_: on_picked_change())
    monkeypatch.setattr(st, "session_state", {"way": {"picked": reported}})
    stages = tuple(boxes.WayStage(id_, id_, "", "done", "", "") for id_ in "ab")
    got: list[str] = []
    boxes.way((stages,), "a", key="way", on_pick=got.append)
    assert got == picked


@pytest.mark.parametrize(("reported", "picked"), REPORTED)
def test_only_a_graph_that_was_drawn_is_picked(
    monkeypatch: pytest.MonkeyPatch, reported: object, picked: list[str]
) -> None:
    """What a browser reports is untrusted."""
    monkeypatch.setattr(boxes, "_COMPONENT", lambda *, on_picked_change, **_: on_picked_change())
    monkeypatch.setattr(st, "session_state", {"stages": {"picked": reported}})
    stretches = tuple(boxes.Stretch(id_, (boxes.Stop(id_, "1", ""),)) for id_ in "ab")
    got: list[str] = []
    boxes.stages(stretches, "a", key="stages", on_pick=got.append)
    assert got == picked


def test_a_clicked_cell_selects_the_id_of_its_row_before_the_page_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    clicked = SimpleNamespace(selection=SimpleNamespace(cells=[(1, "name")]))
    monkeypatch.setattr(st, "session_state", {"ops": clicked})
    monkeypatch.setattr(st, "query_params", {})
    monkeypatch.setattr(st, "dataframe", lambda _, *, on_select, **__: on_select())
    tables.picked_by_url([], ["n:add", "n:mul"], "ops")
    assert url.selected() == "n:mul"
