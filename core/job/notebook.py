"""Notebooks as scripts: the code cells of an .ipynb file, one after the other."""

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, JobError
from core.base.syntax import NOT_READ, module

SUFFIX = ".ipynb"
# A cell with figures in its outputs is large; its code is bounded like any model's.
MAX_NOTEBOOK_BYTES = 32_000_000  #: limit: a notebook with its outputs
# A line of IPython: `%timeit f(x)`, `t = %timeit -o f(x)`, `!pip install x`, `torch.compile?`.
MAGIC = re.compile(r"^(?P<indent>[ \t]*)(?P<target>[\w., \t\[\]'\"]+=[ \t]*)?(?P<sign>%|!!?)(?P<rest>.*)$")
HELP = re.compile(r"^([ \t]*)(\??\??[%\w.]+\?{1,2}|\?{1,2}[%\w.]+)[ \t]*$")
CELL = re.compile(r"^# %% cell (\d+)$", re.MULTILINE)
CELL_MAGIC = re.compile(r"(\s*)%%(\w+)([^\n]*)\n?")
ENVIRONMENT = re.compile(r"(?:set_)?env\s+(\w+)(?:\s*=\s*|\s+)(.+?)\s*")
TIMEIT_OPTION = re.compile(r"-([nr])\s*(\d+)\s*|-([oqtc])\s*|-p\s*\d+\s*")
OTHER_OPTION = re.compile(r"(?:-[sltTD]\s*\S+\s+|-\w+\s+)*")
PRELUDE = (Path(__file__).parent / "magics.py").read_text(encoding="utf-8")


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

    Each code cell begins with a comment, `# %% cell 3`, and keeps its lines. If a cell ends with an expression, its
    value is printed, as in a notebook. The code of `%time`, `%timeit`, `%capture` and `%prun` runs; other lines of
    IPython, such as `!pip`, do nothing.
    """
    try:
        cells = decoded_as(data, Notebook).cells
    except DecodeError as error:
        raise JobError("model.value", f"this is no notebook: {error}") from None
    texts = [cell.source if isinstance(cell.source, str) else "".join(cell.source) for cell in cells if cell.is_code]
    return PRELUDE + "".join(f"\n# %% cell {number}\n{_code(text)}\n" for number, text in enumerate(texts, 1))


def is_notebook(code: str) -> bool:
    """Return True for the script of a notebook."""
    return code.startswith(PRELUDE)


def cells_of(code: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the code of each cell in a notebook's script; first 0 and the code before them."""
    parts = CELL.split(code)
    yield 0, parts[0]
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        yield int(number), text.removeprefix("\n")


def place_of(code: str, line: int) -> str:
    """Return a line as text: `line 12`, or `cell 3, line 2` in the script of a notebook."""
    before = "\n".join(code.split("\n")[:line])
    marks = list(CELL.finditer(before)) if is_notebook(code) else []
    if not marks:
        return f"line {line}"
    return f"cell {marks[-1][1]}, line {before[marks[-1].end() :].count(chr(10))}"


def _code(text: str, shows: bool = True) -> str:
    """Return the code of a cell as Python with the same line numbers.

    If `shows`, the last value is printed.

    Only a cell that is not valid Python is searched for IPython's lines, since a string may contain a line like them.
    """
    magic = CELL_MAGIC.match(text)
    if magic is not None:
        return magic[1] + _cell_code(magic[2], magic[3], text[magic.end() :])
    statements = _statements(text)
    if statements is None:
        text = "\n".join(map(_line, text.split("\n")))
        statements = _statements(text)
    return _shown(text.rstrip(), statements[-1]) if statements and shows else text.rstrip()


def _cell_code(name: str, arguments: str, body: str) -> str:
    """Return the code of a cell that begins with `%%name`."""
    if name == "prun":
        return f"# %%prun{arguments}\n{_code(body)}"
    headers = {"time": "with _timed():", "timeit": f"for _ in _timing({_timeit_options(arguments)[0]}):"}
    target = next((word for word in arguments.split() if word.isidentifier()), "")
    headers["capture"] = f"with _capturing() as {target}:" if target else "with _capturing():"
    if name not in headers:
        return f"pass  # %%{name}{arguments}"
    code = _code(body, shows=name != "timeit")
    return f"{headers[name]}\n{_indented(code)}" if _statements(code) else f"{headers[name]} pass\n{code}"


def _indented(code: str) -> str:
    """Return code indented by one level; the lines inside strings stay as they are."""
    statements = _statements(code) or []
    inside = {
        line
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
    lines = code.split("\n")
    return "\n".join(
        text if number in inside else textwrap.indent(text, "    ") for number, text in enumerate(lines, 1)
    )


def _line(text: str) -> str:
    """Return a line of IPython as Python; any other line unchanged."""
    match = MAGIC.match(text)
    if match is None:
        return HELP.sub(r"\1pass  # \2", text)
    indent, target, sign, rest = match["indent"], match["target"] or "", match["sign"], match["rest"]
    name, _, statement = rest.lstrip("%").partition(" ")
    if sign == "%" and name == "timeit":
        code = _timeit_line(target, statement)
    elif sign == "%" and name in ("time", "prun"):
        statement = OTHER_OPTION.sub("", statement.strip(), count=1)
        code = f"{target}{statement}" if target or name == "prun" else f"with _timed(): {statement}"
    elif sign == "%" and (variable := ENVIRONMENT.fullmatch(rest)):
        code = f"__import__('os').environ[{variable[1]!r}] = {variable[2]!r}"
    else:
        code = ""
    return f"{indent}{code}" if _statements(code) else f"{indent}{f'{target}[]' if target else 'pass'}  # {sign}{rest}"


def _timeit_line(target: str, text: str) -> str:
    """Return the code of a `%timeit` line."""
    options, statement = _timeit_options(text)
    if target or "-o" in text.split():
        return f"{target}_timeit(lambda: ({statement}){', ' if options else ''}{options})"
    return f"for _ in _timing({options}): {statement}"


def _timeit_options(text: str) -> tuple[str, str]:
    """Return the options of `%timeit` as arguments in Python, and the statement after them."""
    names, options, text = {"n": "loops", "r": "repeat"}, [], text.strip()
    while match := TIMEIT_OPTION.match(text):
        if match[1]:
            options.append(f"{names[match[1]]}={match[2]}")
        elif match[3] == "q":
            options.append("quiet=True")
        text = text[match.end() :]
    return ", ".join(options), text


def _statements(text: str) -> list[ast.stmt] | None:
    """Return the statements of a text; None if it is not valid Python."""
    try:
        return module(text).body
    except NOT_READ:
        return None


def _shown(code: str, last: ast.stmt) -> str:
    """Return the code of a cell, changed to print the value of its last statement, unless `;` hides it."""
    if not isinstance(last, ast.Expr) or code.endswith(";"):
        return code
    lines = code.encode().split(b"\n")
    first, end = last.lineno - 1, (last.end_lineno or last.lineno) - 1
    lines[end] = lines[end][: last.end_col_offset] + b"))" + lines[end][last.end_col_offset or 0 :]
    lines[first] = lines[first][: last.col_offset] + b"_show_value((" + lines[first][last.col_offset :]
    return b"\n".join(lines).decode()
