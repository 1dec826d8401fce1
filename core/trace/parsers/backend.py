"""Tables and texts that a backend logged through torch's own trace, and the executions of its compiled code."""

from __future__ import annotations

from typing import Any

from core.report import ToldTable, ToldText
from core.report.records.backend import ExecutionsRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft

MOST_TOLD_ROWS = 2_000
MOST_TOLD_COLUMNS = 24
MOST_CELL_CHARS = 400


def executions(draft: ReportDraft, record: TraceRecord, content: ExecutionsRecord) -> None:
    """Keep each execution, and the totals."""
    for value in (*content.executions, *content.totals):
        draft.keep(record, value)


def backend_table(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep a table: `title`, `columns`, `rows`, and `compilation` if it was logged after compiling;
    raises ValueError.
    """
    data = draft.reader.json(record)
    if not isinstance(data, dict) or not all(isinstance(data.get(name), list) for name in ("columns", "rows")):
        raise ValueError("a table has columns and rows")
    columns = tuple(str(name)[:MOST_CELL_CHARS] for name in data["columns"][:MOST_TOLD_COLUMNS])
    rows = [row for row in data["rows"] if isinstance(row, list) and len(row) == len(data["columns"])]
    if len(rows) != len(data["rows"]):
        raise ValueError("a row has as many cells as there are columns")
    cells = tuple(tuple(map(_cell, row[:MOST_TOLD_COLUMNS])) for row in rows[:MOST_TOLD_ROWS])
    compilation = record.compile_id or _title(data.get("compilation"))
    draft.keep(record, ToldTable(compilation, _title(data.get("title")), columns, cells, len(rows) - len(cells)))


def backend_text(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep a text, whose `title` and `language` are beside its name."""
    body = record.body if isinstance(record.body, dict) else {}
    title, language = _title(body.get("title")), _title(body.get("language"))
    draft.keep(record, ToldText(record.compile_id, title, language, draft.payload(record)))


def _title(value: Any) -> str:
    return value[:MOST_CELL_CHARS] if isinstance(value, str) else ""


def _cell(value: Any) -> str | int | float | None:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value)[:MOST_CELL_CHARS]
