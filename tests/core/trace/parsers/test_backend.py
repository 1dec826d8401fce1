"""What a backend was given and told, as it stands in a log."""

import json
from pathlib import Path
from typing import Any

import pytest

from core import build_report
from core.report import AnnotationTable, Execution, Executions, Report
from core.trace.parsers.worker import MOST_ANNOTATION_COLUMNS, MOST_ANNOTATION_ROWS, MOST_CELL_CHARS
from tests.support.logs import record

COMPILE_ID = {"frame_id": 0, "frame_compile_id": 0}


def report_of(tmp_path: Path, *records: bytes) -> Report:
    log = tmp_path / "trace.log"
    log.write_bytes(b"".join(records))
    return build_report(log)


def artifact(name: str, payload: str, inside: bool = True, **said: str) -> bytes:
    header: dict[str, Any] = {"artifact": {"name": name, "encoding": "json", **said}}
    return record({**header, **(COMPILE_ID if inside else {})}, payload)


def test_a_table_that_is_reported_while_compiling_is_of_that_compilation_and_later_of_the_one_that_it_names(
    tmp_path: Path,
) -> None:
    table = {"title": "kernels", "columns": ["node", "µs", "hit"], "rows": [["mm", 1.5, True], [["x"], None, 2]]}
    found = report_of(
        tmp_path,
        artifact("backend_table", json.dumps(table)),
        artifact("backend_table", json.dumps({**table, "rows": [], "compilation": "0/0"}), inside=False),
    )
    columns = ("node", "µs", "hit")
    assert found.told_tables == (
        AnnotationTable("0/0", "kernels", columns, (("mm", 1.5, True), ("['x']", None, 2))),
        AnnotationTable("0/0", "kernels", columns, ()),
    )
    assert found.problems == ()


def test_a_table_is_bounded_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    wide, long = MOST_ANNOTATION_COLUMNS + 1, MOST_ANNOTATION_ROWS + 7
    table = {"title": "t" * 1_000, "columns": ["c"] * wide, "rows": [["v" * 1_000] * wide] * long}
    (found,) = report_of(tmp_path, artifact("backend_table", json.dumps(table))).told_tables
    assert (len(found.title), len(found.columns), len(found.rows), found.left_out) == (
        *(MOST_CELL_CHARS, MOST_ANNOTATION_COLUMNS, MOST_ANNOTATION_ROWS, 7),
    )
    assert found.rows[0] == ("v" * MOST_CELL_CHARS,) * MOST_ANNOTATION_COLUMNS


@pytest.mark.parametrize(
    "payload", ["[]", "{}", '{"columns": ["a"], "rows": [[1, 2]]}', '{"columns": ["a"], "rows": [1]}']
)
def test_what_is_no_table_is_counted_and_skipped(tmp_path: Path, payload: str) -> None:
    found = report_of(tmp_path, artifact("backend_table", payload))
    assert (found.told_tables, [problem.count for problem in found.problems]) == ((), [1])


def test_a_text_is_read_where_it_lies(tmp_path: Path) -> None:
    said = artifact("backend_text", "def forward(self, x):\n    return x", title="aten", language="python")
    (found,) = report_of(tmp_path, said).told_texts
    lies = (tmp_path / "trace.log").read_bytes()[found.text.offset :][: found.text.length]
    assert (found.compilation, found.title, found.language) == ("0/0", "aten", "python")
    assert lies.replace(b"\n\t", b"\n").strip() == b"def forward(self, x):\n    return x"


def test_executions_are_those_of_the_run(tmp_path: Path) -> None:
    one = {"compilation": "0/0", "number": 0, "call": 0, "seconds": 0.5, "inputs": ["f32[4]"], "outputs": ["f32[4]"]}
    total = {"compilation": "0/0", "calls": 1, "measured": 3, "seconds": 2.0}
    said = json.dumps({"schema": 1, "executions": [one], "totals": [total]})
    found = report_of(tmp_path, artifact("compileboard_executions", said, inside=False))
    assert found.executions == (Execution("0/0", 0, 0, 0.5, ("f32[4]",), ("f32[4]",)),)
    assert found.ran == (Executions("0/0", 1, 3, 2.0),)
