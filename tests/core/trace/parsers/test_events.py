"""Phases, of events that begin and end."""

import json
from pathlib import Path
from typing import Any

import pytest

from core import build_report
from core.report import Phase
from core.trace.parsers import draft
from tests.support.logs import record, report_of


def phases(tmp_path: Path, *events: dict[str, Any]) -> tuple[Phase, ...]:
    head = "V1121 03:34:01.171000 5351 torch/_dynamo/utils.py:1] "
    log = tmp_path / "events.log"
    log.write_text("".join(f"{head}{json.dumps({'chromium_event': {'tid': 0, **event}})}\n" for event in events))
    return build_report(log, strict=True).phases


def event(kind: str, name: str, ts: float, **args: str) -> dict[str, Any]:
    return {"ph": kind, "name": name, "ts": ts, "args": args}


def test_phases_nest(tmp_path: Path) -> None:
    events = [event("B", "a", 1, compile_id="0/0"), event("B", "b", 2), event("E", "b", 3), event("E", "a", 4)]
    assert phases(tmp_path, *events) == (Phase("a", "0/0", 1, 4, 0), Phase("b", "0/0", 2, 3, 1))


def test_phase_that_never_ends_has_no_end(tmp_path: Path) -> None:
    assert phases(tmp_path, event("B", "a", 1), event("B", "b", 2), event("E", "b", 3)) == (
        Phase("a", "", 1, None, 0), Phase("b", "", 2, 3, 1),
    )  # fmt: skip


def test_phase_that_was_left_open_ends_with_the_one_around_it(tmp_path: Path) -> None:
    found = phases(tmp_path, event("B", "a", 1), event("B", "b", 2), event("E", "a", 3), event("E", "b", 4))
    assert found == (Phase("a", "", 1, 3, 0), Phase("b", "", 2, 3, 1))


def test_phases_of_threads_are_apart(tmp_path: Path) -> None:
    other = {"tid": 1}
    found = phases(
        tmp_path, event("B", "a", 1), event("B", "b", 2) | other, event("E", "a", 3), event("E", "b", 4) | other
    )
    assert found == (Phase("a", "", 1, 3, 0), Phase("b", "", 2, 4, 2, thread=1))


def test_what_threads_do_beside_a_phase_does_not_end_it(tmp_path: Path) -> None:
    here = {"compile_id": "0/0"}
    nowhere = {"compile_id": "None"}
    found = phases(
        tmp_path,
        event("B", "load", 1, **here),
        event("B", "file", 2, **here),
        event("E", "file", 3, **here),
        event("B", "file", 4, **nowhere),
        event("B", "wait", 5, **here),
        event("B", "file", 6, **nowhere),
        event("E", "file", 7, **nowhere),
        event("B", "file", 8, **nowhere),
        event("E", "file", 9, **nowhere),
        event("E", "file", 10, **nowhere),
        event("E", "wait", 11, **here),
        event("E", "load", 12, **here),
    )
    assert found == (
        Phase("load", "0/0", 1, 12, 0),
        Phase("file", "0/0", 2, 3, 1),
        Phase("file", "0/0", 4, 7, 2, thread=1),
        Phase("wait", "0/0", 5, 11, 1),
        Phase("file", "0/0", 6, 9, 4, thread=2),
        Phase("file", "0/0", 8, 10, 3, thread=1),
    )


def test_outcomes_of_caches_are_unique_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_up(number: int) -> bytes:
        header = {"artifact": {"name": "fx_graph_cache_hit", "encoding": "json"}}
        return record({**header, "frame_id": number, "frame_compile_id": 0, "attempt": 0}, "{}")

    data = b"".join(looked_up(number) for number in (0, 1, 0, 2))
    assert [event.compilation for event in report_of(data).caches] == ["0/0", "1/0", "2/0"]
    monkeypatch.setattr(draft, "MAX_ITEMS", 2)
    assert [event.compilation for event in report_of(data).caches] == ["0/0", "1/0"]
