"""From the JSON of one of our own records to its type, and from there to a value of the report."""

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

Said = TypeVar("Said", bound=Record)
Value = TypeVar("Value", bound="DataclassInstance")


def typed(
    kind: type[Said], parse: Callable[[ReportDraft, TraceRecord, Said], None]
) -> Callable[[ReportDraft, TraceRecord], None]:
    """A parser that is given its record typed; another schema, or fields of another type, are counted and skipped."""

    def parse_record(draft: ReportDraft, record: TraceRecord) -> None:
        data = draft.reader.json(record)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            draft.problem("record of another Compileboard version", record.offset)
            return
        parse(draft, record, converted(data, kind))

    return parse_record


def listed(kind: type[Value]) -> Callable[[ReportDraft, TraceRecord, Record], None]:
    """What does with a record that is one value of a list of the report, field by field, all that there is to do."""

    def parse(draft: ReportDraft, record: TraceRecord, said: Record) -> None:
        draft.keep(record, reported(kind, said))

    return parse


def reported(kind: type[Value], said: Any, **others: Any) -> Value:
    """A value of the report from the fields that it shares with a record or a draft by name, and the others."""
    shared = {field.name: getattr(said, field.name) for field in fields(kind) if hasattr(said, field.name)}
    return kind(**{**shared, **others})
