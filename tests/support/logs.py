"""Logs of literal records, and what is read of them."""

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from core import Report, build_report, from_json, to_json
from core.analysis.comparison.matching import RunSide
from core.runs.stored import side_of_log
from core.trace.reader import TraceReader, TraceRecord
from tests.support.places import ROOT

PREFIX = "V1121 03:34:01.171000 5351 torch/_dynamo/output_graph.py:2841] "


def record(header: dict[str, Any], payload: str | None = None) -> bytes:
    """One record as torch writes it."""
    if payload is not None:
        md5 = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
        header = {**header, "has_payload": md5}
    lines = [
        PREFIX + json.dumps(header),
        *(["\t" + line for line in payload.split("\n")] if payload is not None else []),
    ]
    return "\n".join(lines).encode() + b"\n"


@contextmanager
def opened(data: bytes) -> Iterator[TraceReader]:
    with tempfile.NamedTemporaryFile(suffix=".log") as file:
        file.write(data)
        file.flush()
        with TraceReader(Path(file.name)) as reader:
            yield reader


def report_of(data: bytes) -> Report:
    """Return the report of a log."""
    with tempfile.NamedTemporaryFile(suffix=".log") as file:
        file.write(data)
        file.flush()
        return build_report(Path(file.name))


@cache
def recorded_report(log: Path) -> Report:
    """Return the report of a log that the repository holds, which all tests of a process share."""
    assert log.is_relative_to(ROOT), "a log that a test writes may change"
    return build_report(log)


@cache
def recorded_side(log: Path) -> RunSide:
    """Return such a log as a side of a comparison, which all tests of a process share."""
    assert log.is_relative_to(ROOT), "a log that a test writes may change"
    return side_of_log(log)


def report_survives(data: bytes) -> None:
    """A log becomes a report that can be stored and opened, whatever is in the log."""
    with tempfile.NamedTemporaryFile(suffix=".log") as file:
        file.write(data)
        file.flush()
        report = build_report(Path(file.name))
    assert from_json(to_json(report)) == report


def read(data: bytes) -> tuple[list[TraceRecord], dict[str, int]]:
    with opened(data) as reader:
        return list(reader.records()), dict(reader.problems)
