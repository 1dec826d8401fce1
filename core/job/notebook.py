"""Notebooks as scripts: the code cells of an .ipynb file, one after the other."""

from __future__ import annotations

import ast
import re

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, JobError
from core.base.syntax import NOT_READ, module

SUFFIX = ".ipynb"
# A cell with figures in its outputs is large; its code is bounded like any model's.
MAX_NOTEBOOK_BYTES = 32_000_000
MAGIC = re.compile(r"^(\s*)([%!].*)$", re.MULTILINE)
SHOW = "def _show_value(value):\n    if value is not None:\n        print(repr(value))\n"


class NotebookCell(msgspec.Struct):
    """A cell of a notebook; its text is one string, or a list of lines."""

    cell_type: str
    source: str | list[str]

    @property
    def is_code(self) -> bool:
        """Return True for code, False for text."""
        return self.cell_type == "code"


class Notebook(msgspec.Struct):
    """The cells of an .ipynb file of format 4."""

    cells: list[NotebookCell]


def script_of(data: bytes) -> str:
    """Return the code of a notebook as one script; raises JobError.

    Each code cell begins with a comment, `# %% cell 3`. If a cell ends with an expression, its value is printed,
    as in a notebook. IPython's lines, such as `%timeit` and `!pip`, do nothing.
    """
    try:
        cells = decoded_as(data, Notebook).cells
    except DecodeError as error:
        raise JobError("model.value", f"this is no notebook: {error}") from None
    texts = [cell.source if isinstance(cell.source, str) else "".join(cell.source) for cell in cells if cell.is_code]
    return SHOW + "".join(f"\n# %% cell {number}\n{_code(text)}\n" for number, text in enumerate(texts, 1))


def _code(text: str) -> str:
    """Return the code of a cell: IPython's lines become comments, and the last value is printed.

    Only a cell that is not valid Python is searched for such lines, since a string may contain a line like them.
    """
    if text.startswith("%%"):
        text = f"pass  # {text.partition(chr(10))[0]}"
    statements = _statements(text)
    if statements is None:
        text = MAGIC.sub(r"\1pass  # \2", text)
        statements = _statements(text)
    return _shown(text.rstrip(), statements[-1]) if statements else text.rstrip()


def _statements(text: str) -> list[ast.stmt] | None:
    """Return the statements of a text; None if it is not valid Python."""
    try:
        return module(text).body
    except NOT_READ:
        return None


def _shown(code: str, last: ast.stmt) -> str:
    """Return the code of a cell, changed to print the value of its last statement.

    A semicolon at the end of the cell hides the value, as in IPython.
    """
    if not isinstance(last, ast.Expr) or code.endswith(";"):
        return code
    lines = code.encode().split(b"\n")
    first, end = last.lineno - 1, (last.end_lineno or last.lineno) - 1
    lines[end] = lines[end][: last.end_col_offset] + b"))" + lines[end][last.end_col_offset or 0 :]
    lines[first] = lines[first][: last.col_offset] + b"_show_value((" + lines[first][last.col_offset :]
    return b"\n".join(lines).decode()
