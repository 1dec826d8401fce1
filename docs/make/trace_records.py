"""python -m docs.make.trace_records: write docs/trace-records.md from core.report.records."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any, get_args, get_type_hints

from core.report.records import RECORDS
from docs.make.below import write_below
from docs.make.meanings import meanings

PAGE = Path(__file__).parents[1] / "trace-records.md"


def tables() -> str:
    """Return all records as Markdown: the docstring of each, and a row per field.

    The types of a record's fields follow in the same form.
    """
    return "\n".join(_record(f"compileboard_{what}", kind) for what, kind in RECORDS.items())


def _record(name: str, kind: type) -> str:
    kinds = dict.fromkeys(part for hint in get_type_hints(kind).values() for part in _values(hint))
    return "\n".join([f"## `{name}`\n\n{_body(kind)}", *map(_kind_table, kinds)])


def _kind_table(kind: type) -> str:
    if not kind.__module__.startswith("core.report.records"):
        return f"`{kind.__name__}`: as in [report-schema.md](report-schema.md).\n"
    return f"`{kind.__name__}`: {_body(kind)}"


def _body(kind: type) -> str:
    texts = meanings(kind)
    rows = [
        f"| `{field.name}` | `{field.type!s}` | {_default(field)} | {texts[field.name]} |".replace(
            " | None", " \\| None"
        )
        for field in dataclasses.fields(kind)
    ]
    head = ["| field | type | if absent | meaning |", "|---|---|---|---|"]
    return "\n".join([f"{inspect.getdoc(kind)}\n", *head, *rows, ""])


def _default(field: dataclasses.Field[Any]) -> str:
    """Return the default of a field that a log lacks, as code; empty if the field is required."""
    factory = field.default_factory
    value = field.default if factory is dataclasses.MISSING else factory()
    return "" if value is dataclasses.MISSING else f"`{value!r}`"


def _values(hint: Any) -> list[type]:
    """Return the dataclasses and named tuples in a type: `Load` of `Load | None`."""
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        return [hint]
    return [kind for part in get_args(hint) for kind in _values(part)]


if __name__ == "__main__":
    write_below(PAGE, tables())
