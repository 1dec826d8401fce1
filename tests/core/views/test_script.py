"""A script's run in rows and lines, also from a log that does not fit itself."""

from dataclasses import replace

from core.report import EntryPoint, Place, Script
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


def test_calls_outside_the_recorded_ones_are_not_seen() -> None:
    library = Place("/venv/site-packages/fast/wrap.py", 9)
    entry = EntryPoint("Net", Place("/home/me/train.py", 4), "inductor", library=library)
    script = Script(arguments=(), exit_code=0, seconds=1.0, entries=(entry,), calls=(0,))
    seen, unseen = ScriptView(script, ()), ScriptView(script, (), unseen=True)
    assert (seen.title, unseen.title) == (
        "Exit code 0 after 1.00 s: 1 compiled callable, 0 calls.",
        "Exit code 0 after 1.00 s: 1 compiled callable, calls not seen.",
    )
    assert unseen.lines[-1] == "  Net, compiled at train.py:4 (by wrap.py:9) for inductor: calls not seen"
    assert [row["calls"] for row in unseen.entry_rows] == ["calls not seen"]


def test_a_place_in_a_notebook_is_a_cell_and_a_line() -> None:
    assert [Place(file, 2).short for file in ("/runs/1/notebook/cell 3.py", "/home/me/m.py")] == [
        "cell 3, line 2",
        "m.py:2",
    ]
