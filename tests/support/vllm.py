"""A log as vLLM writes it: two parts of a model, equal subgraphs, and a call that its AOT cache served."""

import json
from typing import Any

from tests.support.logs import record

AT = {"frame_id": 0, "frame_compile_id": 0}
CONFIG = {"model": "tiny", "prefix": "backbone", "mode": "VLLM_COMPILE", "use_inductor_graph_partition": False}
GRAPH = """class submod(torch.nn.Module):
    def forward(self, {x}: "f32[s0, 32][32, 1]cpu"):
        # No stacktrace found for following nodes
        {y}: "f32[s0, 32][32, 1]cpu" = torch.ops.vllm.layer({x}, '{layer}');  {x} = None
        return ({y},)"""


def at(time: str, data: bytes) -> bytes:
    """Return a record with another time of day."""
    return data.replace(b"03:34:01.171000", time.encode())


def artifact(name: str, payload: dict[str, Any] | str) -> bytes:
    """Return an artifact of the frame 0/0."""
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return record({"artifact": {"name": name, "encoding": "json"}, **AT}, text)


def start(subgraph: str, first: int, last: int) -> bytes:
    """Return vLLM's record of the start of a piecewise compilation."""
    return artifact(
        "vllm_piecewise_compile_start",
        {
            "piecewise_index": int(subgraph.removeprefix("submod_")) // 2,
            "submod_name": subgraph,
            "total_piecewise_compiles": 3,
            "compile_range_start": first,
            "compile_range_end": last,
            "is_single_size": first == last,
            "is_cudagraph_capture_size": first == last,
        },
    )


def graph(subgraph: str, x: str, y: str, layer: str) -> bytes:
    """Return vLLM's record of a subgraph's graph."""
    return record({"graph_dump": {"name": f"vllm_{subgraph}"}, **AT}, GRAPH.format(x=x, y=y, layer=layer))


LOG = b"".join(
    [
        artifact("vllm_compile_event", {"type": "fresh_compile"}),
        artifact("vllm_compilation_config", CONFIG),
        record({"graph_dump": {"name": "vllm_piecewise_split_graph"}, **AT}, GRAPH.format(x="a", y="b", layer="all")),
        start("submod_0", 1, 64),
        graph("submod_0", "a", "b", "attn"),
        at("03:34:02.000000", artifact("fx_graph_cache_miss", "{}")),
        at("03:34:03.671000", record({"inductor_output_code": {}, **AT}, "code")),
        start("submod_0", 8, 8),
        artifact("fx_graph_cache_hit", "{}"),
        start("submod_2", 1, 64),
        graph("submod_2", "c", "d", "attn"),
        record({"dynamo_cpp_guards_str": {}, **AT}, "guards"),
        start("submod_4", 1, 64),
        graph("submod_4", "e", "f", "layers.4.attn"),
        artifact("vllm_compile_event", {"type": "fresh_compile"}),
        artifact("vllm_compilation_config", {**CONFIG, "prefix": "eagle_head"}),
        artifact("vllm_compile_event", {"type": "aot_cache_hit"}),
    ]
)
