"""Export of a graph: DOT, JSON, and a digest of its content."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import msgspec

from core.graph.index import index_of
from core.graph.model import TOP, GraphModel

DIGEST_BYTES = 12
CONTROL = {code: " " for code in range(32) if code != 10} | {127: " "}


def as_json(model: GraphModel) -> bytes:
    """Return the graph as JSON."""
    return msgspec.json.encode(model)


def digest(model: GraphModel, *more: object) -> str:
    """Return a short text that changes exactly when the graph or the additional values change."""
    return blake2b(msgspec.json.encode((model, more)), digest_size=DIGEST_BYTES).hexdigest()


def as_dot(model: GraphModel) -> str:
    """Return the graph in DOT, groups as clusters; all external text is quoted."""
    lines = ["digraph {", "node [shape=box]", *_inside(model, TOP, "")]
    lines += [f"n{edge.source} -> n{edge.target}{_attributes(label=edge.label)}" for edge in model.edges]
    return "\n".join([*lines, "}", ""])


def _inside(model: GraphModel, group: int, indent: str) -> Iterator[str]:
    for member in index_of(model).children[group]:
        if member >= 0:
            node = model.nodes[member]
            rows = [row.label for row in node.rows]
            yield f"{indent}n{member}{_attributes(label=_lines(node.label, node.detail, *rows), id=node.id)}"
            continue
        subgroup = model.groups[~member]
        yield f"{indent}subgraph cluster_{~member} {{"
        yield f"{indent}  label={quoted(_lines(subgroup.label, subgroup.detail))}"
        yield from _inside(model, ~member, indent + "  ")
        yield f"{indent}}}"


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _attributes(**texts: str) -> str:
    attributes = ", ".join(f"{name}={quoted(text)}" for name, text in texts.items() if text)
    return f" [{attributes}]" if attributes else ""


def quoted(text: str) -> str:
    """Return a text as a plain DOT string, without markup, entities, and escapes for node or graph names."""
    plain = text.translate(CONTROL).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'
