"""Recorder of the texts that TORCH_COMPILE_DEBUG=1 writes and that torch's trace lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch._inductor.debug import DebugContext, DebugFormatter
from torch._logging import trace_structured
from torch.fx import GraphModule

from core.base.words import number

MAX_FILE_CHARS = 8_000_000


@contextmanager
def watching_debug_files(enabled: bool) -> Iterator[None]:
    """Write each debug file to the log; nothing if not enabled, since making them adds to the compile time."""
    if not enabled:
        yield
        return
    original = DebugContext.__getattr__

    def method(context: DebugContext, name: str) -> Callable[..., Any] | None:
        write = WRITERS.get(name)
        return write if write is not None else original(context, name)

    DebugContext.__getattr__ = method  # type: ignore[method-assign]
    try:
        yield
    finally:
        DebugContext.__getattr__ = original  # type: ignore[method-assign]


def _graph(file: str) -> Callable[..., None]:
    def write(graph: GraphModule, *_: Any, **__: Any) -> None:
        _log(file, graph.print_readable(print_output=False))

    return write


def _ir(file: str) -> Callable[..., None]:
    def write(nodes: Any, *_: Any, **__: Any) -> None:
        _log(file, DebugFormatter._write_ir(nodes))

    return write


def _log(file: str, text: str) -> None:
    if len(text) > MAX_FILE_CHARS:
        text = f"{text[:MAX_FILE_CHARS]}\n… {number(len(text) - MAX_FILE_CHARS)} characters after this are left out\n"
    trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": "debug_file", "encoding": "string", "file": file},
        payload_fn=lambda: text,
        expect_trace_id=False,
    )


# Methods of torch's DebugFormatter, and what they do here.
WRITERS = {
    "fx_graph": _graph("fx_graph_readable.py"),
    "fx_graph_transformed": _graph("fx_graph_transformed.py"),
    "ir_pre_fusion": _ir("ir_pre_fusion.txt"),
    "ir_post_fusion": _ir("ir_post_fusion.txt"),
}
