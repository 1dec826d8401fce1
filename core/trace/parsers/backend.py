"""What a backend told by torch's own trace, and when what it returned ran."""

from __future__ import annotations

from typing import Any

from core.report import ToldTable, ToldText
from core.report.records.backend import ExecutionsRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft

MOST_TOLD_ROWS = 2_000
MOST_TOLD_COLUMNS = 24
MOST_CELL_CHARS = 400


def executions(draft: ReportDraft, record: TraceRecord, said: ExecutionsRecord) -> None:
    """Each execution, and how many there were in all."""
    for value in (*said.executions, *said.totals):
        draft.keep(record, value)


def told_table(draft: ReportDraft, record: TraceRecord) -> None:
    """A table: `title`, `columns`, `rows`, and `compilation` where it was told after compiling; raises ValueError."""
    said = draft.reader.json(record)
    if not isinstance(said, dict) or not all(isinstance(said.get(name), list) for name in ("columns", "rows")):
        raise ValueError("a table has columns and rows")
    columns = tuple(str(name)[:MOST_CELL_CHARS] for name in said["columns"][:MOST_TOLD_COLUMNS])
    rows = [row for row in said["rows"] if isinstance(row, list) and len(row) == len(said["columns"])]
    if len(rows) != len(said["rows"]):
        raise ValueError("a row has as many cells as there are columns")
    kept = tuple(tuple(map(_cell, row[:MOST_TOLD_COLUMNS])) for row in rows[:MOST_TOLD_ROWS])
    compilation = record.compile_id or _title(said.get("compilation"))
    draft.keep(record, ToldTable(compilation, _title(said.get("title")), columns, kept, len(rows) - len(kept)))


def told_text(draft: ReportDraft, record: TraceRecord) -> None:
    """A text, whose `title` and `language` stand beside its name."""
    body = record.body if isinstance(record.body, dict) else {}
    title, language = _title(body.get("title")), _title(body.get("language"))
    draft.keep(record, ToldText(record.compile_id, title, language, draft.payload(record)))


def _title(value: Any) -> str:
    return value[:MOST_CELL_CHARS] if isinstance(value, str) else ""


def _cell(value: Any) -> str | int | float | None:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value)[:MOST_CELL_CHARS]
