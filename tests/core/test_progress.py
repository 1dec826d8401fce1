"""Where a run stands, read from its growing log."""

from pathlib import Path

from core import Progress, progress
from core.report import Phase
from tests.support.homes import line, record

NOTHING = Progress((), (), 0, 0, 0, 0)


def phase(kind: str, name: str, ts: float) -> bytes:
    return line({"chromium_event": {}}, f'{{"ph": "{kind}", "name": "{name}", "ts": {ts}, "tid": 0, "args": {{}}}}')


def test_before_torch_has_opened_a_log_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert progress(None) == NOTHING
    assert progress(tmp_path / "none.log") == NOTHING


def test_a_growing_log_tells_the_steps_what_was_made_and_what_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    compile_id = {"frame_id": 0, "frame_compile_id": 0}
    log.write_bytes(
        record("compileboard_step", {"schema": 1, "name": "loading the model"})
        + record("compileboard_step", {"schema": 1, "name": "call 0: compiled"})
        + phase("B", "outer", 1)
        + phase("B", "over", 2)
        + phase("E", "over", 3)
        + phase("B", "inner", 4)
        + line({"dynamo_output_graph": {}, **compile_id}, "")
        + record("compileboard_kernel", {}, **compile_id)
        + record("compileboard_kernel", {}, **compile_id)
        + b'V0101 00:00:00.000000 1 a.py:1] {"dynamo_sta'
    )
    found = progress(log)
    assert found.steps == ("loading the model", "call 0: compiled")
    assert [(item.name, item.end_us) for item in found.phases] == [("outer", None), ("over", 3), ("inner", None)]
    assert found.now == (Phase("outer", "", 1, None, 0), Phase("inner", "", 4, None, 1))
    assert (found.compilations, found.graphs, found.kernels, found.log_bytes) == (1, 1, 2, log.stat().st_size)
