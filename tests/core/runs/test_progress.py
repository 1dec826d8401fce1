"""Where a run stands, by what its growing log holds."""

from pathlib import Path

import pytest

from core import CompileJob, DynamicDim, GrowingReport, Model, Packaging, Progress, is_compiled, progress
from core.report import Phase
from core.runs.progress import TimelinePhase, step_words
from tests.support.homes import line, record

JOB = CompileJob(Model("sample", "mlp"))
TAIL = ("measuring", "timing the kernels")
PACKAGED = CompileJob(Model("sample", "mlp"), aoti=Packaging((DynamicDim("batch"),)))
OF_CALL_0 = ("making the inputs of call 0", "call 0: eager", "call 0: compiled", "call 0: comparing")


def phase(kind: str, name: str, ts: float) -> bytes:
    return line({"chromium_event": {}}, f'{{"ph": "{kind}", "name": "{name}", "ts": {ts}, "tid": 0, "args": {{}}}}')


def step(name: str) -> bytes:
    return record("compileboard_step", {"schema": 1, "name": name})


def known(log: Path, data: bytes, job: CompileJob | None = None) -> Progress:
    log.write_bytes(data)
    return progress(GrowingReport(log).look(), job)


def test_before_torch_has_opened_a_log_there_is_nothing_to_show(tmp_path: Path) -> None:
    assert progress(GrowingReport(tmp_path / "none.log").look()) == Progress()


def test_a_growing_log_shows_the_steps_what_was_made_and_what_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    compile_id = {"frame_id": 0, "frame_compile_id": 0}
    found = known(
        log,
        step("loading the model")
        + step("call 0: compiled")
        + phase("B", "outer", 1)
        + phase("B", "over", 2)
        + phase("E", "over", 3)
        + phase("B", "inner", 4)
        + line({"dynamo_output_graph": {}, **compile_id}, "")
        + record("compileboard_kernel", {}, **compile_id)
        + record("compileboard_kernel", {}, **compile_id)
        + b'V0101 00:00:00.000000 1 a.py:1] {"dynamo_sta',
    )
    assert found.steps == ("loading the model", "call 0: compiled")
    assert [(item.name, item.end_us) for item in found.phases] == [("outer", None), ("over", 3), ("inner", None)]
    assert found.now == (Phase("outer", "", 1, None, 0), Phase("inner", "", 4, None, 1))
    assert (found.compilations, found.graphs, found.kernels, found.log_bytes) == (1, 1, 2, log.stat().st_size)


@pytest.mark.parametrize(
    ("done", "job", "to_come"),
    [
        ([], JOB, ("loading the model", *OF_CALL_0, *TAIL)),
        (["loading the model", *OF_CALL_0[:3]], JOB, ("call 0: comparing", *TAIL)),
        ([*OF_CALL_0, "making the inputs of call 1", "call 1: eager"], JOB, TAIL),
        (["measuring"], JOB, ("timing the kernels",)),
        (["measuring"], CompileJob(Model("sample", "mlp"), numerics="nodes"),
         ("timing the kernels", "holding each node against float64")),
        (OF_CALL_0[:1], CompileJob(Model("sample", "mlp"), target="h100"),
         ("call 0: eager", "call 0: generating for NVIDIA H100")),
        (["measuring", "timing the kernels"], PACKAGED,
         ("exporting the model", "compiling the package", "running the package from Python",
          "running the package from C++", "timing the package", "trying sizes")),
        (["loading the model"], None, ()),
    ],
)  # fmt: skip
def test_what_is_to_come_is_known_from_the_start(
    tmp_path: Path, done: list[str], job: CompileJob | None, to_come: tuple[str, ...]
) -> None:
    assert known(tmp_path / "trace.log", b"".join(map(step, done)), job).to_come == to_come


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", ""),
        (step("call 0: compiled") + phase("B", "dynamo", 1) + phase("B", "GraphLowering.run", 2),
         "Inductor rewrites the graph and lowers it"),
        (step("call 0: compiled") + phase("B", "dynamo", 1) + phase("B", "async_compile.wait", 2),
         "the kernels are compiled"),
        (step("call 0: comparing"), "call 0: comparing with eager"),
        (phase("B", "dynamo", 1) + step("measuring"), "measuring eager and compiled, interleaved"),
    ],
)  # fmt: skip
def test_what_is_done_now_is_reported_in_plain_words(tmp_path: Path, data: bytes, words: str) -> None:
    assert known(tmp_path / "trace.log", data).words == words


def test_a_step_that_is_not_known_is_reported_as_it_is() -> None:
    assert step_words("call 2: generating for NVIDIA H100") == "call 2: generating for NVIDIA H100"
    assert step_words("making the inputs of call 3") == "making the inputs of call 3"
    assert step_words("<b>") == "<b>"


def test_all_is_compiled_once_the_measuring_begins() -> None:
    assert not is_compiled(("call 0: comparing",))
    assert is_compiled(("call 0: comparing", "measuring"))
    assert is_compiled(("call 0: comparing", "holding each node against float64"))
    assert is_compiled(("call 0: comparing", "exporting the model"))


def test_the_timeline_starts_with_the_first_phase_and_an_open_phase_reaches_to_its_end() -> None:
    timed = Progress(
        phases=(
            Phase("entire_frame_compile", "", 1e6, None, 0),
            Phase("too short", "", 2e6, 2e6 + 100, 1),
            Phase("compile_file", "", 2e6, 4e6, 1),
        )
    )
    outer = TimelinePhase("entire_frame_compile", "dynamo", 0, 0.0, 3.0, True)
    inner = TimelinePhase("compile_file", "compile", 1, 1.0, 2.0, False)
    assert (timed.length_s, timed.timeline(9), timed.timeline(1)) == (3.0, (outer, inner), (inner,))
    assert (Progress().length_s, Progress().timeline(9)) == (0.0, ())
