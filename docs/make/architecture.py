"""python -m docs.make.architecture: write the table of packages in docs/architecture.md.

The purpose of a package is the first sentence of its docstring.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docs.make.below import write_below

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
TOPS = ("core", "pages")
# Packages up to three levels deep are listed (core/report/records); deeper ones are not.
LEVELS = 3


def inventory() -> str:
    """Return the table of packages: path and first sentence of its docstring."""
    rows = [f"| `{name}/` | {purpose(name)} |" for name in packages()]
    return "\n".join(["| package | purpose |", "|---|---|", *rows]) + "\n"


def packages() -> list[str]:
    """Return the paths of the packages in core and pages, up to three levels deep."""
    files = (path for top in TOPS for path in (ROOT / top).rglob("__init__.py"))
    names = (path.parent.relative_to(ROOT).as_posix() for path in files)
    return sorted(name for name in names if len(name.split("/")) <= LEVELS)


def purpose(name: str) -> str:
    """Return the first sentence of a package's docstring."""
    doc = ast.get_docstring(ast.parse((ROOT / name / "__init__.py").read_text(encoding="utf-8"))) or ""
    sentence = re.split(r"\.(?:\s|$)", " ".join(doc.split()), maxsplit=1)[0]
    return sentence.replace("|", "\\|")


if __name__ == "__main__":
    write_below(PAGE, inventory())
