"""python -m docs.make.report_schema: write the tables of docs/report-schema.md again from the types of core.report."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any, get_type_hints

from core import report
from docs.make.below import write_below
from docs.make.meanings import meanings

PAGE = Path(__file__).parents[1] / "report-schema.md"
FIRST = "Report"
NOT_STORED = ("FxNode", "TensorMeta")


def types() -> list[type[Any]]:
    """Return the dataclasses and named tuples of core.report: `Report` first, then by name."""
    named: list[type[Any]] = [getattr(report, name) for name in report.__all__]
    found = [item for item in named if hasattr(item, "__dataclass_fields__") or hasattr(item, "_fields")]
    return sorted(found, key=lambda item: (item.__name__ != FIRST, item.__name__ in NOT_STORED, item.__name__))


def tables() -> str:
    """Return all types as Markdown: their docstring, then a row per field."""
    return "\n".join(_table(item) for item in types())


def _table(item: type) -> str:
    note = "\n\nNot stored in `report.json`: read from the log when it is shown." if item.__name__ in NOT_STORED else ""
    texts = meanings(item)
    head = ["| field | type | meaning |", "|---|---|---|"] if texts else ["| field | type |", "|---|---|"]
    rows = [f"| `{name}` | `{kind}` |" + (f" {texts[name]} |" if texts else "") for name, kind in _fields(item)]
    return "\n".join([f"## {item.__name__}\n\n{inspect.getdoc(item)}{note}\n", *head, *rows, ""])


def _fields(item: type) -> list[tuple[str, str]]:
    if not dataclasses.is_dataclass(item):
        return [(name, kind.__name__) for name, kind in get_type_hints(item).items()]
    return [(field.name, str(field.type).replace("|", "\\|")) for field in dataclasses.fields(item)]


if __name__ == "__main__":
    write_below(PAGE, tables())
