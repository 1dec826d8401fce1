"""Each file name that `core/runs` joins to a directory is in exactly one list: runs return the file, or they do not."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.runs.engine.cluster.messages import SENT, is_returned
from tests.support.places import ROOT

RUNS = ROOT / "core" / "runs"
SERVERS_OWN = {
    *("status.json", "name.txt", "note.txt", "tags.txt", "audience.txt", "pinned", "preview.txt", "archived.json"),
    *(
        "comments.json",
        "trials.json",
        "comments.lock",
        "profile.json",
        "report.json",
        "recorded.log",
        "ranks.json",
        "fingerprint.json",
    ),
    # Directories.
    *("trace", "ranks", "tools", "graphs", "results", "unpacked", "aoti", "trials"),
}

# Names in other directories: of the store, of a host, of the system, and of unpacked archives.
ELSEWHERE = {
    *("runs", "cache", "inductor", "triton", "carried", "servers", "store-id", "turns", "retention.lock", "made"),
    *("audit.jsonl", "audit.1.jsonl", "deleted.jsonl", "deleted.1.jsonl", "deleted-archived", "archive-locks"),
    *("hosts", "hosted", "id", "lock", "none", "file", "logs", "brought", "packed", "chromium_events.json"),
    *("output_code.py", ".streamlit", "secrets.toml", "Python.h", "cgroup.kill", "cgroup.procs", "memory.events"),
    "version",
}


def _names(path: Path) -> Iterator[str]:
    """Yield the file names that a module joins to a directory, as literals or constants."""
    dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    constants = vars(importlib.import_module(dotted))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
            continue
        right = node.right
        value = right.value if isinstance(right, ast.Constant) else None
        value = constants.get(right.id) if isinstance(right, ast.Name) else value
        if isinstance(value, str):
            yield value


@pytest.mark.promise("cluster")
def test_each_file_name_is_in_exactly_one_list() -> None:
    """Every file of a run is on one list: sent, returned, or the server's own."""
    names = {name: path.name for path in RUNS.rglob("*.py") for name in _names(path)}
    lists = (SERVERS_OWN, SENT, ELSEWHERE)
    counts = {name: sum(name in each for each in lists) + is_returned(name) for name in names}
    assert {name: names[name] for name, count in counts.items() if count != 1} == {}
