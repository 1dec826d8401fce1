"""Tables and texts that a backend reported through torch's trace, as plain lines."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.backend import NODE_COLUMN
from core.base import words as fmt
from core.report import Payload, ToldTable, ToldText
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line


@dataclass(frozen=True, slots=True)
class BackendTable:
    """A table that a backend reported."""

    table: ToldTable

    @property
    def label(self) -> str:
        """Title, or that there is none."""
        return _label(self.table)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, made distinct."""
        names = [one_line(name, LONGEST_NAME) or f"column {at}" for at, name in enumerate(self.table.columns, 1)]
        return [name if name not in names[:at] else f"{name} ({at + 1})" for at, name in enumerate(names)]

    @property
    def rows(self) -> list[list[str | int | float | None]]:
        """Cells of each row."""
        return [
            [one_line(cell, LONGEST_LINE) if isinstance(cell, str) else cell for cell in row] for row in self.table.rows
        ]

    @property
    def node_ids(self) -> list[str] | None:
        """Id of each row's node; None without a column `node`."""
        if NODE_COLUMN not in self.table.columns:
            return None
        at = self.table.columns.index(NODE_COLUMN)
        return [f"n:{row[at]}" for row in self.table.rows]

    @property
    def left_out(self) -> str:
        """Number of rows that were not recorded; empty without any."""
        return f"{fmt.count(self.table.left_out, 'more row')} not shown." if self.table.left_out else ""


@dataclass(frozen=True, slots=True)
class BackendText:
    """A text that a backend reported."""

    text: ToldText

    @property
    def label(self) -> str:
        """Title, or that there is none."""
        return _label(self.text)

    @property
    def title(self) -> str:
        """Title in one line; empty without one."""
        return one_line(self.text.title, LONGEST_LINE)

    @property
    def language(self) -> str:
        """Language of its code."""
        return self.text.language

    @property
    def payload(self) -> Payload:
        """Place of the text in the log."""
        return self.text.text


def _label(annotation: ToldTable | ToldText) -> str:
    return one_line(annotation.title, LONGEST_NAME) or "without a title"
