"""Graph breaks and reasons of recompiles, as torch words them."""

from pathlib import Path
from typing import Any

import pytest

from core import build_report
from core.report import Frame, GraphBreak, Place
from core.trace.parsers.dynamo import parse_graph_break, parse_recompile_reasons
from tests.support.logs import record


def test_graph_break_is_read() -> None:
    text = """Graph break in user code at /m.py:9
Graph Break Reason: Call to `torch._dynamo.graph_break()`
  Explanation: User-inserted graph break.
    Message: None
  Hint: Remove the call.
  Hint: Or keep it.

  Developer debug context: Called with args `[]`

 For more details about this graph break, please visit: https://example.org/gb/gb0025.html

User code traceback:
  File "/m.py", line 20, in outer
    return inner(x)
           ^^^^^^^^
  File "/m.py", line 9, in inner
    torch._dynamo.graph_break()
"""
    stack = (Frame("/m.py", 20, "outer", "return inner(x)"), Frame("/m.py", 9, "inner", "torch._dynamo.graph_break()"))
    assert parse_graph_break(text) == GraphBreak(
        reason="Call to `torch._dynamo.graph_break()`",
        explanation="User-inserted graph break. Message: None",
        hints=("Remove the call.", "Or keep it."),
        context="Called with args `[]`",
        registry_id="GB0025",
        place=Place("/m.py", 9),
        code="torch._dynamo.graph_break()",
        stack=stack,
        compilations=(),
    )


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        (("Avoid the check inside", "torch.compile regions."), ("Avoid the check inside torch.compile regions.",)),
        (("Move it outside ", "`torch.compile` region."), ("Move it outside `torch.compile` region.",)),
        (("Take a type", "(e.g. list)", "It may be a bug"), ("Take a type (e.g. list)", "It may be a bug")),
        (("Set `a = True`.", "or not"), ("Set `a = True`.", "or not")),
        (("Use another dict", "`torch.compile` may help"), ("Use another dict", "`torch.compile` may help")),
    ],
)
def test_a_hint_that_torch_splits_in_the_middle_of_a_sentence_is_one(
    hints: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    lines = "\n".join(f"  Hint: {hint}" for hint in hints)
    assert parse_graph_break(f"Reason\n  Explanation: none.\n{lines}\n").hints == expected


@pytest.mark.parametrize("text", ["", "something else", "\n\n"])
def test_graph_break_of_another_form_is_kept_as_text(text: str) -> None:
    found = parse_graph_break(text)
    assert (found.reason, found.place, found.stack) == (text.strip(), Place("", 0), ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["0/0: size mismatch. expected 8, actual 16", "[0/1]: n == '
         '2"]', [("0/0", "size mismatch. expected 8, actual 16"), ("0/1", "n == 2")]),
        ("0/1: first\n  goes on\n0/0: second", [("0/1", "first\n  goes on"), ("0/0", "second")]),
        ('"!2/0/1: x"', [("!2/0/1", "x")]),
        ("no id", [("", "no id")]),
        ("", [("", "")]),
    ],
)  # fmt: skip
def test_recompile_reasons_are_read(text: str, expected: list[tuple[str, str]]) -> None:
    assert parse_recompile_reasons(text) == expected


@pytest.mark.parametrize(
    ("file", "line", "expected"),
    [
        ("m.py", 7, Place("m.py", 7)),
        ("m.py", None, None),
        (None, 7, None),
        ("m.py", "seven", None),
        ("m.py", 0, Place("m.py", 0)),
    ],
)
def test_a_failures_place_is_reported_where_file_and_line_are(
    tmp_path: Path, file: Any, line: Any, expected: Place | None
) -> None:
    metrics = {"fail_type": "Unsupported", "fail_reason": "no", "fail_user_frame_filename": file}
    metrics["fail_user_frame_lineno"] = line
    log = tmp_path / "trace.log"
    log.write_bytes(record({"compilation_metrics": metrics, "frame_id": 0, "frame_compile_id": 0}))
    (found,) = build_report(log).compilations
    assert (found.error_type, found.error, found.error_place) == ("Unsupported", "no", expected)
