"""Instruments of measurement: clocks for repeated calls, and output code with kernel hooks.

`EventClock` works like `triton.testing.do_bench`, so that both can be compared. Before each call, it zeroes a
buffer larger than any L2 cache. It records events on the stream right before and after the call. Launches run
ahead while the device zeroes the buffer. Launch time beyond that, and gaps between kernels, are part of the
result.

An instrumented function is compiled again from the file that Inductor wrote, with `kernel(a, b)` replaced by
`compileboard_kernel(line, name, kernel, a, b)`. Only `__code__` is replaced. So existing references to the
function (in AOTAutograd, Dynamo's cache) call the instrumented code. Afterwards the original code is
restored.
"""

import ast
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch._inductor.codecache import PyCodeCache

from core.code.output_code import definitions, is_collective, is_extern_kernel
from core.worker.environment import WITH_EVENTS, synchronize

# The same as in triton.testing.do_bench.
FLUSHED_BYTES = 256 * 2**20
WALL = "the wall clock"
EVENTS = "the device's own events, the L2 cache flushed before each call"
EVENTS_ALONE = "the device's own events, with no room for a flush of the L2 cache"

Clock = Callable[[], float]


class WallClock:
    """Wall clock that starts on an idle device, and stops when the device has finished all calls."""

    name = WALL

    def __init__(self, device: str, clock: Clock = time.perf_counter) -> None:
        self._device = device
        self._clock = clock

    def seconds(self, call: Callable[[], Any], calls: int) -> float:
        synchronize(self._device)
        start = self._clock()
        for _ in range(calls):
            call()
        synchronize(self._device)
        return (self._clock() - start) / calls


class EventClock:
    """Clock of two events on the call's stream."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._module = getattr(torch, device.partition(":")[0])
        self._flushed = _buffer(device)
        self.name = EVENTS if self._flushed is not None else EVENTS_ALONE

    def seconds(self, call: Callable[[], Any], calls: int) -> float:
        stream = self._module.current_stream(self._device)
        events = [[self._module.Event(enable_timing=True) for _ in range(2)] for _ in range(calls)]
        synchronize(self._device)
        for begin, end in events:
            if self._flushed is not None:
                self._flushed.zero_()
            begin.record(stream)
            call()
            end.record(stream)
        synchronize(self._device)
        return sum(float(begin.elapsed_time(end)) for begin, end in events) / calls / 1e3


def event_clock(device: str) -> EventClock | None:
    """Return the device's event clock; None for a device that is timed by the wall clock."""
    return EventClock(device) if device.partition(":")[0] in WITH_EVENTS else None


def _buffer(device: str) -> torch.Tensor | None:
    """Return the buffer written to flush the cache; None if the model has left no memory for it."""
    try:
        return torch.empty(FLUSHED_BYTES, dtype=torch.int8, device=device)
    except torch.OutOfMemoryError:
        return None


Hook = Callable[..., Any]
KERNEL_HOOK, CALL_HOOK, CALL_BODY = "compileboard_kernel", "compileboard_call", "compileboard_body"
MAX_CODE_BYTES = 8_000_000  #: generated code that is timed line by line


class Wrapper:
    """An output code: its file, and its functions that call kernels.

    Each function has its original and its instrumented code.
    """

    def __init__(self, module: ModuleType) -> None:
        self.path = str(module.__file__)
        self.module = module
        self._call = _entry(module)
        self._codes = {function: function.__code__ for function in _functions(module)}
        self._instrumented = _instrumented(self.path, list(self._codes.values()))

    @contextmanager
    def tapped(self, kernel: Hook | None, call: Hook) -> Iterator[None]:
        """Route calls through `call(body, *args)`, and kernels through `kernel(line, name, function, …)`.

        Without `kernel`, the body is the code as Inductor wrote it. The hooks stay in the module, since another
        thread may still run the instrumented code at the end.
        """
        names = vars(self.module)
        codes = self._codes if kernel is None else {f: self._instrumented.get(c, c) for f, c in self._codes.items()}
        names.update({KERNEL_HOOK: kernel, CALL_HOOK: call, CALL_BODY: FunctionType(codes[self._call], names)})
        try:
            for function, code in codes.items():
                function.__code__ = code
            self._call.__code__ = FORWARD
            yield
        finally:
            for function, code in self._codes.items():
                function.__code__ = code


def wrappers(besides: Collection[ModuleType] = ()) -> list[Wrapper]:
    """Return all output codes of this process whose Python can be instrumented, except `besides`."""
    modules = [module for module in dict.fromkeys(PyCodeCache.modules) if module not in besides]
    return [Wrapper(module) for module in modules if _is_output_code(module)]


def _is_output_code(module: ModuleType) -> bool:
    path = Path(module.__file__ or "")
    return hasattr(module, "Runner") and path.is_file() and path.stat().st_size <= MAX_CODE_BYTES


def _entry(module: ModuleType) -> FunctionType:
    found = vars(module.Runner)["call"]
    assert isinstance(found, FunctionType)
    return found


def _functions(module: ModuleType) -> list[FunctionType]:
    """Return `Runner.call`, and the module's other functions: partitions and subgraphs."""
    own = [value for value in vars(module).values() if isinstance(value, FunctionType)]
    return [_entry(module), *(function for function in own if function.__code__.co_filename == module.__file__)]


def _instrumented(path: str, codes: list[CodeType]) -> dict[CodeType, CodeType]:
    """Return a map from original code to the same function's code in the instrumented file."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    changed = ast.fix_missing_locations(_Instrument({kernel.name for kernel in definitions(tree)}).visit(tree))
    compiled = {_place(code): code for code in _code_objects(compile(changed, path, "exec"))}
    return {code: compiled[_place(code)] for code in codes if _place(code) in compiled}


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _code_objects(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _code_objects(constant)


class _Instrument(ast.NodeTransformer):
    """AST transformer that rewrites each call of a kernel."""

    def __init__(self, kernels: set[str]) -> None:
        self._kernels = kernels

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if not self._is_kernel(name):
            return node
        hook = ast.Name(KERNEL_HOOK, ast.Load())
        first = [ast.Constant(node.lineno), ast.Constant(name.removesuffix(".run")), node.func]
        return ast.copy_location(ast.Call(hook, [*first, *node.args], node.keywords), node)

    def _is_kernel(self, name: str) -> bool:
        if name.removesuffix(".run") in self._kernels:
            return True
        return is_extern_kernel(name) and not is_collective(name)


# Replacement code of `call`; its global names are those of the output code.
FORWARD = next(
    _code_objects(compile(f"def call(*args): return {CALL_HOOK}({CALL_BODY}, *args)", "<compileboard>", "exec"))
)
