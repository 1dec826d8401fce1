"""Recorder of Inductor's graph passes, from torch's own observer of passes.

`change` compares two snapshots of an FX graph. `printed` returns chosen nodes as torch prints them.
"""

import functools
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import torch
from torch._functorch._aot_autograd import graph_compile
from torch._inductor import compile_fx, pattern_matcher
from torch.fx import Graph, GraphModule, Node
from torch.fx.graph import _Namespace
from torch.fx.node import _format_arg
from torch.fx.passes.graph_transform_observer import GraphTransformObserver

from core.report import Module
from core.report.nodes import PassStage
from core.report.records import Emit
from core.report.records.compilation import ModulesRecord, PassesRecord, PassRecord
from core.worker.recorders.stacks import Modules, Sources, stacks_of

# Node name → the node, and its target, args and kwargs. FX never changes args in place, so identical objects mean no
# change.
Snapshot = dict[str, tuple[Node, Any, Any, Any]]
SITE = f"{Path(torch.__file__).parent.parent}{os.sep}"
STAGES: dict[str, PassStage] = {
    "_recursive_pre_grad_passes": "pre_grad",
    "_recursive_joint_graph_passes": "joint",
    "_recursive_post_grad_passes": "post_grad",
}
APPLY = ("apply_gm_pass", "apply_graph_pass")
PATTERNS = ("LoweringPatternEntry", "GraphPatternEntry", "ReplacementPatternEntry")


@dataclass
class Change:
    """Changes of a pass, as node names in graph order.

    `after` has the name of the node before each added node; empty for the first node. `order` has all names if
    remaining nodes were reordered, otherwise it is empty.
    """

    added: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.rewritten or self.order)


def snapshot(graph: Graph) -> Snapshot:
    """Return a snapshot of a graph."""
    return {node.name: (node, node.target, node.args, node.kwargs) for node in graph.nodes}


def change(old: Snapshot, new: Snapshot) -> Change:
    """Return the changes from one snapshot to the next."""
    if list(old) == list(new):
        return Change(rewritten=_rewritten(old, new))
    names = list(new)
    added = [name for name in names if name not in old]
    places = {name: index for index, name in enumerate(names)}
    stayed = [name for name in old if name in new]
    return Change(
        added=added,
        after=[names[places[name] - 1] if places[name] else "" for name in added],
        removed=[name for name in old if name not in new],
        rewritten=_rewritten(old, new),
        order=names if stayed != [name for name in names if name in old] else [],
    )


def _rewritten(old: Snapshot, new: Snapshot) -> list[str]:
    """Return the nodes in both snapshots whose text differs.

    Compares identity first, since most nodes are unchanged and the function runs around every pass.
    """
    touched = [
        name
        for name, (node, target, args, kwargs) in new.items()
        if (was := old.get(name)) is not None
        and not (was[2] is args and was[3] is kwargs and was[0] is node and was[1] is target)
    ]
    found = {name for name in touched if _differs(old[name], new[name])}
    found |= {user.name for name, (node, *_) in old.items() if node.name != name for user in node.users}
    return [name for name in new if name in found and name in old]


def _differs(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    return old[0].op != new[0].op or old[1] != new[1] or _text(old) != _text(new)


def _text(state: tuple[Any, ...]) -> tuple[str, list[tuple[str, str]]]:
    """Return a node's arguments as text to compare: comparing values could add guards on symbolic sizes."""
    _, _, args, kwargs = state
    return _format_arg(args), [(name, _format_arg(value)) for name, value in kwargs.items()]


def printed(graph: Graph, names: list[str]) -> str:
    """Return the statements of some nodes as torch prints them in the whole graph; empty if it can't."""
    wanted = set(names)
    nodes: Any = [node for node in graph.nodes if node.name in wanted]
    try:
        code = graph._codegen._gen_python_code(
            nodes, "self", _Namespace(), verbose=True, include_stride=True, include_device=True
        )
    except Exception:
        return ""
    return code.src


@dataclass
class PassRound:
    """Passes over one graph, in progress. `depth` counts nested observers."""

    name: PassStage
    module: GraphModule
    subgraph: str
    graph: Snapshot
    depth: int = 0
    started_us: float = 0.0
    source: str = ""
    patterns: dict[tuple[str, str], int] = field(default_factory=dict)
    unchanged: list[tuple[str, float]] = field(default_factory=list)


class PassRecorder:
    """Recorder of passes.

    Emits a record for each pass that changed the graph, and at the end of a stage one record for all other passes.
    """

    def __init__(self, emit: Emit, modules: Modules, sources: Sources) -> None:
        self._emit = emit
        self._sources = sources
        self._modules = modules
        self._stages: list[PassRound] = []
        self._nested = 0
        self._others = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Patch torch's stages, passes and patterns in this context, as far as this torch has them."""
        hooks: list[tuple[Any, str, Callable[..., Any]]] = [
            *((compile_fx, name, functools.partial(self._stage, stage)) for name, stage in STAGES.items()),
            (compile_fx, "view_to_reshape", functools.partial(self._unobserved, "before_post_grad")),
            (graph_compile, "tensorify_python_scalars", functools.partial(self._unobserved, "joint")),
            (graph_compile, "run_joint_graph_passes_on_hops", functools.partial(self._unobserved, "joint")),
            (graph_compile, "aot_stage2_inference", self._traced),
            (graph_compile, "aot_stage2_autograd", self._traced),
            *((GraphTransformObserver, name, self._applied) for name in APPLY),
            (GraphTransformObserver, "__enter__", self._entered),
            (GraphTransformObserver, "__exit__", self._left),
            *((getattr(pattern_matcher, name, None), "apply", self._matched) for name in PATTERNS),
        ]
        with ExitStack() as stack:
            for owner, name, around in hooks:
                if hasattr(owner, name):
                    stack.enter_context(patch.object(owner, name, around(getattr(owner, name))))
            yield

    def _stage(self, name: PassStage, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def stage(module: GraphModule, *args: Any, **kwargs: Any) -> Any:
            modules = self._modules.of(module.graph)
            self._stages.append(PassRound(name, module, self.subgraph(module), snapshot(module.graph)))
            try:
                result = original(module, *args, **kwargs)
                self._finish(result if isinstance(result, GraphModule) else module, modules)
            finally:
                self._stages.pop()
            return result

        return stage

    def subgraph(self, module: GraphModule) -> str:
        """Return the name of a nested graph; empty for a whole graph."""
        if not self._stages:
            return "invoke_subgraph" if self._nested else ""
        outer = self._stages[-1]
        name = next((name for name, child in outer.module.named_children() if child is module), "nested graph")
        return f"{outer.subgraph}.{name}" if outer.subgraph else name

    def _finish(self, module: GraphModule, modules: dict[str, Module]) -> None:
        stage = self._stages[-1]
        stage.module = module
        self._other_changes(stage)
        self._emit(PassesRecord(stage=stage.name, subgraph=stage.subgraph, unchanged=tuple(stage.unchanged)))
        if stage.name != "post_grad" and not stage.subgraph:
            self._emit_origins(stage.name, module, modules)

    @contextmanager
    def recording_origins(self, module: GraphModule) -> Iterator[None]:
        """Record the modules and stacks of graphs, for backends without Inductor's stages."""
        self._emit_origins("pre_grad", module, {})
        self._others += 1
        try:
            yield
        finally:
            self._others -= 1

    def _traced(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def compile_traced(state: Any, capture: Any, *args: Any, **kwargs: Any) -> Any:
            if self._others and isinstance(capture.graph_module, GraphModule):
                self._emit_origins("joint", capture.graph_module, {})
            return original(state, capture, *args, **kwargs)

        return compile_traced

    def _emit_origins(self, stage: PassStage, module: GraphModule, earlier: dict[str, Module]) -> None:
        self._emit(ModulesRecord(stage=stage, modules={**earlier, **self._modules.of(module.graph)}))
        stacks = stacks_of(module.graph, stage)
        self._sources.name(dict.fromkeys(file for file, _, _ in stacks.frames))
        self._emit(stacks)

    def _unobserved(self, stage_name: PassStage, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function's replacement that records the function like a pass.

        The function rewrites a whole graph. The passes inside it have nested graphs.
        """

        @functools.wraps(original)
        def rewrite(module: GraphModule, *args: Any, **kwargs: Any) -> Any:
            stage = PassRound(stage_name, module, "", snapshot(module.graph), source=_source(original))
            started_us = time.perf_counter_ns() / 1e3
            self._nested += 1
            try:
                result = original(module, *args, **kwargs)
            finally:
                self._nested -= 1
            stage.module = result if isinstance(result, GraphModule) else module
            self._passed(stage, original.__name__, time.perf_counter_ns() / 1e3 - started_us)
            return result

        return rewrite

    def _applied(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(observer: GraphTransformObserver, function: Callable[..., Any]) -> Any:
            stage = self._watched(observer)
            if stage is not None and not stage.depth:
                stage.source = _source(function) or _place(sys._getframe(1))
            return original(observer, function)

        return apply

    def _entered(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def enter(observer: GraphTransformObserver) -> Any:
            stage = self._watched(observer)
            if stage is None:
                return original(observer)
            stage.depth += 1
            if stage.depth == 1:
                self._other_changes(stage)
                stage.source = stage.source or _place(sys._getframe(1))
                stage.patterns = {}
                stage.started_us = time.perf_counter_ns() / 1e3
            return original(observer)

        return enter

    def _left(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def leave(observer: GraphTransformObserver, *error: Any) -> Any:
            result = original(observer, *error)
            stage = self._watched(observer)
            if stage is None or not stage.depth:
                return result
            stage.depth -= 1
            if not stage.depth:
                self._passed(stage, observer.passname, time.perf_counter_ns() / 1e3 - stage.started_us)
            return result

        return leave

    def _matched(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(entry: Any, match: Any, graph: Any, node: Any) -> Any:
            if self._stages:
                handler = getattr(entry, "handler", None)
                named = getattr(entry, "pattern_name", None) or getattr(handler, "__name__", "")
                key = (named or f"{type(entry.pattern).__name__} of {node.target}", _source(handler))
                patterns = self._stages[-1].patterns
                patterns[key] = patterns.get(key, 0) + 1
            return original(entry, match, graph, node)

        return apply

    def _watched(self, observer: GraphTransformObserver) -> PassRound | None:
        """Return the stage of a pass; None if it runs on a part of the stage's graph, which is not recorded."""
        stage = self._stages[-1] if self._stages else None
        if stage is None or observer.gm is stage.module:
            return stage
        if any(observer.gm is module for module in stage.module.modules()):
            return None
        stage.module = observer.gm
        return stage

    def _passed(self, stage: PassRound, name: str, duration_us: float) -> None:
        found = self._changed(stage)
        if found:
            self._write(stage, found, name, duration_us)
        else:
            stage.unchanged.append((name, round(duration_us, 1)))
        stage.source = ""

    def _other_changes(self, stage: PassRound) -> None:
        """Record changes to the graph since the last observed pass."""
        found = self._changed(stage)
        if found:
            stage.patterns = {}
            self._write(stage, found, "", None)

    def _changed(self, stage: PassRound) -> Change:
        now = snapshot(stage.module.graph)
        found = change(stage.graph, now)
        stage.graph = now
        return found

    def _write(self, stage: PassRound, change: Change, name: str, duration_us: float | None) -> None:
        names = change.added + change.rewritten
        modules = self._modules.of(stage.module.graph) if names else {}
        self._emit(
            PassRecord(
                stage=stage.name,
                subgraph=stage.subgraph,
                name=name,
                duration_us=None if duration_us is None else round(duration_us, 1),
                source=stage.source if name else "",
                patterns=tuple((*key, count) for key, count in stage.patterns.items()),
                added=tuple(change.added),
                after=tuple(change.after),
                removed=tuple(change.removed),
                rewritten=tuple(change.rewritten),
                order=tuple(change.order),
                reads=tuple(sorted({item.name for one in names for item in stage.graph[one][0].all_input_nodes})),
                modules={one: modules[one] for one in names if one in modules},
                text=printed(stage.module.graph, names) if names else "",
            )
        )


def _source(function: Any) -> str:
    """Return `file:line` of a pass, with torch's paths shortened; empty for a pattern matcher's method."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(getattr(function, "__self__", None), pattern_matcher.PatternMatcherPass):
        return ""
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    code = code or getattr(getattr(type(function), "__call__", None), "__code__", None)  # noqa: B004
    return f"{_short(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""


def _place(frame: FrameType) -> str:
    """Return `file:line` of a pass's call site, outside the pattern matcher."""
    while frame.f_code.co_filename == pattern_matcher.__file__ and frame.f_back is not None:
        frame = frame.f_back
    return f"{_short(frame.f_code.co_filename)}:{frame.f_lineno}"


def _short(path: str) -> str:
    return path.removeprefix(SITE)
