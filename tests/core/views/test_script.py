"""A script's run in rows and lines, also from a log that does not fit itself."""

from dataclasses import replace

from core.views.progress import ScriptView
from tests.support.logs import recorded_report
from tests.support.places import TRACES

REPORT = recorded_report(TRACES / "script" / "trace.log")
VIEW = ScriptView.of(REPORT)


def test_entry_points_and_their_calls_are_lines() -> None:
    assert VIEW is not None
    assert VIEW.lines[0].endswith(": 2 compiled callables, 5 calls.")
    assert VIEW.lines[2] == "  double, compiled at model.py:5 for inductor: 3 calls"
    assert VIEW.lines[5].startswith("    call 2 (f32[4]): ran eagerly, ")
    assert VIEW.lines[5].endswith(", stance force_eager")
    assert (VIEW.left_out, len(VIEW.call_rows), len(VIEW.lines)) == ("", 5, 9)


def test_counts_and_entry_points_of_a_damaged_log_need_not_fit() -> None:
    script = REPORT.script
    assert script is not None
    calls = tuple(replace(call, entry=7, raised="\x1b[2J\nno") for call in REPORT.calls)
    for counts in ((), (9_000,), (1, 2, 3)):
        view = ScriptView(replace(script, calls=counts), calls)
        assert len(view.entry_rows) == min(len(counts), 2)
        assert {row["callable"] for row in view.call_rows} == {""}
        assert len(view.lines) == 2 + min(len(counts), 2)
    named = replace(script, entries=(replace(script.entries[0], name="a\nb\x1b[2J"),), calls=(1,))
    (line,) = ScriptView(named, ()).lines[2:]
    assert line.isprintable()
