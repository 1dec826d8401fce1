"""JavaScript modules joined to one script: Streamlit runs a component from an address where no import resolves.

A file has lines `import { a, b } from "./other.js";`, and `export` before its exports; the entry may have a default
export.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n+', re.MULTILINE)
OTHER_IMPORT = re.compile(r"^(?:import\b|export (?:\{|\*)).*", re.MULTILINE)
DECLARED = re.compile(r"^(export )?(?:async )?(?:const|let|class|function\*?) (\w+)", re.MULTILINE)
EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


def joined(*entries: Path) -> str:
    """Return the files and all their imports as one script, each after its imports.

    Raises ValueError where modules would fail, and for a name that two files declare.
    """
    texts: dict[Path, str] = {}
    waiting = [Path(os.path.normpath(entry)) for entry in entries]
    imports: dict[Path, list[Path]] = {}
    while waiting:
        file = waiting.pop()
        if file not in texts:
            texts[file] = _read(file)
            imports[file] = [other for other, _ in _imported(file, texts[file])]
            waiting += imports[file]
    _check_names(texts)
    try:
        order = list(TopologicalSorter(imports).static_order())
    except CycleError as error:
        raise ValueError(f"modules in a circle: {' → '.join(file.name for file in error.args[1])}") from None
    return "\n".join(EXPORT.sub("", IMPORT.sub("", texts[file])) for file in order)


def _read(file: Path) -> str:
    if not file.is_file():
        raise ValueError(f"there is no {file}")
    text = file.read_text(encoding="utf-8")
    if other := OTHER_IMPORT.search(IMPORT.sub("", text)):
        raise ValueError(f"{file.name}: this way to import or export is not known: {other.group()}")
    return text


def _imported(file: Path, text: str) -> Iterator[tuple[Path, list[str]]]:
    """Yield the files that a file imports, and the imported names of each."""
    for names, other in IMPORT.findall(text):
        wanted = (name.strip() for name in names.split(","))
        yield Path(os.path.normpath(file.parent / other)), [name for name in wanted if name]


def _check_names(texts: dict[Path, str]) -> None:
    exported: dict[Path, set[str]] = {file: set() for file in texts}
    owner: dict[str, Path] = {}
    for file, text in texts.items():
        for export, name in DECLARED.findall(text):
            if name in owner:
                raise ValueError(f"{name} is declared twice: {owner[name].name}, {file.name}")
            owner[name] = file
            exported[file] |= {name} if export else set()
    for file, text in texts.items():
        for other, names in _imported(file, text):
            if unknown := set(names) - exported[other]:
                raise ValueError(f"{file.name}: {other.name} exports no {', '.join(sorted(unknown))}")
