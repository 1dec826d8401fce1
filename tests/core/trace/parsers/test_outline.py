"""The outline of a log says what its report says, from the small records alone."""

import json
from pathlib import Path

import pytest

from core import build_report
from core.analysis.durations import compile_time_s
from core.report import Report
from core.trace.index import index_of
from core.trace.parsers.build import outline
from tests.support.logs import record
from tests.support.places import TRACES

SCENARIOS = sorted(path.parent.name for path in TRACES.glob("*/trace.log"))


def facts(report: Report) -> list[object]:
    compilations = [
        (compilation.id, compilation.frame, compilation.status, compilation.error, compilation.graph_op_count)
        for compilation in report.compilations
    ]
    return [compilations, report.graph_breaks, report.recompiles, report.kinds, report.log_bytes]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_an_outline_says_what_the_report_says(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    report, first = build_report(log), outline(index_of(log))
    assert facts(first) == facts(report)
    # Torch's metrics begin a little after the event of the same phase.
    assert compile_time_s(first) == pytest.approx(compile_time_s(report), rel=0.2, abs=0.005)


@pytest.mark.parametrize("body", ['"a text"', "[1]", "null", '{"start_time_us": "a", "duration_us": {}}'])
def test_metrics_that_are_none_give_no_phase(tmp_path: Path, body: str) -> None:
    log = tmp_path / "trace.log"
    log.write_bytes(record({"compilation_metrics": json.loads(body), "frame_id": 0, "frame_compile_id": 0}))
    assert outline(index_of(log)).phases == ()
