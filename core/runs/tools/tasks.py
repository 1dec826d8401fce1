"""Requests about one kernel, and their tasks, stored in the run's directory.

<run>/tools/<digest>/task.json     all input of the tool: the request and the texts it refers to
                    /status.json   its status, as for any run
                    /output.txt    its printed output
                    /answer.json   the result

Requests and tasks are made without importing torch. A request is small JSON; its digest is the name of its
result's directory. Texts of a result are cut after `MAX_LINES` lines, with the number of left-out lines.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, StoreError, ToolError
from core.base.files import in_words, read, remove, write_atomically
from core.base.syntax import NOT_READ
from core.base.words import duration_s, number
from core.code.cpp import Loop, Region
from core.code.output_code import Buffers, Shape, buffers, call_arguments, lines_of, tensor_names
from core.code.stages import Resources
from core.job import GIB
from core.job.targets import TARGETS
from core.report import Compilation, FxNode, Kernel, Report, Schedule
from core.runs.people import note_deleted
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import open_report
from core.runs.tools.script import Eager, eager_of, reproduction
from core.trace.parsers.build import load_text
from core.trace.parsers.fx_text import parse_graph

TIME_LIMIT_S = 120.0
MEMORY_LIMIT_BYTES = 6 * GIB


@dataclass(frozen=True, slots=True)
class Task:
    """A request with all texts that it needs, so that the worker reads no log.

    `name` is the kernel's name, `definition` the statement of the output code that defines the kernel, `script`
    the script that reproduces it. The device and the limits are named as in a job.
    """

    request: Request
    name: str = ""
    definition: str = ""
    script: str = ""
    device: str = "cpu"
    time_limit_s: float = TIME_LIMIT_S
    memory_limit_bytes: int = MEMORY_LIMIT_BYTES


def tool_run(run: Run, request: Request) -> Run:
    """Return the directory of a request, whether it exists or not."""
    name = digest(request, run.rank)
    return Run(f"{run.id}/{name}", run.path / "tools" / name, run.liveness)


def create(run: Run, task: Task, by: str = "") -> bool:
    """Create the directory of a queued task atomically; False if it already exists. Raises StoreError."""
    tool = tool_run(run, task.request)
    fresh = Run(tool.id, tool.path.with_name(f".{tool.path.name}.{secrets.token_hex(4)}"))
    kind = type(task.request).__name__
    queued = Status("queued", time.time(), handle=run.liveness.local_handle(), title=kind, by=by)
    try:
        with in_words(run.path):
            fresh.path.mkdir(parents=True)
            write_atomically(fresh.path / "task.json", msgspec.json.encode(task))
            fresh.write_status(queued)
            return _took_place(fresh.path, tool.path)
    finally:
        shutil.rmtree(fresh.path, ignore_errors=True)


def _took_place(fresh: Path, path: Path) -> bool:
    """Move a directory to its final name; False if that name exists."""
    try:
        fresh.rename(path)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return False
        raise
    return True


def forget(run: Run, request: Request) -> None:
    """Remove a result, so that the request can be repeated; raises StoreError while the tool is running."""
    tool = tool_run(run, request)
    if tool.standing().live:
        raise StoreError("the tool is still at work; cancel it first")
    note_deleted(run.path.parent.parent, tool.standing(), is_run=False)
    with in_words(tool.path):
        remove(tool.path)


def read_task(tool: Run) -> Task | None:
    """Return the task of a directory; None if it is an ordinary run's."""
    path = tool.path / "task.json"
    return decoded_as(read(path), Task) if path.exists() else None


def has_answer(tool: Run) -> bool:
    """Return True if there is a result."""
    return (tool.path / "answer.json").exists()


def write_answer(tool: Run, answer: Answer) -> None:
    """Store the result."""
    write_atomically(tool.path / "answer.json", msgspec.json.encode(answer))


def result(run: Run, request: Request) -> Answer | None:
    """Return the stored result of a request, `Trouble` if it ended without; None before its end."""
    tool = tool_run(run, request)
    if not os.path.lexists(tool.path):
        return None
    status = tool.standing()
    if status.live:
        return None
    try:
        answer: Answer = decoded_as(read(tool.path / "answer.json"), Answer)
        return answer
    except FileNotFoundError:
        return Trouble(_why(status), tool.output_tail(4_000))
    except OSError as error:
        return Trouble(f"the stored answer cannot be read: {error.strerror}")
    except DecodeError as error:
        return Trouble(f"the stored answer cannot be read: {error}")


def _why(status: Status) -> str:
    """Return why there is no result."""
    if status.state == "timed out" and status.took_s is not None:
        passed = duration_s(status.took_s)
        return f"it was not done after {passed} and was ended: the kernel may be too large for the compiler"
    return f"the tool ended without an answer: {status.state}, {status.reason}"


NOT_EAGER = Eager({}, {}, (), {}, ())
MAX_CODE_CHARS = 1_000_000  #: limit: code for a tool


def task_for(run: Run, request: Request) -> Task:
    """Return a tool's complete input for a request; raises ToolError."""
    if isinstance(request, Interpret) and not request.kernel:
        if len(request.code) > MAX_CODE_CHARS:
            raise ToolError(f"the code is longer than {number(MAX_CODE_CHARS)} characters")
        return Task(request, script=request.code)
    report = open_report(run)
    _, kernel = find_kernel(report, request.kernel)
    if kernel.extern:
        raise ToolError(f"{kernel.name} is an extern kernel: a library's function, for which no code was generated")
    _check_language(request, kernel)
    text = _output_code(run, kernel)
    statement = lines_of(text, *kernel.lines)
    script = reproduction_of(run, report, kernel.id) if isinstance(request, (Reproduce, Interpret)) else ""
    device = report.setting.job.get("device", "cpu") if report.setting.job else "cpu"
    runs = isinstance(request, Reproduce) and kernel.language == "triton"
    return Task(request, kernel.name, statement, script, str(device) if runs else "cpu")


def find_kernel(report: Report, kernel_id: str) -> tuple[Compilation, Kernel]:
    """Return a kernel and its compilation; raises ToolError."""
    for compilation in report.compilations:
        for kernel in compilation.kernels:
            if kernel.id == kernel_id:
                return compilation, kernel
    raise ToolError(f"the run has no kernel `{kernel_id[:120]}`")


def reproduction_of(run: Run, report: Report, kernel_id: str) -> str:
    """Return the script that runs a kernel alone; raises ToolError if its arguments' shapes are unknown."""
    compilation, kernel = find_kernel(report, kernel_id)
    if kernel.extern:
        raise ToolError(f"{kernel.name} is an extern kernel: its call is in the output code, as one line")
    text = _output_code(run, kernel)
    call = next((arguments for line in kernel.call_lines if (arguments := call_arguments(text, line))), None)
    if call is None:
        raise ToolError(f"the output code does not call {kernel.name}")
    wrapper = buffers(text)
    schedule = _schedule(compilation, kernel)
    shapes = _shapes(call, schedule, wrapper, compilation)
    eager = _eager(run, compilation, kernel, schedule, wrapper, list(shapes))
    statement = lines_of(text, *kernel.lines)
    return reproduction(run.id, kernel, compilation, statement, call, shapes, eager)


def _check_language(request: Request, kernel: Kernel) -> None:
    if isinstance(request, Assembly) and kernel.language != "cpp":
        raise ToolError(f"{kernel.name} is no C++ kernel; its machine code is the last rung of its ladder")
    if isinstance(request, (Ladder, Passes, Configs, Interpret)) and kernel.language != "triton":
        raise ToolError(f"{kernel.name} is no Triton kernel, so it has no such rungs; see its assembly")
    target = getattr(request, "target", "")
    if target and target not in TARGETS:
        raise ToolError(f"there is no target `{target[:60]}`; known are {', '.join(TARGETS)}")


def _output_code(run: Run, kernel: Kernel) -> str:
    log = run.log_path()
    if log is None:
        raise ToolError("the run has no log any more")
    return load_text(log, kernel.output_code)


def _schedule(compilation: Compilation, kernel: Kernel) -> Schedule | None:
    """Return the kernel's schedule; None if there is none."""
    return next(
        (schedule for schedule in compilation.schedules if any(node.kernel == kernel.id for node in schedule.after)),
        None,
    )


def _shapes(
    call: tuple[str, ...], schedule: Schedule | None, wrapper: Buffers, compilation: Compilation
) -> dict[str, Shape]:
    """Return the layout of every tensor of a call, from the record or the wrapper; raises ToolError."""
    recorded = {buffer.name: buffer for buffer in schedule.buffers} if schedule else {}
    symbols = {symbol.name for symbol in compilation.symbols}
    shapes: dict[str, Shape] = {}
    for name in tensor_names(call):
        if name in symbols:
            continue
        buffer = recorded.get(name)
        shape = Shape(buffer.dtype, _tuple(buffer.shape), _tuple(buffer.stride)) if buffer else wrapper.shapes.get(name)
        if shape is None:
            raise ToolError(f"the shape of `{name}` was not recorded, so its input cannot be made")
        shapes[name] = shape
    return shapes


def _tuple(items: tuple[str, ...]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _eager(
    run: Run,
    compilation: Compilation,
    kernel: Kernel,
    schedule: Schedule | None,
    wrapper: Buffers,
    arguments: list[str],
) -> Eager:
    graph = compilation.graph(kernel.graph) or (compilation.lowered(schedule.direction) if schedule else None)
    log = run.log_path()
    if schedule is None or graph is None or log is None:
        return NOT_EAGER
    text = load_text(log, graph.payload)
    try:
        nodes: dict[str, FxNode] = {node.name: node for node in parse_graph(text)}
    except NOT_READ:
        return NOT_EAGER
    return eager_of(kernel, schedule, nodes, text, wrapper, arguments)


SCHEMA = 1
MAX_LINES = 20_000  #: limit: lines of a tool's result


class Ladder(msgspec.Struct, frozen=True, tag=True):
    """Request for the compilation stages of one config of a Triton kernel, from Python to machine code.

    `target` is a key of `core.job.targets.TARGETS`, empty for the device that the kernel was generated for.
    """

    kernel: str
    target: str = ""
    config: int = 0


class Passes(msgspec.Struct, frozen=True, tag=True):
    """Request for the MLIR passes that changed the module, and their changes."""

    kernel: str
    target: str = ""
    config: int = 0


class Configs(msgspec.Struct, frozen=True, tag=True):
    """Request for every config of the autotuner with its resources."""

    kernel: str
    target: str = ""


class Assembly(msgspec.Struct, frozen=True, tag=True):
    """Request for the assembly of a C++ kernel from the compiler that Inductor calls."""

    kernel: str


class Reproduce(msgspec.Struct, frozen=True, tag=True):
    """Request to run the script that reproduces a kernel alone."""

    kernel: str


class Interpret(msgspec.Struct, frozen=True, tag=True):
    """Request to run a Triton kernel in Triton's interpreter on the CPU.

    The kernel is a kernel of the run, or is launched by the module `code`. `program` is the program id, with three
    axes, whose loads and stores are recorded.
    """

    kernel: str = ""
    code: str = ""
    program: tuple[int, int, int] = (0, 0, 0)


Request = Ladder | Passes | Configs | Assembly | Reproduce | Interpret


def digest(request: Request, rank: int | None = None) -> str:
    """Return a digest of a request on one rank of its run, which is also a valid file name."""
    named = [SCHEMA, request] if rank is None else [SCHEMA, request, rank]
    return hashlib.sha256(msgspec.json.encode(named)).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Rung:
    """A compilation stage of a kernel, with its text.

    `name` is Triton's name. `lines` maps lines of the text to source lines. `left_out` counts the lines that were
    cut.
    """

    name: str
    text: str
    lines: dict[int, int] = field(default_factory=dict)
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file in Triton's cache; `text` is empty for binaries and for compilation stages."""

    name: str
    size_bytes: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class ConfigFigures:
    """A config of the autotuner: `name` as Triton prints it, and a short form.

    `problem` is why it does not compile or exceeds the device's resources.
    """

    name: str
    words: str
    resources: Resources | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PassChange:
    """A pass that changed the module, with a unified diff without locations.

    `name` and `argument` are as MLIR prints them. `left_out` counts the lines that were cut from the diff.
    """

    name: str
    argument: str
    added: int
    removed: int
    diff: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class TouchedElements:
    """A tensor argument of an interpreted kernel, and the elements that one program accessed.

    Elements are offsets into the tensor's storage, in order of access, each once. The lists have a maximum length;
    `loads` and `stores` count all elements.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    loaded: tuple[int, ...]
    stored: tuple[int, ...]
    loads: int
    stores: int


class Trouble(msgspec.Struct, frozen=True, tag=True):
    """Failure of a tool: its error message, and its printed output."""

    message: str
    detail: str = ""


class LadderAnswer(msgspec.Struct, frozen=True, tag=True):
    """All compilation stages of one config, the source first.

    `problem` is why the last stage is missing or too large. `stage_us` has the microseconds that Triton reports for
    each stage it ran, by the extension of the stage's file.
    """

    target: str
    config: int
    configs: tuple[str, ...]
    rungs: tuple[Rung, ...]
    resources: Resources | None
    files: tuple[CachedFile, ...]
    problem: str = ""
    stage_us: dict[str, int] = {}


class PassesAnswer(msgspec.Struct, frozen=True, tag=True):
    """The passes that changed the module, in order, and the total number of passes."""

    target: str
    ran: int
    changes: tuple[PassChange, ...]
    left_out: int = 0


class ConfigsAnswer(msgspec.Struct, frozen=True, tag=True):
    """Every config of the autotuner."""

    target: str
    configs: tuple[ConfigFigures, ...]


class AssemblyAnswer(msgspec.Struct, frozen=True, tag=True):
    """The source and the assembly of a C++ kernel, the compiler's command, and its remarks on loops."""

    compiler: str
    command: str
    source: str
    assembly: Rung
    loops: tuple[Loop, ...]
    regions: tuple[Region, ...]
    outlined: tuple[str, ...]


class ReproduceAnswer(msgspec.Struct, frozen=True, tag=True):
    """Output and exit code of the script."""

    output: str
    exit_code: int


class InterpretAnswer(msgspec.Struct, frozen=True, tag=True):
    """Accesses of an interpreted kernel, and the comparison of its result with eager.

    `same` is True if the results are equal, and None without a comparison.
    """

    kernel: str
    grid: tuple[int, ...]
    program: tuple[int, ...]
    tensors: tuple[TouchedElements, ...]
    same: bool | None
    words: str
    output: str


Answer = Trouble | LadderAnswer | PassesAnswer | ConfigsAnswer | AssemblyAnswer | ReproduceAnswer | InterpretAnswer
