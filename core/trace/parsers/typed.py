"""Typed parsing of our own records: from JSON to a value, and from the value into the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from core.base.decoder import converted
from core.report.records import SCHEMA, Record
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Emitted = TypeVar("Emitted", bound=Record)
Value = TypeVar("Value", bound="DataclassInstance")


def typed_parser(
    kind: type[Emitted], parse: Callable[[ReportDraft, TraceRecord, Emitted], None]
) -> Callable[[ReportDraft, TraceRecord], None]:
    """Return a parser that gets its record typed.

    Records with another schema or field type are counted and skipped.
    """

    def parse_record(draft: ReportDraft, record: TraceRecord) -> None:
        data = draft.reader.json(record)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            draft.problem("record of another Compileboard version", record.offset)
            return
        parse(draft, record, converted(data, kind))

    return parse_record


def keep(draft: ReportDraft, record: TraceRecord, value: Record) -> None:
    """Add a value that the report stores unchanged."""
    draft.keep(record, value)


def report_value(kind: type[Value], record: Any, /, **extra: Any) -> Value:
    """Return a report value from the fields that it shares by name with a record, and from `extra`."""
    shared = {field.name: getattr(record, field.name) for field in fields(kind) if hasattr(record, field.name)}
    return kind(**{**shared, **extra})
