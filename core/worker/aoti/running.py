"""Calls of an AOTInductor package from Python and from C++, compared with the results of eager.

Two executions of the package are compared bit by bit. The C++ program runs in a separate process without Python: it
loads the package, calls it once, and times it on request. It is compiled once on this machine, and cached in the store.

Tensors are exchanged as files, which `main.cpp` in this directory reads and writes: `CBTENS01`, then little-endian
int64 numbers: the number of tensors, and for each tensor its `c10::ScalarType`, rank, sizes, strides and byte count.
Its elements follow as they are in memory, from the first to the last, including gaps.
"""

from __future__ import annotations

import hashlib
import math
import select
import shlex
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import torch
import torch._inductor
from torch.utils._pytree import tree_leaves

from core.base.errors import ProgramError
from core.base.files import open_regular
from core.base.machine import build_cache, build_once, cpp_compiler
from core.base.words import count, limit_s
from core.report import Difference, PackageRun
from core.runs.progress import EXPECTED, INPUTS
from core.worker.aoti.exporting import words_of
from core.worker.environment import synchronize
from core.worker.load import Arguments
from core.worker.results.compare import compare
from core.worker.results.named import Leaves, leaves

OUTPUTS = "outputs.bin"
RETURNED = (torch.Tensor, bool, int, float)
MOST_PRINTED_CHARS = 4_000  #: output of the C++ program
MOST_LINES = 100  #: last lines of the C++ program's output
ANSWER_S = 120.0
END_S = 5.0
MAGIC = b"CBTENS01"
MOST_TENSORS = 4_096  #: tensors of a file for C++
MOST_RANK = 64  #: limit: dimensions of a tensor for C++
MOST_TENSOR_BYTES = 4 * 1024**3  #: a tensor for C++
# Numbers of c10/core/ScalarType.h.
SCALAR_TYPES = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float16: 5,
    torch.float32: 6,
    torch.float64: 7,
    torch.complex64: 9,
    torch.complex128: 10,
    torch.bool: 11,
    torch.bfloat16: 15,
}
DTYPES = {number: dtype for dtype, number in SCALAR_TYPES.items()}


@dataclass(frozen=True, slots=True)
class PythonRun:
    """The loaded package and the result of its first call."""

    loaded: Callable[..., Any]
    outputs: Any


def run_in_python(package: Path, call: Arguments, expected: Any, device: str) -> tuple[PythonRun | None, PackageRun]:
    """Load the package and call it once, or record torch's error."""
    stage, start = "load", time.perf_counter()
    try:
        loaded = torch._inductor.aoti_load_package(str(package))
        load_s = time.perf_counter() - start
        stage, start = "call", time.perf_counter()
        with torch.no_grad():
            outputs = loaded(*call[0], **call[1])
        synchronize(device)
        call_s = time.perf_counter() - start
    except Exception as error:
        return None, PackageRun(user="python", stage=stage, problem=words_of(error))
    differences = compare(leaves("output", expected), leaves("output", outputs))
    record = PackageRun(
        user="python", load_s=load_s, call_s=call_s, differences=tuple(differences), threads=torch.get_num_threads()
    )
    return PythonRun(loaded, outputs), record


def write_examples(directory: Path, call: Arguments, expected: Any) -> None:
    """Write the inputs of a call and the model's own outputs as files for C++; raises ProgramError."""
    write_tensors(directory / INPUTS, tensors_of(call))
    write_tensors(directory / EXPECTED, tensors_of(expected))


@contextmanager
def run_in_cpp(
    package: Path, expected: Any, python: PythonRun | None, device: str
) -> Iterator[tuple[RunnerBuild | None, PackageProgram | None, PackageRun]]:
    """Build the C++ program, and run it in this context; it loads the package and calls it once.

    Yields the build, the process and the record. The build and the process are None if they failed.
    """
    try:
        build = build_runner()
    except ProgramError as error:
        yield None, None, PackageRun(user="c++", stage="build", problem=str(error))
        return
    record = PackageRun(user="c++", compiler=build.compiler, command=build.command, build_s=build.seconds)
    command = [str(build.path), package.name, INPUTS, "--out", OUTPUTS, "--serve", *settings(device)]
    with ExitStack() as stack:
        try:
            process = stack.enter_context(running(command, package.parent))
        except ProgramError as error:
            yield build, None, replace(record, stage="load", problem=str(error))
            return
        yield build, process, _run_record(record, process, package.parent / OUTPUTS, expected, python)
    (package.parent / OUTPUTS).unlink(missing_ok=True)


def settings(device: str) -> list[str]:
    """Return the arguments that set torch's thread count and the job's device."""
    return ["--threads", str(torch.get_num_threads()), "--device", device]


def _run_record(
    record: PackageRun, process: PackageProgram, path: Path, expected: Any, python: PythonRun | None
) -> PackageRun:
    """Return the record of the program's report and results."""
    report = process.start_report
    record = replace(
        record, load_s=report.load_s, call_s=report.call_s, threads=report.threads, output=process.printed()
    )
    try:
        outputs = read_tensors(path)
    except ProgramError as error:
        return replace(record, stage="call", problem=str(error))
    same_bits = None if python is None else bits_equal(tensors_of(python.outputs), outputs)
    return replace(record, differences=flat_differences(expected, outputs), same_bits=same_bits)


def tensors_of(value: Any) -> list[torch.Tensor]:
    """Return the tensors of nested arguments or results, in torch's order, as in C++."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def flat_differences(expected: Any, outputs: Sequence[torch.Tensor]) -> tuple[Difference, ...]:
    """Return the differences between eager's results and the tensors from C++, which are on the CPU."""
    named_leaves = leaves("output", expected)
    named = named_outputs(named_leaves, outputs)
    return (other_number(named_leaves, outputs),) if named is None else tuple(compare(*named))


def other_number(expected: Leaves, outputs: Sequence[torch.Tensor]) -> Difference:
    """Return the difference between results with different numbers of tensors."""
    returned = [leaf for leaf in expected.values() if isinstance(leaf, RETURNED)]
    eager, other = (count(len(side), "tensor") for side in (returned, outputs))
    return Difference("output", False, "tree", eager, other)


def named_outputs(expected: Leaves, outputs: Sequence[torch.Tensor]) -> tuple[Leaves, Leaves] | None:
    """Return eager's results and a program's tensors under the same names, both on the CPU.

    None if their numbers differ. Only eager's tensors are named; Python numbers among eager's results are named too if
    the program returns them as tensors.
    """
    named = {name: leaf for name, leaf in expected.items() if isinstance(leaf, torch.Tensor)}
    if len(named) != len(outputs):
        named = {name: torch.as_tensor(leaf) for name, leaf in expected.items() if isinstance(leaf, RETURNED)}
    if len(named) != len(outputs):
        return None
    on_cpu = {name: leaf.detach().cpu() for name, leaf in named.items()}
    return on_cpu, {name: output.detach().cpu() for name, output in zip(named, outputs, strict=True)}


def bits_equal(left: Sequence[torch.Tensor], right: Sequence[torch.Tensor]) -> bool:
    """Return True if two lists of tensors have the same bytes."""
    return len(left) == len(right) and all(_bytes_equal(a.detach().cpu(), b) for a, b in zip(left, right, strict=True))


def _bytes_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    # `view(torch.uint8)` needs at least one dimension.
    return torch.equal(*(tensor.contiguous().unsqueeze(-1).view(torch.uint8) for tensor in (a, b)))


@dataclass(frozen=True, slots=True)
class StartReport:
    """Report of the program after it has loaded the package and called it."""

    load_s: float
    call_s: float
    threads: int


class PackageProgram:
    """The running program: on request, it makes a number of calls and returns their seconds."""

    name = "std::chrono::steady_clock"

    def __init__(self, process: subprocess.Popen[str], errors: list[str], reader: threading.Thread) -> None:
        self._process, self._errors, self._reader = process, errors, reader
        words = self._answer(ANSWER_S).split()
        if len(words) != 4 or words[0] != "ready":
            raise ProgramError(self._failure_text(f"it began with {' '.join(words)[:200]!r}"))
        load_ns, call_ns, threads = map(int, words[1:])
        self.start_report = StartReport(load_ns / 1e9, call_ns / 1e9, threads)

    def seconds(self, calls: int) -> float:
        """Return seconds per call over consecutive calls; raises ProgramError if it has ended."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{calls}\n")
            self._process.stdin.flush()
        return int(self._answer(ANSWER_S)) / 1e9 / calls

    def printed(self) -> str:
        """Return the end of the program's standard error."""
        return "".join(self._errors)[-MOST_PRINTED_CHARS:]

    def _answer(self, most_s: float) -> str:
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], most_s)
        line = self._process.stdout.readline() if readable else ""
        if not line:
            raise ProgramError(
                self._failure_text("it ended" if readable else f"it did not answer within {limit_s(most_s)}")
            )
        return line

    def _failure_text(self, what: str) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        self._reader.join(END_S)
        code = self._process.poll()
        how = f" with exit code {code}" if code is not None and code >= 0 else f" by signal {-code}" if code else ""
        return f"{self.printed().strip() or what + how}"


@contextmanager
def running(command: list[str], directory: Path) -> Iterator[PackageProgram]:
    """Run the program in this context; raises ProgramError with its message."""
    process = subprocess.Popen(
        command,
        cwd=directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    errors: list[str] = []
    reader = threading.Thread(target=_collect_errors, args=(process, errors), daemon=True)
    reader.start()
    try:
        yield PackageProgram(process, errors, reader)
    finally:
        _end(process)
        reader.join(END_S)


def _collect_errors(process: subprocess.Popen[str], errors: list[str]) -> None:
    """Read the program's standard error, so that it never blocks, and keep the end."""
    assert process.stderr is not None
    with process.stderr:
        for line in process.stderr:
            errors.append(line[:MOST_PRINTED_CHARS])
            del errors[:-MOST_LINES]


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(BrokenPipeError, OSError):
        if process.stdin is not None:
            process.stdin.close()
    deadline = time.monotonic() + END_S
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def write_tensors(path: Path, tensors: Sequence[torch.Tensor]) -> None:
    """Write dense tensors from any device; raises ProgramError for another layout or dtype."""
    with path.open("wb") as file:
        file.write(MAGIC + _numbers(len(tensors)))
        for tensor in tensors:
            file.write(_header(tensor))
            file.write(_elements(tensor))


def read_tensors(path: Path) -> list[torch.Tensor]:
    """Return the tensors of a tensor file, on the CPU; raises ProgramError for any other file."""
    try:
        with open_regular(path) as file:
            return _read(file)
    except (OSError, struct.error) as error:
        raise ProgramError(f"{path.name} is no file of tensors: {error}") from None


def _header(tensor: torch.Tensor) -> bytes:
    number = SCALAR_TYPES.get(tensor.dtype)
    if tensor.layout != torch.strided or number is None:
        what = f"{str(tensor.dtype).removeprefix('torch.')}, {str(tensor.layout).removeprefix('torch.')}"
        raise ProgramError(f"a tensor of {what} cannot be written into a file for C++")
    size = _span(tensor.shape, tensor.stride()) * tensor.element_size()
    return _numbers(number, tensor.dim(), *tensor.shape, *tensor.stride(), size)


def _elements(tensor: torch.Tensor) -> bytes:
    count = _span(tensor.shape, tensor.stride())
    flat = tensor.detach().resolve_conj().resolve_neg().as_strided((count,), (1,), tensor.storage_offset())
    return bytes(flat.cpu().contiguous().view(torch.uint8).numpy().tobytes())


def _span(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """Return the number of elements from the first to the last, including gaps."""
    if math.prod(sizes) == 0:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def _numbers(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little", signed=True) for value in values)


def _read(file: BinaryIO) -> list[torch.Tensor]:
    if file.read(len(MAGIC)) != MAGIC:
        raise ProgramError("a file of tensors begins with CBTENS01")
    (count,) = _read_numbers(file, 1)
    if not 0 <= count <= MOST_TENSORS:
        raise ProgramError(f"a file of tensors holds at most {MOST_TENSORS}")
    return [_tensor(file) for _ in range(count)]


def _tensor(file: BinaryIO) -> torch.Tensor:
    number, rank = _read_numbers(file, 2)
    if number not in DTYPES or not 0 <= rank <= MOST_RANK:
        raise ProgramError(f"there is no tensor of scalar type {number} with {rank} dimensions")
    sizes, strides = _read_numbers(file, rank), _read_numbers(file, rank)
    (size,) = _read_numbers(file, 1)
    dtype = DTYPES[number]
    if min((0, *sizes, *strides)) < 0 or size != dtype.itemsize * _span(sizes, strides) or size > MOST_TENSOR_BYTES:
        raise ProgramError("a tensor has another number of bytes than its sizes say")
    data = file.read(size)
    if len(data) != size:
        raise ProgramError("the file of tensors ends early")
    flat = torch.frombuffer(bytearray(data), dtype=dtype) if size else torch.empty(0, dtype=dtype)
    return flat.as_strided(sizes, strides)


def _read_numbers(file: BinaryIO, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}q", file.read(8 * count))


SOURCE = Path(__file__).with_name("main.cpp")
CMAKE = Path(__file__).with_name("CMakeLists.txt")
NAME = "aoti_run"
FLAGS = ("-std=c++20", "-O1", "-w")
LIBRARIES = ("torch", "torch_cpu", "c10")
BUILD_LIMIT_S = 600.0
MOST_SAID_CHARS = 4_000  #: the compiler's message if the C++ program cannot be built
NO_COMPILER = (
    "the program in C++ is built with a C++ compiler, and there is none: install g++, or set CXX; its sources, the "
    "inputs and the package are kept with the run"
)


@dataclass(frozen=True, slots=True)
class RunnerBuild:
    """The built program: its path, its compiler, and the build time (None if it was already built)."""

    path: Path
    compiler: str
    command: str
    seconds: float | None


def build_runner() -> RunnerBuild:
    """Return the program, building it if necessary; raises ProgramError with the compiler's message."""
    compiler = cpp_compiler()
    if compiler is None:
        raise ProgramError(NO_COMPILER)
    version = _version(compiler)
    path = build_cache("aoti") / _key(compiler, version) / NAME
    start = time.perf_counter()
    compiled = build_once(path, lambda target: _call(_command(compiler, str(target))))
    shown = shlex.join(_command(compiler, NAME))
    return RunnerBuild(path, version, shown, time.perf_counter() - start if compiled else None)


def _command(compiler: str, target: str) -> list[str]:
    """Return the compiler command, with torch's headers and libraries."""
    home = Path(torch.__file__).parent
    include = [f"-I{home / part}" for part in ("include", "include/torch/csrc/api/include")]
    accelerated = ("torch_cuda", "c10_cuda") if torch.version.cuda else ()
    libraries = [f"-l{name}" for name in (*LIBRARIES, *accelerated)]
    link = [f"-L{home / 'lib'}", "-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{home / 'lib'}"]
    return [compiler, *FLAGS, *include, str(SOURCE), "-o", target, *link]


def _call(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=BUILD_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        raise ProgramError(f"the program in C++ was not built within {limit_s(BUILD_LIMIT_S)}") from None
    if done.returncode:
        raise ProgramError(f"the program in C++ cannot be built: {done.stderr[:MOST_SAID_CHARS]}")


def _version(compiler: str) -> str:
    done = subprocess.run((compiler, "--version"), capture_output=True, text=True, errors="replace", check=False)
    return next(iter(done.stdout.splitlines()), compiler)[:200]


def _key(compiler: str, version: str) -> str:
    """Return a digest of the program's inputs: its source, the compiler and torch."""
    command = repr((_command(compiler, NAME), version, torch.__version__))
    return hashlib.sha256(SOURCE.read_bytes() + command.encode()).hexdigest()[:16]
