"""Stack trace, source file and `nn.Module` of each FX node.

A backward node gets the module of its forward node. Stacks and files are recorded between the steps of a run,
so that recording delays no call.
"""

import linecache
import re
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from torch._dynamo.symbolic_convert import tls
from torch._logging.structured import INTERN_TABLE
from torch.fx import Graph, Node

from core.report import Module
from core.report.records import Emit
from core.report.records.compilation import SourceRecord, StacksRecord

FRAME = re.compile(r'^  File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
LARGEST_SOURCE_BYTES = 1_000_000  #: limit: a recorded file of a library
MOST_SOURCES_BYTES = 8_000_000  #: limit: all recorded library files of a run
MOST_STACK_FRAMES = 100  #: recorded frames of a node's stack
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
HERE = Path(__file__).parents[2]
SAMPLES = HERE / "samples"
TORCH = Path(torch.__file__).parent
# Torch files that users read; other torch files in stacks belong to tracing.
READ_OF_TORCH = (TORCH / "nn", TORCH / "optim")
# In the stack of every module call.
CALLS_MODULES = TORCH / "nn" / "modules" / "module.py"


class Sources:
    """Files named in stacks, each recorded once."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._known = {str(CALLS_MODULES)}
        self._named: list[str] = []
        self._left_bytes = MOST_SOURCES_BYTES

    def already(self, path: str) -> None:
        """Mark a file as recorded."""
        self._known.add(path)

    def name(self, paths: Iterable[str]) -> None:
        """Add files to record later."""
        self._named += paths

    def record(self) -> None:
        """Record the new files of stacks and of torch's log."""
        for path in [*self._named, *INTERN_TABLE]:
            if path not in self._known:
                self._known.add(path)
                self._one(path)
        self._named.clear()

    def _one(self, path: str) -> None:
        text = _text(Path(path), self._left_bytes) if path.endswith(".py") else None
        if text is not None:
            self._left_bytes -= len(text)
            self._emit(SourceRecord(path=path, text=text))


def _text(path: Path, left_bytes: int) -> str | None:
    """Return a file's text; None if it isn't part of the model's code or is too long."""
    ours = path.is_relative_to(HERE) and not path.is_relative_to(SAMPLES)
    library = path.is_relative_to(STANDARD_LIBRARY) and "site-packages" not in path.parts
    tracing = path.is_relative_to(TORCH) and not any(path.is_relative_to(part) for part in READ_OF_TORCH)
    try:
        if ours or library or tracing:
            return None
        if not path.is_file():
            # The code of a notebook's cell is in no file.
            lines = linecache.getlines(str(path))
            return "".join(lines) if 0 < sum(map(len, lines)) <= min(LARGEST_SOURCE_BYTES, left_bytes) else None
        if path.stat().st_size > min(LARGEST_SOURCE_BYTES, left_bytes):
            return None
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def stacks_of(graph: Graph, stage: str) -> StacksRecord:
    """Return the stacks of a graph's nodes; each stack begins at the frame that Dynamo traced."""
    frames: dict[tuple[str, int, str], int] = {}
    stacks: dict[tuple[int, int], int] = {}
    by_text: dict[str, int] = {}
    nodes: dict[str, int] = {}
    for node in graph.nodes:
        text = node.meta.get("stack_trace")
        if not isinstance(text, str) or not text:
            continue
        if text not in by_text:
            by_text[text] = _stack(text, frames, stacks)
        nodes[node.name] = by_text[text]
    return StacksRecord(stage=stage, frames=tuple(frames), stacks=tuple(stacks), nodes=nodes)


def _stack(text: str, frames: dict[tuple[str, int, str], int], stacks: dict[tuple[int, int], int]) -> int:
    around = -1
    for file, line, function in FRAME.findall(text)[-MOST_STACK_FRAMES:]:
        frame = frames.setdefault((file, int(line), function), len(frames))
        around = stacks.setdefault((around, frame), len(stacks))
    return around


class Modules:
    """Modules of consecutive graphs; known modules of one graph are used for later ones."""

    def __init__(self) -> None:
        self._by_seq: dict[str, dict[int, Module]] = {}
        self._roots: dict[str, Module | None] = {}

    def of(self, graph: Graph) -> dict[str, Module]:
        """Return FX node → its module; nodes without a module are left out."""
        compilation = str(torch._guards.CompileContext.current_compile_id())
        root = self._root(compilation)
        by_seq = self._by_seq.setdefault(compilation, {})
        modules = {node: module for node in graph.nodes if (module := _own(node))}
        calls = [node for node in graph.nodes if node.op.startswith("call_")]
        numbered = {node: module for node, module in modules.items() if "seq_nr" in node.meta}
        # Without autograd, all nodes have the same number.
        told = len({node.meta["seq_nr"] for node in numbered}) > 1
        for node, module in numbered.items():
            if told and node.meta.get("nn_module_stack"):
                by_seq.setdefault(node.meta["seq_nr"], module)
        modules |= {
            node: module for node in calls if node not in modules and (module := _by_origin(node, by_seq, root))
        }
        _from_neighbours(calls, modules)
        return {node.name: module for node, module in modules.items()}

    def _root(self, compilation: str) -> Module | None:
        """Return the module whose method Dynamo traces, for a backward its forward's; None if it is none."""
        tracer = getattr(tls, "current_tx", None)
        if tracer is not None:
            first = next(iter(tracer.f_code.co_varnames), "")
            owner = tracer.f_locals.get(first)
            known = isinstance(owner, torch.nn.Module)
            self._roots[compilation] = Module(f"L['{first}']", type(owner).__name__) if known else None
        return self._roots.get(compilation)


def _own(node: Node) -> Module | None:
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return None
    path, kind = list(stack.values())[-1]
    return Module(str(path), getattr(kind, "__name__", str(kind).rsplit(".", 1)[-1]))


def _by_origin(node: Node, by_seq: dict[int, Module], root: Module | None) -> Module | None:
    """Return the module by autograd's sequence number, which forward and backward nodes share.

    Returns the root for nodes outside submodules. None for a gradient accumulation, since its number belongs to another
    op, and for a node that a pass created.
    """
    if node.meta.get("is_gradient_acc") or not {"seq_nr", "stack_trace"} & node.meta.keys():
        return None
    return by_seq.get(node.meta.get("seq_nr", -1), root)


def _from_neighbours(calls: list[Node], modules: dict[Node, Module]) -> None:
    """Add the modules of the remaining nodes.

    The source is a replaced node, else the readers if all have the same module, else an input.
    """
    by_name = {node.name: module for node, module in modules.items()}
    for node in reversed(calls):
        if node not in modules:
            replaced = [by_name[source.name] for source in node.meta.get("from_node", ()) if source.name in by_name]
            readers = {modules[user] for user in node.users if user in modules}
            found = replaced or (list(readers) if len(readers) == 1 else [])
            if found:
                modules[node] = found[0]
    for node in calls:
        found = [modules[item] for item in node.all_input_nodes if item in modules]
        if node not in modules and found:
            modules[node] = found[0]


class DeferredRecords:
    """Deferred records: the files named so far, and tasks that emit a record when called."""

    def __init__(self, emit: Emit) -> None:
        self.sources = Sources(emit)
        self._tasks: list[Callable[[], None]] = []

    def add(self, task: Callable[[], None]) -> None:
        """Add a task for later."""
        self._tasks.append(task)

    def record(self) -> None:
        """Call the tasks in order, then record the files."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task()
        self.sources.record()
