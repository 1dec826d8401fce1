"""Conversion of a report to JSON and back."""

from __future__ import annotations

from typing import Any

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, ReportError
from core.report.model import SCHEMA, Report


def to_json(report: Report, indent: int = 0) -> bytes:
    """Return the report as JSON; numbers that JSON lacks (inf, nan) become null."""
    data = msgspec.json.encode(report)
    return msgspec.json.format(data, indent=indent) if indent else data


def from_json(data: bytes) -> Report:
    """Read a report; raises ReportError for another schema version or a damaged file."""
    try:
        report = decoded_as(data, Report)
    except DecodeError as error:
        raise ReportError(f"the stored report cannot be read: {error}") from None
    if report.schema != SCHEMA:
        raise ReportError(f"the report has schema {report.schema}; this version reads {SCHEMA}")
    return report


def as_json(value: Any) -> bytes:
    """Return any part of a report, or a list of parts, as readable JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2)
