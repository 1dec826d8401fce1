"""Texts of a package in a log: kept where they lie, if the log says what they are."""

from pathlib import Path
from typing import Any

import pytest

from core import build_report
from core.trace.parsers.build import load_text
from tests.support.homes import line


def logged(path: Path, **body: Any) -> Path:
    log = path / "trace.log"
    log.write_bytes(line({"artifact": {"name": "aoti_text", "encoding": "string", **body}}, "int main() {\n}\n"))
    return log


def test_a_text_of_a_package_is_read_as_it_was_written(tmp_path: Path) -> None:
    log = logged(tmp_path, part="runner", title="main.cpp", language="cpp")
    (found,) = build_report(log).package_texts
    assert (found.part, found.name, found.language) == ("runner", "main.cpp", "cpp")
    assert load_text(log, found.text) == "int main() {\n}\n"


@pytest.mark.parametrize("body", [{}, {"part": "virus", "title": "x", "language": "y"}, {"part": "file", "title": 1}])
def test_a_text_that_does_not_say_what_it_is_is_counted_and_skipped(tmp_path: Path, body: dict[str, Any]) -> None:
    report = build_report(logged(tmp_path, **body))
    assert report.package_texts == ()
    assert [(problem.what, problem.count) for problem in report.problems] == [("unreadable artifact:aoti_text", 1)]
