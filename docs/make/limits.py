"""python -m docs.make.limits: rewrite the tables of docs/limits.md from the code's constants."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from core.base import words
from core.job import GIB
from docs.make.below import write_below
from docs.make.bounds import BOUNDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "limits.md"
BOUND = re.compile(r"(MAX|MOST|LONGEST|LARGEST)(_|$)")


def constants(path: Path) -> dict[str, int | float]:
    """Return the constants at the top of a file with a bound's name (MAX, MOST, LONGEST, LARGEST).

    The file is not imported.
    """
    assigned = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)]
    named = [(node.targets[0].id, node.value) for node in assigned if isinstance(node.targets[0], ast.Name)]
    return {
        name: eval(compile(ast.Expression(value), path.name, "eval"), {"GIB": GIB})
        for name, value in named
        if BOUND.match(name)
    }


def tables() -> str:
    """Return the tables of all bounds, one per section."""
    return "\n".join(f"## {title}\n\n{_section(files)}" for title, files in BOUNDS.items())


def _section(files: dict[str, dict[str, str]]) -> str:
    rows = ["| what | at most | where |\n|---|---|---|\n"]
    for file, bounds in files.items():
        values = constants(ROOT / file)
        rows += [f"| {what} | {_value(name, values[name])} | `{file}`, `{name}` |\n" for name, what in bounds.items()]
    return "".join(rows)


def _value(name: str, value: float) -> str:
    exact = words.exact(value)
    return f"{exact} bytes" if name.endswith("_BYTES") else f"{exact} characters" if name.endswith("_CHARS") else exact


if __name__ == "__main__":
    write_below(PAGE, tables())
