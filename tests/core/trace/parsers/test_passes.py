"""Records of passes and of what a compiled forward keeps."""

from pathlib import Path

from core import build_report
from tests.support.homes import record


def test_what_is_kept_of_no_joint_graph_is_of_no_use_and_no_problem(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    log.write_bytes(record("compileboard_kept", {"schema": 1, "values": []}, frame_id=0, frame_compile_id=0))
    report = build_report(log, strict=True)
    assert [compilation.partitions for compilation in report.compilations] == [()]
    assert report.problems == ()
