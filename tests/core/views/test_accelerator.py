"""The accelerator's segments, programs, calls and options in sentences and rows."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, Model
from core.accelerator.program.file import write_program
from core.accelerator.program.program import PROGRAMS
from core.job.model import OptionValue
from core.report import Crossing, ProgramBuffer
from core.views.accelerator.program import ProgramFileView
from core.views.accelerator.run import AcceleratorOptions, AcceleratorView, SegmentView, crossing_words
from tests.support.logs import report_of
from tests.support.pipelines import SEGMENT, pipeline_log
from tests.support.programs import layer
from tests.support.tables import texts

REPORT = report_of(pipeline_log())
VIEW = AcceleratorView(REPORT, REPORT.compilations[0])


def segment() -> SegmentView:
    return VIEW.segments[VIEW.largest]


def test_title_and_division_count_ops_and_bytes() -> None:
    assert VIEW.scope + VIEW.title == "5 of 6 ops in 1 segment on the accelerator: 5 program entries, 2.64 kB."
    assert segment().division == (
        "The inference graph of 6 ops: 1 segment, 128 B in and 60 B out across its borders; 1 op stays with torch; "
        "1 parameter became constants."
    )
    assert segment().label == "inference · segment_0 · 5 ops"


def test_the_order_has_segments_and_the_ops_that_torch_runs() -> None:
    assert [stop.name for stop in segment().order.rows] == ["segment_0", "cumsum"]
    assert [*map(segment().first_node, segment().order.rows)] == [SEGMENT.nodes[0], "cumsum"]
    assert segment().refusals == [("1 op", "no kernel for aten.cumsum.default", "`cumsum`")]


def test_a_program_has_entries_passes_and_memory() -> None:
    program = segment().program
    assert program is not None
    assert program.words.startswith("5 ops of the graph became 2 inputs, 2 instructions and 1 result.")
    assert [row["op"] for row in texts(program.instructions({}))] == [entry.op for entry in SEGMENT.entries]
    assert program.memory.startswith("Temporaries of 192 B in an arena of 128 B, 66.7 % of that, because ")
    assert program.pass_diff(0) is None
    assert list(program.arena_marks) == ["arena 128 B", "each by itself 192 B"]


def test_a_segment_without_a_program_says_why() -> None:
    whole = replace(segment(), segment=None)
    broken = replace(segment(), segment=replace(SEGMENT, problem="a size that no input tells"))
    assert (whole.program, broken.program, segment().missing_program) == (None, None, "")
    assert whole.missing_program == "Every op of this graph stays with torch, so there is no program."
    assert broken.missing_program == (
        "Torch runs this segment, since no program could be made: a size that no input tells."
    )


def test_calls_are_summed_up_and_disturbed_times_are_no_evidence() -> None:
    assert VIEW.calls.startswith("4 calls across the ABI: 4.00 ms in the runtime on 2 threads")
    assert crossing_words([], measured=True) == "No runtime call was recorded, for example because the run ended early."
    crossings: list[Crossing] = VIEW.crossings
    assert crossing_words(crossings, True, "the machine was busy").endswith(
        "1 input copied. The machine was busy: times are not reliable."
    )


@pytest.mark.parametrize(
    ("options", "values"),
    [
        (AcceleratorOptions(), None),
        (AcceleratorOptions(("relu", "add")), {"without": "relu add"}),
        (AcceleratorOptions(passes=("plan-memory",), freeze=True), {"passes": "plan-memory", "freeze": True}),
        (AcceleratorOptions(passes=()), {"passes": "none"}),
    ],
)
def test_options_are_read_from_the_job_that_they_are_applied_to(
    options: AcceleratorOptions, values: dict[str, OptionValue] | None
) -> None:
    job = options.applied(CompileJob(Model("sample", "mlp")))
    assert job.compile == CompileOptions(backend="accelerator", options=values)
    assert AcceleratorOptions.of(job) == options


def test_equal_runs_moved_no_op() -> None:
    changes = VIEW.changes(REPORT)
    assert (changes.words, changes.moved.rows) == ("Each op runs where it ran before.", [])


def test_a_run_of_another_backend_says_which() -> None:
    setting = replace(REPORT.setting, job={"compile": {"backend": "inductor"}})
    without = replace(REPORT, compilations=(), setting=setting)
    absence = AcceleratorView.absence(without, None)
    assert (absence.title, absence.words) == (
        "This run did not use the accelerator.",
        "This run used `inductor`.",
    )


def test_temporaries_are_drawn_at_their_place_or_stacked_without_one() -> None:
    program = segment().program
    assert program is not None
    sizes = ((64, 128), (32, 0), (16, None))
    buffers = [ProgramBuffer(f"t{at}", "temporary", *size, at, at + 1) for at, size in enumerate(sizes)]
    placed = replace(program, segment=replace(program.segment, buffers=tuple(buffers))).arena
    assert [(each.buffer.name, each.base, each.words[1]) for each in placed] == [
        ("t0", 128, "from byte 128 of the arena on"),
        ("t1", 0, "from byte 0 of the arena on"),
        ("t2", 96, "memory of its own"),
    ]


def test_seconds_of_the_programs_are_those_of_their_segments() -> None:
    view = segment()
    timed = replace(view.pipeline, times_s={"capture": 0.25, "programs": 9.0}, segments=(SEGMENT, SEGMENT))
    lowered = {name: 2 * seconds for name, seconds in SEGMENT.times_s.items()}
    stages = replace(view, pipeline=timed).stages
    assert list(stages.values()) == [0.25, *lowered.values()]


def test_rows_of_a_file_are_numbered_from_1(tmp_path: Path) -> None:
    (tmp_path / PROGRAMS).mkdir()
    (tmp_path / PROGRAMS / "a.cbp").write_bytes(write_program(layer()))
    view = ProgramFileView.open(tmp_path, replace(SEGMENT, file="a.cbp"))
    title, rows = view.dump("strings", 0)
    assert title == f"strings, rows 1 to {len(rows)} of {len(rows)}"
    assert [number for number, _, _ in rows] == list(range(1, len(rows) + 1))
    assert view.stretches("strings") == (1, "Which of 1 stretch of 512 rows")
