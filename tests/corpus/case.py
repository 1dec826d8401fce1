"""Cases of the corpus: a model's file each, whose docstring is the record of a public report.

    \"\"\"A float attribute that differs between instances compiles a frame for each.

    Source: https://github.com/pytorch/pytorch/issues/174541
    Finds: recompiles
    Cause: differs between instances
    Cure: register_buffer
    Expects: recompiles 0
    \"\"\"
    import torch
    …
    model, inputs = …

    # Cured
    model = …

The product is given the file above the line `# Cured`; the code below it follows the advice in words, and replaces
`model`, `inputs`, `calls`, `training` and `torch_compile` by definitions of the same names. If it has
`import torch`, it is a file of its own, as for a script that raises. A line that is indented
continues the field above it; a docstring with a backslash is a raw one. The fields:

`Source`   address of the report or of the page
`Finds`    rule of a finding, as in `core.analysis.findings`, with ` at line N` if the card names a line; ` or ` between
           alternatives
`Cause`    pattern that the card's title, reason or advice must match
`Cure`     pattern that an offered change or the card's advice must match
`Expects`  what torch alone must count with the cure: `graphs 1, breaks 0, recompiles 0, skipped 0`; results must be
           those of the original code, run eagerly, unless it has `results other`
`Not`      pattern that no card may match: advice that is known to be wrong
`Run`      options of `python -m core run`; `--backend eager` without any
`Lacks`    what the product does not do yet: `explained, cured`

A control has a title and a `Source` only: it is healthy, and must get no card. A case without `Expects` has no cure
that torch alone can confirm. If the code defines a function `confirmed`, torch alone calls it after the calls, and it
must return True with the cure.
"""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

DIRECTORY = Path(__file__).parent / "cases"
FIELDS = ("Source", "Finds", "Cause", "Cure", "Expects", "Not", "Run", "Lacks")
CURED = re.compile(r"^# Cured\b.*$", re.MULTILINE)
# First import of a cured code that is a file of its own.
OWN_FILE = re.compile(r"^import torch$", re.MULTILINE)
COUNTS = ("graphs", "breaks", "recompiles", "skipped")


@dataclass(frozen=True, slots=True)
class Case:
    """A case: the fields of its docstring, and its code above and below the line `# Cured`."""

    name: str
    title: str
    fields: dict[str, str]
    code: str
    cured: str

    @property
    def is_control(self) -> bool:
        """True for a healthy model."""
        return self.name.startswith("control_")

    @property
    def options(self) -> list[str]:
        """Options of the product's command."""
        return shlex.split(self.fields.get("Run", "")) or ["--backend", "eager"]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers that torch alone must count at most."""
        words = re.findall(rf"({'|'.join(COUNTS)}) (\d+)", self.fields.get("Expects", ""))
        return {name: int(number) for name, number in words}

    @property
    def lacks(self) -> set[str]:
        """What the product does not do for the case."""
        return set(re.findall(r"detected|explained|cured", self.fields.get("Lacks", "")))

    @property
    def has_other_results(self) -> bool:
        """True if the cure changes the results on purpose."""
        return "results other" in self.fields.get("Expects", "")


def read_case(path: Path) -> Case:
    """Return the case of a file; raises ValueError if its docstring has no title or an unknown field."""
    text = path.read_text(encoding="utf-8")
    code, *cured = CURED.split(text, maxsplit=1)
    document = ast.get_docstring(ast.parse(text)) or ""
    title, _, rest = document.partition("\n")
    fields: dict[str, str] = {}
    name = ""
    for line in filter(str.strip, rest.split("\n")):
        match = re.match(r"([A-Z][a-z]+): (.*)", line)
        if match is not None:
            name = match[1]
            fields[name] = match[2].strip()
        elif line.startswith(" ") and name:
            fields[name] += f" {line.strip()}"
        else:
            raise ValueError(f"{path.name}: `{line}` is no field")
    unknown = [name for name in fields if name not in FIELDS]
    if not title or unknown or "Source" not in fields:
        raise ValueError(f"{path.name}: no title, no source or unknown fields {unknown}")
    followed = next((part if OWN_FILE.search(part) else text for part in cured), "")
    return Case(path.stem, title, fields, code, followed)


def cases(prefixes: tuple[str, ...] = ()) -> list[Case]:
    """Return the cases whose names begin with one of these prefixes; all cases without any."""
    paths = sorted(DIRECTORY.glob("*.py"))
    return [read_case(path) for path in paths if not prefixes or path.stem.startswith(prefixes)]
