"""python -m docs.make.report_schema: write docs/report-schema.md from the types of core.report."""

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
    """Return the dataclasses and named tuples of core.report, by name.

    `Report` is the first, and the types that are not stored are the last.
    """
    kinds = [
        kind for kind in vars(report).values() if hasattr(kind, "__dataclass_fields__") or hasattr(kind, "_fields")
    ]
    return sorted(kinds, key=lambda kind: (kind.__name__ != FIRST, kind.__name__ in NOT_STORED, kind.__name__))


def tables() -> str:
    """Return all types as Markdown: the docstring of each, then a row per field."""
    return "\n".join(_table(kind) for kind in types())


def _table(owner: type) -> str:
    note = (
        "\n\nNot stored in `report.json`: read from the log when it is shown." if owner.__name__ in NOT_STORED else ""
    )
    texts = meanings(owner)
    head = ["| field | type | meaning |", "|---|---|---|"] if texts else ["| field | type |", "|---|---|"]
    rows = [f"| `{name}` | `{kind}` |" + (f" {texts[name]} |" if texts else "") for name, kind in _fields(owner)]
    return "\n".join([f"## {owner.__name__}\n\n{inspect.getdoc(owner)}{note}\n", *head, *rows, ""])


def _fields(owner: type) -> list[tuple[str, str]]:
    if not dataclasses.is_dataclass(owner):
        return [(name, kind.__name__) for name, kind in get_type_hints(owner).items()]
    return [(field.name, str(field.type).replace("|", "\\|")) for field in dataclasses.fields(owner)]


if __name__ == "__main__":
    write_below(PAGE, tables())
