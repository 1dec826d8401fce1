"""Values that kernels write, in execution order, from instrumented output code, with the FX node of each."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch._inductor.graph import GraphLowering

from core.base.syntax import NOT_READ, module
from core.code.output_code import Buffers, buffers, definitions, tensor_names
from core.worker.load import node_line
from core.worker.measuring.instruments import Wrapper

MAX_LINE_CHARS = 300
INPUTS = re.compile(r"^\s+(?P<names>[\w, ]+?),? = args$", re.MULTILINE)
TARGET = re.compile(r"^\s*(?P<name>\w+) = ")


@dataclass(frozen=True, slots=True)
class BufferNode:
    """FX node whose value a buffer holds, and the ops that Inductor computes with it.

    `parts` are the sizes of the node's reductions: several if Inductor split one.
    """

    name: str
    op: str
    line: str
    fused: frozenset[str]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel by its name and its source; a library call has no source."""

    name: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class WrittenValue:
    """A value that a kernel has written; `reads` are the kernel's buffers and graph inputs, `name` is the value's."""

    name: str
    node: BufferNode | None
    kernel: KernelText
    value: torch.Tensor
    reads: tuple[str, ...]


class InstrumentedCode:
    """An output code as it is needed here: nodes of its buffers, and sources and calls of its kernels."""

    def __init__(self, graph: GraphLowering, path: Path) -> None:
        text = path.read_text("utf-8")
        self.lines = text.split("\n")
        self.buffers: Buffers = buffers(text)
        self.nodes = _buffer_nodes(graph)
        self.sources = {kernel.name: "".join(kernel.texts) for kernel in definitions(ast.parse(text))}
        self.inputs = [re.findall(r"\w+", match["names"]) for match in INPUTS.finditer(text)]

    def kernel(self, name: str) -> KernelText:
        """Return a kernel by its name in the wrapper."""
        return KernelText(name, self.sources.get(name, ""))


def _buffer_nodes(graph: GraphLowering) -> dict[str, BufferNode]:
    known = {name: buffer for name, buffer in graph.name_to_buffer.items() if hasattr(buffer, "origins")}
    parts: dict[torch.fx.Node, list[str]] = {}
    for buffer in known.values():
        for origin in buffer.origins if _reduces(buffer) else ():
            parts.setdefault(origin, []).append(str(buffer.data.reduction_ranges))
    return {
        name: BufferNode(
            name=node.name,
            op=str(node.target),
            line=node_line(node)[:MAX_LINE_CHARS],
            fused=frozenset(origin.name for origin in buffer.origins),
            parts=max((tuple(parts.get(origin, ())) for origin in buffer.origins), key=len, default=()),
        )
        for name, buffer in known.items()
        if (node := buffer.get_origin_node()) is not None
    }


def _reduces(buffer: Any) -> bool:
    return "Reduction" in type(getattr(buffer, "data", None)).__name__


class ValueRecorder:
    """Recorder of the values that kernels write, in execution order, and of the inputs of each graph."""

    def __init__(self, write: Callable[[WrittenValue], None], enter: Callable[[dict[str, torch.Tensor]], None]) -> None:
        self._write, self._enter = write, enter
        self._calls = 0
        self._written: set[str] = set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Instrument each output code in this context as soon as Inductor has written it."""
        original = GraphLowering.compile_to_module
        seen: set[ModuleType] = set()
        with ExitStack() as stack:

            def compile_to_module(graph: GraphLowering) -> Any:
                compiled: Any = original(graph)
                if hasattr(compiled, "Runner") and compiled not in seen:
                    seen.add(compiled)
                    code = InstrumentedCode(graph, Path(compiled.__file__))
                    hooks = partial(self._kernel, code), partial(self._call, code)
                    stack.enter_context(Wrapper(compiled).tapped(*hooks))
                return compiled

            GraphLowering.compile_to_module = compile_to_module
            try:
                yield
            finally:
                GraphLowering.compile_to_module = original

    def _call(self, code: InstrumentedCode, body: Callable[..., Any], *args: Any) -> Any:
        self._calls += 1
        self._written = set()
        names = code.inputs[0] if code.inputs else []
        values = zip(names, args[-1] if args else (), strict=False)
        self._enter({self._label(name): value for name, value in values if isinstance(value, torch.Tensor)})
        return body(*args)

    def _label(self, name: str) -> str:
        return f"{self._calls} {name}"

    def _kernel(
        self, code: InstrumentedCode, line: int, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Any:
        result = function(*args, **kwargs)
        texts, named = _arguments(code.lines[line - 1])
        pairs = [*zip(texts, args, strict=False), *((named[key], kwargs[key]) for key in named if key in kwargs)]
        target = TARGET.match(code.lines[line - 1])
        new = dict(self._results(code, target["name"], result)) if target else {}
        new |= {text: value for text, value in pairs if self._is_new(code, text, value)}
        reads = self._reads(code, [text for text, _ in pairs], new)
        for buffer, value in new.items():
            self._written.add(buffer)
            self._write(
                WrittenValue(
                    self._label(buffer),
                    code.nodes.get(buffer),
                    code.kernel(name.removesuffix(".run")),
                    value,
                    tuple(map(self._label, reads)),
                )
            )
        return result

    def _is_new(self, code: InstrumentedCode, text: str, value: Any) -> bool:
        allocated = text in code.buffers.shapes or text in code.buffers.reused
        return isinstance(value, torch.Tensor) and allocated and text not in self._written

    @staticmethod
    def _results(code: InstrumentedCode, name: str, result: Any) -> Iterator[tuple[str, torch.Tensor]]:
        if isinstance(result, torch.Tensor):
            yield name, result
        elif isinstance(result, (tuple, list)):
            for item, (owner, index) in code.buffers.items.items():
                if owner == name and index < len(result) and isinstance(result[index], torch.Tensor):
                    yield item, result[index]

    def _reads(self, code: InstrumentedCode, texts: Sequence[str], new: dict[str, Any]) -> list[str]:
        """Return the buffers and inputs that a call reads; a buffer that it writes in place by its earlier name."""
        names = tensor_names(texts)
        aliases = (next((at for at in code.buffers.aliases(name) if at in self._written), "") for name in names)
        inputs = [name for name in names if any(name in row for row in code.inputs)]
        return [*dict.fromkeys(alias for alias in aliases if alias and alias not in new), *inputs]


def _arguments(line: str) -> tuple[list[str], dict[str, str]]:
    """Return the positional and the keyword arguments of the call in a line of the wrapper, as Python."""
    try:
        calls = [node for node in ast.walk(module(line.strip())) if isinstance(node, ast.Call)]
    except NOT_READ:
        return [], {}
    if not calls:
        return [], {}
    keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in calls[0].keywords if keyword.arg}
    return [ast.unparse(argument) for argument in calls[0].args], keywords
