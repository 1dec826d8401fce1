"""Parser of FX graphs that are printed as a listing of nodes, `str(graph)` or `graph.print_tabular()`, and of the
program of `torch.export`:

    graph():
        %x : [num_users=1] = placeholder[target=x]
        %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%x, [0]), kwargs = {})
        return (sum_1,)

    opcode         name    target                args        kwargs
    -------------  ------  --------------------  ----------  --------
    call_function  sum_1   aten.sum.dim_IntList  (x_1, [0])  {}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast, get_args

from core.report.fx import FxNode, Op

GRAPH = re.compile(r"\s*graph\([^\n]{0,10000}?\)(?: -> [^\n]{0,1000})?:\n", re.ASCII)
TABLE = re.compile(r"\s*(opcode +name +target +args +kwargs *)\n(-+(?: +-+){4})\n", re.ASCII)
PROGRAM = "ExportedProgram:\n"
READABLE = re.compile(
    r"(?:\s*#[^\n]*\n)*\s*(?:class [\w<>.]+\([\w.]*Module\):|def forward\(\s*self\b)", re.ASCII
)  # fmt: skip
NODE = re.compile(
    r"%(?P<name>\w+) : .{0,2000}?\[(?:num_|#)users=\d+\] = (?P<op>[a-z_]+)\[target=(?P<target>.*?)\]"
    r"(?P<call>\((?:args = |default=).*)?$",
    re.ASCII,
)
CALL = re.compile(r"\(args = \((?P<args>.*)\), kwargs = \{(?P<kwargs>.*)\}\)$")
REFERENCE = re.compile(r"%(\w+)")
WORD = re.compile(r"[A-Za-z_]\w*")
OPS = frozenset(get_args(Op))
MAX_LINES = 200_000
# The start of a text in which its form can be seen.
HEAD_BYTES = 4_096


def is_printed_graph(text: str) -> bool:
    """Return True if a text begins like a graph that torch printed."""
    return bool(text.startswith(PROGRAM) or READABLE.match(text) or GRAPH.match(text) or TABLE.match(text))


def is_listing(text: str) -> bool:
    """Return True if a text lists a graph's nodes, rather than printing its Python code."""
    return bool(GRAPH.match(text) or TABLE.match(text))


def parse_listing(text: str) -> tuple[FxNode, ...]:
    """Return the nodes of a listing; lines that are no nodes are left out."""
    table = TABLE.match(text)
    nodes = _rows(text, table) if table else _nodes(text)
    return tuple(nodes)


def program_code(text: str) -> str:
    """Return the Python code of an exported program, each line where it is in the text; other texts as they are."""
    if not text.startswith(PROGRAM):
        return text
    lines = text.split("\n")[1:]
    end = next((number for number, line in enumerate(lines) if line and not line.startswith("    ")), len(lines))
    return "\n".join(["", *(line[4:] for line in lines[:end])])


def _nodes(text: str) -> Iterator[FxNode]:
    known: set[str] = set()
    for number, line in enumerate(text.split("\n")[:MAX_LINES], 1):
        stripped = line.strip()
        match = NODE.match(stripped)
        if match and match["op"] in OPS:
            name = match["name"]
            yield _node(match, number)
            known.add(name)
        elif stripped.startswith("return "):
            result = stripped.removeprefix("return ")
            yield FxNode("output", "output", "output", result, _named(result, known), None, number)


def _node(match: re.Match[str], line: int) -> FxNode:
    call = CALL.match(match["call"] or "")
    positional, keywords = (call["args"], call["kwargs"]) if call else ("", "")
    arguments = ", ".join(filter(None, (positional.removesuffix(","), keywords)))
    inputs = tuple(dict.fromkeys(REFERENCE.findall(arguments)))
    text = REFERENCE.sub(r"\1", arguments)
    return FxNode(match["name"], cast(Op, match["op"]), match["target"], text, inputs, None, line)


def _rows(text: str, table: re.Match[str]) -> Iterator[FxNode]:
    starts = [rule.start() for rule in re.finditer("-+", table[2])]
    above = text.count("\n", 0, table.end())
    known: set[str] = set()
    for number, line in enumerate(text[table.end() :].split("\n")[:MAX_LINES], above + 1):
        ends = [*starts[1:], len(line)]
        op, name, target, args, kwargs = (line[start:end].strip() for start, end in zip(starts, ends, strict=True))
        if op not in OPS:
            continue
        inside = args.removeprefix("(").removesuffix(")").removesuffix(",")
        arguments = ", ".join(filter(None, (inside, kwargs.removeprefix("{").removesuffix("}"))))
        yield FxNode(name, cast(Op, op), target, arguments, _named(arguments, known), None, number)
        known.add(name)


def _named(text: str, known: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in WORD.findall(text) if name in known))
