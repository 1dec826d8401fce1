"""python -m docs.make.graph_break_registry: copy the registry of graph breaks from torch to core.

The server does not import torch, and a log may come from another version. So the registry of the installed
torch is stored as a file, with torch's licence.
"""

from __future__ import annotations

import json
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from core.base.decoder import decoded

PAGE = Path(__file__).parents[2] / "core" / "analysis" / "registry" / "graph_breaks.json"
THEIRS = "torch/_dynamo/graph_break_registry.json"
LAST_WORDS = "POSSIBILITY OF SUCH DAMAGE."


def text() -> str:
    """Return the file's text: a header that names the source, then one entry per line.

    Each entry has one wording.
    """
    torch = distribution("torch")
    entries_by_name: dict[str, Any] = decoded(Path(str(torch.locate_file(THEIRS))).read_text(encoding="utf-8"))
    head = {"version": torch.version, "file": THEIRS, "licence": _licence(torch.read_text("licenses/LICENSE") or "")}
    entries = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(_entry(_newest_wording(wordings)))}"
        for name, wordings in sorted(entries_by_name.items())
    )
    return f'{{\n"origin": {json.dumps(head)},\n"entries": {{\n{entries}\n}}\n}}\n'


def _newest_wording(wordings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the newest wording with plain text and hints; without such a wording, the newest one.

    Other wordings are source code that builds the text.
    """
    words = [
        wording
        for wording in wordings
        if not wording.get("Explanation", "").startswith(("_", '"')) and wording.get("Hints")
    ]
    return (words or wordings)[0]


def _entry(wording: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": wording.get("Gb_type", ""),
        "context": wording.get("Context", ""),
        "explanation": wording.get("Explanation", ""),
        "hints": wording.get("Hints", []),
    }


def _licence(licences: str) -> str:
    """Return PyTorch's own licence, without the licences of bundled code after it."""
    licence, last_words, _ = licences.partition(LAST_WORDS)
    return licence + last_words


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text(), encoding="utf-8")
    print(f"{PAGE}: {PAGE.stat().st_size:,} bytes")
