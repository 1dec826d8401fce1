"""AOTAutograd's metadata of a graph: which inputs it mutates, and which outputs alias inputs, from torch's text.

Torch logs the text of a dataclass, `ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True, mutates_data=…), …],
output_info=[OutputAliasInfo(output_type=<OutputType.non_alias: 1>, …, base_idx=None, …), …], …)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

INPUT = re.compile(r"InputAliasInfo\(([^()]*)\)")
OUTPUT = re.compile(r"OutputAliasInfo\(output_type=<OutputType\.(\w+)")
BASE = re.compile(r"\bbase_idx=(\d{1,9})\b")
TRUE = re.compile(r"(\w+)=True")
LIST = r"\b{}=\[([\d,\s]*)\]"
DONATED = re.compile(LIST.format("bw_donated_idxs"))
STATIC = re.compile(LIST.format("static_input_indices"))
MAX_CHARS = 4_000_000
MAX_ITEMS = 20_000


@dataclass(frozen=True, slots=True)
class GraphInput:
    """An input of AOTAutograd's graph; `mutates` is `data`, `metadata`, both, or empty.

    A static input keeps its address between calls, as parameters do.
    """

    mutates: str
    requires_grad: bool
    static: bool


@dataclass(frozen=True, slots=True)
class GraphOutput:
    """A result of the model: torch's `OutputType`, and the index of the input or intermediate that it aliases."""

    kind: str
    base: int | None
    requires_grad: bool


@dataclass(frozen=True, slots=True)
class GraphMetadata:
    """Inputs and results of a graph; `donated` counts saved values whose memory the backward may reuse."""

    inputs: tuple[GraphInput, ...]
    outputs: tuple[GraphOutput, ...]
    donated: int


def graph_metadata(text: str) -> GraphMetadata:
    """Return the metadata in torch's text; empty parts for a text of another form."""
    text = text[:MAX_CHARS]
    static = set(_numbers(text, STATIC))
    inputs = [
        _input(match[1], number in static)
        for number, match in zip(range(MAX_ITEMS), INPUT.finditer(text), strict=False)
    ]
    starts = [match for _, match in zip(range(MAX_ITEMS), OUTPUT.finditer(text), strict=False)]
    ends = [*(match.start() for match in starts[1:]), len(text)]
    outputs = [_output(match[1], text[match.end() : end]) for match, end in zip(starts, ends, strict=False)]
    return GraphMetadata(tuple(inputs), tuple(outputs), len(_numbers(text, DONATED)))


def _input(fields: str, static: bool) -> GraphInput:
    true = set(TRUE.findall(fields))
    mutates = [what for what in ("data", "metadata") if f"mutates_{what}" in true]
    return GraphInput(" and ".join(mutates), "requires_grad" in true, static)


def _output(kind: str, fields: str) -> GraphOutput:
    own = fields.partition("num_intermediate_bases=")[0]
    base = BASE.search(own)
    return GraphOutput(kind, int(base[1]) if base else None, "requires_grad=True" in own)


def _numbers(text: str, pattern: re.Pattern[str]) -> list[int]:
    match = pattern.search(text)
    return [int(number) for number in re.findall(r"\d{1,9}", match[1])][:MAX_ITEMS] if match else []
