"""Execution of a script as `__main__` with its arguments; its calls of compiled code are recorded.

The context of Dynamo that torch.compile calls is replaced while the script runs, so that torch.compile is torch's
own function. A compiled module stays torch's own object, with a recorder around its forward. A compiled function is
returned in a wrapper. Calls of torch.compile in torch's own code are not recorded.
"""

import atexit
import functools
import inspect
import runpy
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any
from unittest.mock import patch

import torch
import torch._dynamo.eval_frame as eval_frame
from torch._dynamo.convert_frame import ConvertFrameAssert
from torch._dynamo.eval_frame import OptimizeContext, innermost_backend

from core.job import CompileJob
from core.job.notebook import is_notebook
from core.report import Call, EntryPoint, Place, Script
from core.report.records import Emit
from core.worker.backends.watch import CALL, marking_call
from core.worker.calls import how_called
from core.worker.load import described, run_cells, seed
from core.worker.own_torch import importing_torch, own_backends_hidden
from core.worker.record import step
from core.worker.recorders.bytecode import watching_reuse

RUNNING = "running the script"
MOST_CALLS = 2_000  #: limit: calls of a script with a record each; later calls are counted
MOST_ENTRIES = 200  #: limit: callables of a script with recorded calls
MAX_TEXT_CHARS = 400  #: a name, options or an error in the record of a script's call
TORCH = str(Path(torch.__file__).parent)
HERE = str(Path(__file__).parents[1])
SAMPLES = str(Path(HERE) / "samples")
STANDARD_LIBRARY = sysconfig.get_path("stdlib")
INSTALLED = {"site-packages", "dist-packages"}
# Methods of a module that call the module itself.
CALLS = {"forward", "__call__", "_call_impl", "_wrapped_call_impl"}
DEFAULTS: dict[str, Any] = {"fullgraph": False, "disable": False, "isolate_recompiles": False}


def run_script(job: CompileJob, path: Path, emit: Emit) -> None:
    """Run a script to its end, and record its exit code, duration, entry points and calls.

    Raises the script's exceptions; SystemExit only for an exit code other than 0.
    """
    recorder = ScriptRecorder(emit)
    code: int | str | None = 0
    seed(job.seed)
    argv, sys.argv = sys.argv, [str(path), *job.arguments]
    start = time.perf_counter()
    try:
        with recorder.watching(), own_backends_hidden(), ending_as_python_does(), importing_torch(not job.logs):
            _run_as_main(path)
    except SystemExit as end:
        code = end.code
        if code not in (None, 0):
            raise
    except BaseException:
        code = 1
        raise
    finally:
        sys.argv = argv
        number = code if isinstance(code, int) else 0 if code is None else 1
        emit(
            Script(
                arguments=job.arguments,
                exit_code=number,
                seconds=time.perf_counter() - start,
                entries=tuple(recorder.entries),
                calls=tuple(recorder.calls),
            )
        )


@contextmanager
def ending_as_python_does() -> Iterator[None]:
    """Wait for the threads started in this context, then call the functions registered with atexit.

    Both happen at the end of the context. Daemon threads are not waited for. A worker process would end without
    either step.
    """
    before = set(threading.enumerate())
    registered: list[Callable[[], object]] = []

    def register(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        registered.append(functools.partial(function, *args, **kwargs))
        return function

    with patch.object(atexit, "register", register):
        try:
            yield
        finally:
            # Executors stop their threads here.
            for at_end in reversed(getattr(threading, "_threading_atexits", ())):
                at_end()
            for thread in set(threading.enumerate()) - before:
                if not thread.daemon:
                    thread.join()
            for call in reversed(registered):
                try:
                    call()
                except Exception as error:
                    traceback.print_exception(error, chain=False)


def _run_as_main(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    if not is_notebook(code):
        runpy.run_path(str(path), run_name="__main__")
        return
    before, main = sys.modules["__main__"], ModuleType("__main__")
    sys.modules["__main__"] = main
    try:
        run_cells(path, code, vars(main))
    finally:
        sys.modules["__main__"] = before


class ScriptRecorder:
    """Recorder of a script's entry points (results of torch.compile) and of the calls of each."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._next_call = 0
        self._compiles = False
        self._nested = threading.local()
        self.entries: list[EntryPoint] = []
        self.calls: list[int] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record the calls, also later ones, of each callable that torch.compile returns here."""
        original = OptimizeContext.__call__
        # Compiled autograd calls torch.compile within a compiled call: Dynamo must not trace what we do there.
        recorded = torch._dynamo.disable(self._recorded_at, reason="the recorder of Compileboard")

        def compile_recorded(context: Any, model: Any) -> Any:
            frame = sys._getframe(1)
            if getattr(self._nested, "depth", 0):
                return original(context, model)
            self._nested.depth = 1
            try:
                compiled = original(context, model)
            finally:
                self._nested.depth = 0
            return recorded(frame, context, model, compiled)

        eval_frame.skip_code(compile_recorded.__code__)
        convert = ConvertFrameAssert.__call__

        def convert_noted(*args: Any, **kwargs: Any) -> Any:
            self._note_compilation()
            return convert(*args, **kwargs)

        with (
            patch.object(OptimizeContext, "__call__", compile_recorded),
            patch.object(ConvertFrameAssert, "__call__", convert_noted),
        ):
            yield

    def _note_compilation(self) -> None:
        """Begin the step "compiled" of the current call when torch first compiles in it."""
        if CALL.index is not None and not self._compiles:
            self._compiles = True
            step(f"call {CALL.index}: compiled")

    def _recorded_at(self, frame: FrameType, context: Any, model: Any, compiled: Any) -> Any:
        places = _callers(frame)
        if not places or len(self.entries) >= MOST_ENTRIES:
            return compiled
        return self._recorded(model, compiled, _arguments(frame, context), places)

    def _recorded(self, model: Any, compiled: Any, options: dict[str, Any], places: tuple[Place, ...]) -> Any:
        number = len(self.entries)
        user, *library = reversed(places)
        entry = EntryPoint(_name(model), user, _backend(options), _options(options), library[0] if library else None)
        self.entries.append(entry)
        self.calls.append(0)
        if isinstance(compiled, eval_frame.OptimizedModule):
            compiled.forward = self._around(number, compiled.forward)
            return compiled
        if isinstance(compiled, type):
            # torch compiles what a call of an instance runs, and returns the class itself.
            compiled.__call__ = self._around(number, compiled.__call__)  # type: ignore[method-assign]
            return compiled
        return self._around(number, compiled)

    def _around(self, number: int, compiled: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*args: Any, **kwargs: Any) -> Any:
            self.calls[number] += 1
            if CALL.index is not None or self._next_call >= MOST_CALLS:
                return compiled(*args, **kwargs)
            return self._call(number, compiled, args, kwargs)

        for code in (recorded.__code__, ScriptRecorder._call.__code__):
            eval_frame.skip_code(code)
        functools.update_wrapper(recorded, compiled)
        # As torch marks the outermost wrapper of a function.
        recorded._torchdynamo_wrapper_id = id(recorded)  # type: ignore[attr-defined]
        return recorded

    def _call(self, number: int, compiled: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make an outermost call and record it; nested calls count as parts of the outermost call."""
        index, self._next_call = self._next_call, self._next_call + 1
        inputs, raised = described((args, kwargs)), ""
        stance, self._compiles = eval_frame._stance.stance, False
        start = time.perf_counter()
        with watching_reuse() as reuse, marking_call(index):
            try:
                return compiled(*args, **kwargs)
            except Exception as error:
                raised = f"{type(error).__name__}: {error}"[:MAX_TEXT_CHARS]
                raise
            finally:
                seconds = time.perf_counter() - start
                if self._compiles:
                    step(RUNNING)
                self._emit(
                    Call(
                        index=index,
                        inputs=inputs,
                        eager_s=None,
                        compiled_s=seconds,
                        differences=(),
                        entered=len(reuse.places),
                        newest=reuse.newest,
                        how="raised" if raised else how_called(reuse),
                        compilations=reuse.compilations,
                        raised=raised,
                        entry=number,
                        stance="" if stance == "default" else stance,
                    )
                )


def _callers(frame: FrameType | None) -> tuple[Place, ...]:
    """Return the line that called torch.compile, and the user's line that called a library's line."""
    while frame is not None and frame.f_code.co_filename in (torch.__file__, torch.nn.modules.module.__file__):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(TORCH):
        return ()
    place = Place(frame.f_code.co_filename, frame.f_lineno)
    while frame is not None and _is_installed(frame.f_code.co_filename):
        frame = frame.f_back
    user = Place(frame.f_code.co_filename, frame.f_lineno) if frame is not None else place
    return (place,) if user == place or _is_ours(user.file) else (place, user)


def _is_installed(file: str) -> bool:
    return bool(INSTALLED.intersection(Path(file).parts)) or file.startswith((STANDARD_LIBRARY, "<"))


def _is_ours(file: str) -> bool:
    return file.startswith(HERE) and not file.startswith(SAMPLES)


def _arguments(frame: FrameType, context: Any) -> dict[str, Any]:
    """Return the arguments of the torch.compile call, or the backend, of a context of Dynamo."""
    backend = innermost_backend(context.callback)
    backend = getattr(backend, "compiler_name", backend)
    if frame.f_code is not inspect.unwrap(torch.compile).__code__:
        return {"backend": backend}
    names = inspect.signature(inspect.unwrap(torch.compile)).parameters
    options = {name: frame.f_locals.get(name) for name in names if name != "model"}
    # torch itself sets the mode.
    options["mode"] = None if options.get("mode") == "default" else options.get("mode")
    return {**options, "backend": backend}


def _name(model: Any) -> str:
    owner = getattr(model, "__self__", None)
    name = getattr(model, "__qualname__", None)
    if isinstance(owner, torch.nn.Module):
        method = getattr(model, "__name__", "")
        kind = type(owner).__qualname__
        return (kind if method in CALLS else f"{kind}.{method}")[:MAX_TEXT_CHARS]
    return (name if isinstance(name, str) else type(model).__qualname__)[:MAX_TEXT_CHARS]


def _backend(options: dict[str, Any]) -> str:
    backend = options.get("backend", "inductor")
    name = backend if isinstance(backend, str) else getattr(backend, "__name__", type(backend).__name__)
    return str(name)[:MAX_TEXT_CHARS]


def _options(options: dict[str, Any]) -> str:
    """Return the options that differ from torch's defaults as Python source, without the backend."""
    given = (
        f"{name}={value!r}"
        for name, value in options.items()
        if name != "backend" and value is not None and value != DEFAULTS.get(name)
    )
    return ", ".join(given)[:MAX_TEXT_CHARS]
