"""python -m docs.make.graph_break_registry: write core's copy of the installed torch's registry of graph breaks.

The server imports no torch, and a log may be of another version, so the registry is a separate file, with its licence.
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
    """Return the file's text: a head with its source, then an entry per line, with one wording each."""
    torch = distribution("torch")
    found: dict[str, Any] = decoded(Path(str(torch.locate_file(THEIRS))).read_text(encoding="utf-8"))
    head = {"version": torch.version, "file": THEIRS, "licence": _licence(torch.read_text("licenses/LICENSE") or "")}
    entries = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(_entry(_told(said)))}" for name, said in sorted(found.items())
    )
    return f'{{\n"origin": {json.dumps(head)},\n"entries": {{\n{entries}\n}}\n}}\n'


def _told(said: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the newest wording that is plain text: some are pieces of the code that makes them."""
    words = [one for one in said if not one.get("Explanation", "").startswith(("_", '"')) and one.get("Hints")]
    return (words or said)[0]


def _entry(said: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": said.get("Gb_type", ""),
        "context": said.get("Context", ""),
        "explanation": said.get("Explanation", ""),
        "hints": said.get("Hints", []),
    }


def _licence(whole: str) -> str:
    """Return PyTorch's own licence, without those of bundled code after it."""
    own, found, _ = whole.partition(LAST_WORDS)
    return own + found


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text(), encoding="utf-8")
    print(f"{PAGE}: {PAGE.stat().st_size:,} bytes")
