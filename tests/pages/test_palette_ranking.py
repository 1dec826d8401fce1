"""The palette ranks its entries, without a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.places import ROOT

DENO = Path(sys.executable).with_name("deno")
RANK = ROOT / "pages" / "components" / "palette" / "js" / "rank.js"
LABELS = ["Kernels", "One kernel", "Backend", "add", "add_1", "padded", "triton_poi_fused_add_0", "aDD", "İadd"]
# Query → labels in their order, the matching letters in capitals.
ORDERS = {
    "kernel": ["KERNELs", "one KERNEL"],
    "add": ["ADD", "ADD", "ADD_1", "triton_poi_fused_ADD_0", "İADD", "pADDed"],
    "tpfa": ["Triton_Poi_Fused_Add_0"],
    "tri add": ["TRIton_poi_fused_ADD_0"],
    "node add_1": ["ADD_1"],
    "krnls": ["KeRNeLS"],
    "aaaa": [],
    "qz": [],
}


def run(folder: Path, expression: str, given: Any) -> Any:
    """Evaluate an expression over `given` and the functions of the ranking."""
    (folder / "given.json").write_text(json.dumps(given), encoding="utf-8")
    script = folder / "script.js"
    script.write_text(
        f'import {{ ranked }} from "{RANK.as_uri()}";\n'
        'import given from "./given.json" with { type: "json" };\n'
        f"console.log(JSON.stringify({expression}));\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [DENO, "run", "--no-config", "--no-lock", "--no-remote", script], capture_output=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def group(kind: str, *labels: str, left_out: int = 0) -> dict[str, Any]:
    entries = [[label, label, ""] for label in labels]
    return {"kind": kind, "title": f"{kind}s", "entries": entries, "aim": None, "detail": "", "left_out": left_out}


def capitals(label: str, at: list[int]) -> str:
    """The label in small letters, but for those that match."""
    return "".join(letter.upper() if place in at else letter.lower() for place, letter in enumerate(label))


def test_whole_labels_come_before_starts_of_words_and_those_before_scattered_letters(tmp_path: Path) -> None:
    given = {"queries": list(ORDERS), "groups": [group("Node", *LABELS)]}
    found = run(tmp_path, "given.queries.map((query) => ranked(given.groups, query))", given)
    orders = {
        query: [capitals(hit["entry"][1], hit["at"]) for section in sections for hit in section["hits"]]
        for query, sections in zip(ORDERS, found, strict=True)
    }
    assert orders == {
        query: [label if label.isascii() else capitals("İadd", [1, 2, 3]) for label in labels]
        for query, labels in ORDERS.items()
    }


def test_groups_of_one_kind_are_one_section_and_the_best_section_is_first(tmp_path: Path) -> None:
    groups = [group("Page", "Overview", "Padding"), group("Node", "add"), group("Node", "add_1", left_out=7)]
    found = run(tmp_path, 'ranked(given, "add")', groups)
    assert [(one["title"], len(one["hits"]), one["searched"], one["leftOut"]) for one in found] == [
        ("Nodes", 2, 2, 7),
        ("Pages", 1, 2, 0),
    ]


def test_an_empty_query_leaves_the_order(tmp_path: Path) -> None:
    found = run(tmp_path, 'ranked(given, "  ")', [group("Page", "b", "a"), group("Run", "c")])
    assert [(one["kind"], [hit["entry"][1] for hit in one["hits"]]) for one in found] == [
        ("Page", ["b", "a"]),
        ("Run", ["c"]),
    ]


def test_the_id_of_an_op_is_the_only_match_and_opens_the_op(tmp_path: Path) -> None:
    typed = " 0/1 inductor_post_grad_graph.forward k:0/1.forward.cpp_fused_0 "
    (section,) = run(tmp_path, "ranked([], given)", typed)
    (hit,) = section["hits"]

    assert hit["entry"][0] == "k:0/1.forward.cpp_fused_0"
    assert hit["group"]["aim"] == {
        "page": "kernels",
        "name": "select",
        "query": {"compilation": "0/1", "of": "inductor_post_grad_graph.forward"},
    }
