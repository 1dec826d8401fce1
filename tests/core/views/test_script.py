"""A script's run in rows and lines, also from a log that does not fit itself."""

from dataclasses import replace

from core.report import EntryPoint, Place, Script
from core.views.blocks import Table, TextTable
from core.views.progress import ScriptView
from tests.support.logs import recorded_report
from tests.support.places import TRACES

REPORT = recorded_report(TRACES / "script" / "trace.log")
VIEW = ScriptView.of(REPORT)


def tables_of(view: ScriptView) -> dict[str, TextTable]:
    return {block.name: block.texts(block.rows) for block in view.blocks if isinstance(block, Table)}


def test_entry_points_and_their_calls_are_tables() -> None:
    assert VIEW is not None
    assert VIEW.title.endswith(": 2 compiled callables, 5 calls.")
    entries, calls = tables_of(VIEW).values()
    assert entries.rows[0] == ("double", "model.py:5", "inductor", "", "3")
    assert (calls.rows[2][2], calls.rows[2][4], calls.rows[2][6]) == ("f32[4]", "ran eagerly", "force_eager")
    assert (VIEW.left_out, len(calls.rows)) == ("", 5)


def test_counts_and_entry_points_of_a_damaged_log_need_not_fit() -> None:
    script = REPORT.script
    assert script is not None
    calls = tuple(replace(call, entry=7, raised="\x1b[2J\nno") for call in REPORT.calls)
    for counts in ((), (9_000,), (1, 2, 3)):
        view = ScriptView(replace(script, calls=counts), calls)
        tables = tables_of(view)
        assert len(view.counted) == min(len(counts), 2)
        assert {row[1] for row in tables["script-calls"].rows} == {""}
    named = replace(script, entries=(replace(script.entries[0], name="a\nb\x1b[2J"),), calls=(1,))
    (table,) = tables_of(ScriptView(named, ())).values()
    assert "".join(table.rows[0]).isprintable()


def test_calls_outside_the_recorded_ones_are_not_seen() -> None:
    library = Place("/venv/site-packages/fast/wrap.py", 9)
    entry = EntryPoint("Net", Place("/home/me/train.py", 4), "inductor", library=library)
    script = Script(arguments=(), exit_code=0, seconds=1.0, entries=(entry,), calls=(0,))
    seen, unseen = ScriptView(script, ()), ScriptView(script, (), unseen=True)
    assert (seen.title, unseen.title) == (
        "Exit code 0 after 1.00 s: 1 compiled callable, 0 calls.",
        "Exit code 0 after 1.00 s: 1 compiled callable, calls not seen.",
    )
    (table,) = tables_of(unseen).values()
    assert table.rows == (("Net", "train.py:4 (by wrap.py:9)", "inductor", "", "calls not seen"),)


def test_a_place_in_a_notebook_is_a_cell_and_a_line() -> None:
    assert [Place(file, 2).short for file in ("/runs/1/notebook/cell 3.py", "/home/me/m.py")] == [
        "cell 3, line 2",
        "m.py:2",
    ]
