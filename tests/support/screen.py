"""What stands on a page, as text that a person can compare: all that the browser would be sent, element by element.

Large pictures and data of components are there by a digest; what differs from run to run of the tests is left out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Dataframe

# Names of machines and of this session, code that the product ships, and what no visitor sees.
LEFT_OUT = {
    "arrowData",
    "cssContent",
    "cssSourcePath",
    "deferredFileId",
    "htmlContent",
    "isolateStyles",
    "jsContent",
    "jsSourcePath",
    "pageScriptHash",
    "setValue",
    "url",
}
VARYING = (
    (re.compile(r"\$\$ID-[0-9a-f]{32}-"), ""),
    (re.compile(r"\b\d{8}-\d{6}-"), ""),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b"), "DATE"),
    (re.compile(r"\b\d+ (year|day|hour|minute)s? ago\b"), "AGO"),
)
MAX_CHARS, MAX_ROWS = 300, 20


def written(app: AppTest) -> list[str]:
    """The page, a line for each element, indented as its containers are."""
    return list(_lines(app.main, 0))


def _lines(node: Any, depth: int) -> Iterator[str]:
    said = _said(node)
    if node.type == "selectbox" and said.get("label") == "Run":
        said.pop("options")
    yield " " * depth + _stable(f"{node.type} {_json(said)}" if said else node.type)
    if isinstance(node, Dataframe):
        rows = [_stable(row) for row in node.value.to_csv(index=False).splitlines()]
        shown = [*rows[:MAX_ROWS], _digest("\n".join(rows[MAX_ROWS:]))] if len(rows) > MAX_ROWS else rows
        yield from (f"{' ' * depth} {row}" for row in shown)
    for child in getattr(node, "children", {}).values():
        yield from _lines(child, depth + 1)


def _said(node: Any) -> dict[str, Any]:
    proto = MessageToDict(node.proto) if hasattr(node.proto, "DESCRIPTOR") else {}
    return {name: _short(value) for name, value in proto.items() if name not in LEFT_OUT}


def _short(value: Any) -> Any:
    text = _stable(value if isinstance(value, str) else _json(value))
    return value if len(text) <= MAX_CHARS else _digest(text)


def _stable(text: str) -> str:
    for varying, instead in VARYING:
        text = varying.sub(instead, text)
    return text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _digest(text: str) -> str:
    return (
        f"{text[: MAX_CHARS // 4]}… {len(text):,} characters, sha256 {hashlib.sha256(text.encode()).hexdigest()[:12]}"
    )
