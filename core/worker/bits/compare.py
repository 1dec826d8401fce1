"""Bitwise comparison of two configurations of a model: each value that a kernel writes, by FX node.

The first call is compiled and made twice with equal weights and inputs: first in the other configuration,
then in the run's own. The values of the other configuration are stored. Inductor's graph maps each buffer
to its FX node. Instrumented output code records each buffer right after its kernel.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch._inductor.graph import GraphLowering
from torch.utils._pytree import tree_leaves, tree_map_only

from core.base.errors import JobError
from core.base.syntax import NOT_READ, module
from core.code.output_code import Buffers, buffers, definitions, tensor_names
from core.job import BATCH, CompileJob, Conditions
from core.job.checks import EVAL, other_configuration
from core.ops.costs import op_class
from core.report import BitComparison, NodeBits
from core.worker.backends.selection import compiled_side, is_compiled
from core.worker.caches import lookups
from core.worker.calls import ModelCalls
from core.worker.conditions import set_dynamo
from core.worker.load import Arguments, ModelCopy, first_line, node_line, seed
from core.worker.measuring.instruments import Wrapper
from core.worker.numerics import ITS_OWN, quiet_compilation
from core.worker.record import silence

MAX_STORED_BYTES = 512 * 2**20  #: limit: stored values of the other configuration in a comparison bit by bit
MOST_NODES = 200  #: limit: listed values with other bits
# A relative difference that no other order of the same additions makes.
OTHER_VALUES = 1e-2
LOW_PRECISION = (torch.float16, torch.bfloat16)
# Partial sums of each thread, in a kernel that Inductor's C++ backend split over threads.
SHARED = re.compile(r"_arr\[(?:tid|omp_get_thread_num\(\))\]")
VECTORS = "at::vec::"
ROWS = "its rows depend on each other: it reduces or normalizes over the batch"
DRAWN = "it draws random numbers"
LIBRARY = "the library chooses its algorithm by shapes, settings and threads"
SPLIT = "split reduction: `{split}` adds partial sums, `{whole}` adds in one loop"
OTHER_PARTS = "split reduction: both add partial sums, of {left} and of {right} elements"
VECTORIZED = "`{vector}` is vectorized, `{scalar}` is not: they add in another order"
TEMPLATE = "`{library}` is a library call, `{generated}` is generated"
FUSED_LOW = "`{left}` and `{right}` fuse other ops: a value between fused ops is not rounded to {dtype}"
FUSED = "`{left}` and `{right}` fuse other ops"
OTHER_ROUNDING = "the generated code differs: values between fused ops are rounded to {dtype}, or kept in float32"
OTHER_CODE = "the generated code differs"
NO_BATCH = "no input is a tensor with a batch dimension"
BATCH_TOO_LARGE = "the first call has a batch of {size}: give a smaller one"
NOTHING_WRITTEN = "no kernel of an output code in Python wrote a value"
Key = tuple[str, str, int]


class OtherSide:
    """Values of the other configuration, at most `MAX_STORED_BYTES`, and digests of its graphs' inputs."""

    def __init__(self) -> None:
        self.values: dict[Key, tuple[WrittenValue, torch.Tensor | None]] = {}
        self.inputs: dict[str, tuple[torch.Size, str]] = {}
        self._keys = NodeKeys()
        self._room = MAX_STORED_BYTES

    def write(self, written: WrittenValue) -> None:
        """Store a written value of an FX node; without room for the value, store only a record of the write."""
        if written.node is None:
            return
        size = written.value.numel() * written.value.element_size()
        fits = size <= self._room
        self._room -= size if fits else 0
        value = written.value.detach().clone() if fits else None
        self.values[self._keys.of(written.node)] = replace(written, value=torch.empty(0)), value

    def enter(self, inputs: dict[str, torch.Tensor]) -> None:
        """Store the digest of each input of a graph."""
        self.inputs.update({name: (value.shape, _digest(value)) for name, value in inputs.items()})


class NodeKeys:
    """Keys that match FX nodes: op, code line, and position among the nodes with the same op and line."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def of(self, node: BufferNode) -> Key:
        """Return the key of the next value of a node."""
        key = node.op, node.line
        self._counts[key] += 1
        return *key, self._counts[key]


@dataclass
class OwnSide:
    """Comparison with the values of the other configuration; each value is compared when it is written."""

    other: OtherSide
    batch: bool
    nodes: list[NodeBits] = field(default_factory=list)
    compared: int = 0
    different: int = 0
    too_large: int = 0
    unmatched: list[str] = field(default_factory=list)
    _keys: NodeKeys = field(default_factory=NodeKeys)
    _matched: set[Key] = field(default_factory=set)
    _equal: dict[str, bool] = field(default_factory=dict)

    def enter(self, inputs: dict[str, torch.Tensor]) -> None:
        """Compare the inputs of a graph; an input that can't be compared counts as equal."""
        for name, value in inputs.items():
            shape, digest = self.other.inputs.get(name, (None, ""))
            narrow = _narrowed(value, shape) if shape is not None else None
            self._equal[name] = narrow is None or _digest(narrow) == digest

    def write(self, written: WrittenValue) -> None:
        """Compare a value with the same value of the other configuration.

        A value that can't be compared counts as equal if everything that its kernel reads is equal.
        """
        source = all(self._equal.get(name, True) for name in written.reads)
        self._equal[written.name] = source
        if written.node is None:
            return
        key = self._keys.of(written.node)
        other, value = self.other.values.get(key, (None, None))
        if other is None:
            self.unmatched.append(written.node.name)
            return
        self._matched.add(key)
        if value is None:
            self.too_large += 1
            return
        own = _narrowed(written.value.detach(), value.shape)
        value = value if own is None else _narrowed(value, own.shape)
        if own is None or value is None or own.dtype != value.dtype:
            self.unmatched.append(written.node.name)
            return
        self.compared += 1
        differing = int(_differing(own, value))
        self._equal[written.name] = not differing
        if differing:
            self.different += 1
            self._add(written, other, own, value, differing, source)

    def _add(
        self,
        written: WrittenValue,
        counterpart: WrittenValue,
        own: torch.Tensor,
        value: torch.Tensor,
        differing: int,
        source: bool,
    ) -> None:
        assert written.node is not None
        most, scale = _largest_difference(own, value)
        far = most is not None and most > OTHER_VALUES * scale
        reason = _reason(written, counterpart, own.dtype)
        if op_class(written.node.op) == "random":
            reason = DRAWN
        elif far and source and self.batch:
            reason = ROWS
        if len(self.nodes) < MOST_NODES:
            self.nodes.append(
                NodeBits(
                    node=written.node.name,
                    op=written.node.op,
                    line=written.node.line,
                    kernel=written.kernel.name,
                    other_kernel=counterpart.kernel.name,
                    dtype=str(own.dtype).removeprefix("torch."),
                    elements=own.numel(),
                    differing=differing,
                    max_abs=most,
                    source=source,
                    reason=reason if source else "",
                )
            )

    def left_over(self) -> list[str]:
        """Return the nodes that only the other configuration writes."""
        return [
            written.node.name
            for key, (written, _) in self.other.values.items()
            if key not in self._matched and written.node is not None
        ]


def _narrowed(value: torch.Tensor, shape: Sequence[int]) -> torch.Tensor | None:
    """Return a value cut to at most the shape's size in each dimension; None if the ranks differ."""
    if value.dim() != len(shape):
        return None
    for dim, size in enumerate(shape):
        value = value.narrow(dim, 0, min(size, value.shape[dim]))
    return value


def _differing(own: torch.Tensor, value: torch.Tensor) -> int:
    whole = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    real = [torch.view_as_real(each) if each.is_complex() else each for each in (own, value)]
    bits = [each.contiguous().view(whole[each.element_size()]) for each in real]
    return int((bits[0] != bits[1]).sum())


def _largest_difference(own: torch.Tensor, value: torch.Tensor) -> tuple[float | None, float]:
    """Return the largest finite difference, None if there is none, and the largest finite magnitude."""
    if own.is_complex() or not own.numel():
        return None, 0.0
    wide = own.double(), value.double()
    difference = (wide[0] - wide[1]).abs()
    finite = difference[difference.isfinite()]
    scale = wide[1].abs().nan_to_num(0.0, 0.0, 0.0).max()
    return (float(finite.max()) if finite.numel() else None), float(scale)


def _digest(value: torch.Tensor) -> str:
    data = value.detach().contiguous().cpu().flatten().view(torch.uint8) if value.numel() else torch.empty(0)
    return hashlib.blake2b(memoryview(data.numpy())).hexdigest()


def _reason(written: WrittenValue, counterpart: WrittenValue, dtype: torch.dtype) -> str:
    """Return why two kernels with equal inputs write different bits; empty if no reason is known."""
    left, right = written.kernel, counterpart.kernel
    assert written.node is not None
    assert counterpart.node is not None
    if not left.source and not right.source:
        return LIBRARY
    if not left.source or not right.source:
        library, generated = (left, right) if not left.source else (right, left)
        return TEMPLATE.format(library=library.name, generated=generated.name)
    parts = [
        (len(node.parts), bool(SHARED.search(kernel.source)))
        for node, kernel in ((written.node, left), (counterpart.node, right))
    ]
    if parts[0] == parts[1] and parts[0][0] > 1 and written.node.parts != counterpart.node.parts:
        return OTHER_PARTS.format(left=", ".join(written.node.parts), right=", ".join(counterpart.node.parts))
    if parts[0] != parts[1]:
        split, whole = (left, right) if parts[0] > parts[1] else (right, left)
        return SPLIT.format(split=split.name, whole=whole.name)
    if (VECTORS in left.source) != (VECTORS in right.source):
        vector, scalar = (left, right) if VECTORS in left.source else (right, left)
        return VECTORIZED.format(vector=vector.name, scalar=scalar.name)
    if left.name != right.name or written.node.fused != counterpart.node.fused:
        text = FUSED_LOW if dtype in LOW_PRECISION else FUSED
        return text.format(left=left.name, right=right.name, dtype=str(dtype).removeprefix("torch."))
    if left.source == right.source:
        return ""
    rounds = dtype in LOW_PRECISION and len(written.node.fused) > 1
    return OTHER_ROUNDING.format(dtype=str(dtype).removeprefix("torch.")) if rounds else OTHER_CODE


class SmallerCopy(ModelCopy):
    """A copy of the model whose inputs have the first rows of the batch only."""

    def __init__(self, path: Path, job: CompileJob, module_name: str, batch: int) -> None:
        super().__init__(path, job, module_name)
        self._batch = batch

    def calls(self) -> Iterator[Arguments]:
        """Yield the inputs of each call, cut to the batch's first rows; raises JobError without more rows."""
        for call in super().calls():
            tensors = [leaf for leaf in tree_leaves(call) if isinstance(leaf, torch.Tensor) and leaf.dim()]
            if not tensors:
                raise JobError("bits", NO_BATCH)
            size = tensors[0].shape[0]
            if size <= self._batch:
                raise JobError("bits", BATCH_TOO_LARGE.format(size=size))
            yield tree_map_only(torch.Tensor, partial(self._first_rows, size), call)

    def _first_rows(self, size: int, value: torch.Tensor) -> torch.Tensor:
        if not value.dim() or value.shape[0] != size:
            return value
        return value.detach()[: self._batch].clone().requires_grad_(value.requires_grad)


def bit_comparison(job: CompileJob, path: Path) -> BitComparison:
    """Compare the job's first call in both configurations; an error becomes the result's `problem`."""
    other_job, other = other_configuration(job), OtherSide()
    own = OwnSide(other, BATCH in job.bits)
    try:
        with quiet_compilation(), silence(), lookups(Conditions()):
            if BATCH in job.bits:
                _try_eagerly(other_job, path, int(job.bits[BATCH] or 1))
            _call(other_job, path, job.bits, ValueRecorder(other.write, other.enter))
            _call(job, path, {}, ValueRecorder(own.write, own.enter))
    except Exception as error:
        problem = error.message if isinstance(error, JobError) else first_line(error)
        return BitComparison(changes=job.bits, problem=problem)
    return BitComparison(
        changes=job.bits,
        nodes=tuple(own.nodes),
        compared=own.compared,
        different=own.different,
        unmatched=tuple(dict.fromkeys([*own.unmatched, *own.left_over()]))[:MOST_NODES],
        too_large=own.too_large,
        problem="" if own.compared else NOTHING_WRITTEN,
    )


def _try_eagerly(job: CompileJob, path: Path, batch: int) -> None:
    """Make the smaller call in eager: an index out of range raises in eager, but ends a compiled process."""
    copy = SmallerCopy(path, job, "compileboard_bits", batch)
    call = ModelCalls(job, copy, copy.model, True).next(0)
    if call is not None:
        with call.ready():
            call()


def _call(job: CompileJob, path: Path, changes: dict[str, Any], recorder: ValueRecorder) -> None:
    """Compile a new model copy, and make its first call while `recorder` records it."""
    torch.compiler.reset()
    name, batch = "compileboard_bits", changes.get(BATCH)
    copy = SmallerCopy(path, job, name, batch) if batch else ModelCopy(path, job, name)
    if is_compiled(copy.model):
        raise JobError("bits", ITS_OWN)
    set_dynamo(job.conditions)
    for each in copy.modules() if EVAL in changes else ():
        each.train(not changes[EVAL])
    threads = torch.get_num_threads()
    torch.set_num_threads(job.conditions.threads or threads)
    try:
        calls = ModelCalls(job, copy, compiled_side(job, copy), False)
        if (call := calls.next(0)) is None:
            return
        seed(job.seed)
        with call.ready(), recorder.watching():
            call()
    finally:
        torch.set_num_threads(threads)


MAX_LINE_CHARS = 300  #: the line of a value
INPUTS = re.compile(r"^\s+(?P<names>[\w, ]+?),? = args$", re.MULTILINE)
TARGET = re.compile(r"^\s*(?P<name>\w+) = ")


@dataclass(frozen=True, slots=True)
class BufferNode:
    """The FX node whose value is in a buffer, and the FX nodes that Inductor fused with it.

    `parts` are the sizes of the node's reductions; several if Inductor split a reduction.
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
    """A value that a kernel has written.

    `name` is the name of the written buffer, `node` its FX node, None if unknown. `reads` are the names of the
    buffers and graph inputs that the kernel reads.
    """

    name: str
    node: BufferNode | None
    kernel: KernelText
    value: torch.Tensor
    reads: tuple[str, ...]


class InstrumentedCode:
    """Output code with its buffers' nodes, its kernels' sources, and the names of its inputs."""

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
        """Return the buffers and graph inputs that a call reads.

        A buffer that the call overwrites in place is listed by its earlier name.
        """
        names = tensor_names(texts)
        aliases = (next((at for at in code.buffers.aliases(name) if at in self._written), "") for name in names)
        inputs = [name for name in names if any(name in row for row in code.inputs)]
        return [*dict.fromkeys(alias for alias in aliases if alias and alias not in new), *inputs]


def _arguments(line: str) -> tuple[list[str], dict[str, str]]:
    """Return positional and keyword arguments of the first call in a line, as source; empty if none."""
    try:
        calls = [node for node in ast.walk(module(line.strip())) if isinstance(node, ast.Call)]
    except NOT_READ:
        return [], {}
    if not calls:
        return [], {}
    keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in calls[0].keywords if keyword.arg}
    return [ast.unparse(argument) for argument in calls[0].args], keywords
