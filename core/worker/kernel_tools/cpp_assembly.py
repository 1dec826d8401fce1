"""Assembly of a C++ kernel, compiled with Inductor's flags, and scripts run by kernel tools."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import ToolError
from core.base.files import read
from core.base.machine import cpp_compiler, own_process, python_path, visible_cards
from core.code.cpp import OFF, loops, regions, remarks
from core.code.output_code import definition_in
from core.code.stages import loc_lines
from core.runs.tools import tasks

COMPILER_LIMIT_S = 110
FUNCTION = re.compile(r"^\s*\.type\s+([^\s,]+), *[@%]function")
SIZE = re.compile(r"^\s*\.size\s+([^\s,]+),")
NOISE = re.compile(
    r"^\s*\.(cfi_\w+|p2align|globl|hidden|weak|type|size|section|text|previous|loc|file|align|ident)\b|^\.L(VL|BB|BE|F\w|CFI|LSDA|Ltmp|COLD|HOT)\w*:"
)


def assembly(task: tasks.Task, directory: Path) -> tasks.AssemblyAnswer:
    """Compile one kernel to assembly; raises ToolError with the compiler's message, or without one."""
    compiler = cpp_compiler()
    if compiler is None:
        raise ToolError("there is no C++ compiler here; on Debian, `apt-get install g++` brings one")
    source = directory / "kernel.cpp"
    text = _source(task.definition)
    source.write_text(text, encoding="utf-8")
    command = _command(source, text)
    vectorized_compile = _start_vectorized_compile(command, directory)
    compiled_report = _compile(command, directory)
    vectorized_report = _report_text(vectorized_compile, directory)
    output = (directory / "kernel.s").read_text(encoding="utf-8", errors="replace")
    rows, lines, outlined = _functions(output, source.name)
    command_text = shlex.join(command)
    rung = tasks.Rung("asm", "\n".join(rows[: tasks.MAX_LINES]), lines, max(0, len(rows) - tasks.MAX_LINES))
    loop_remarks = loops(
        text, remarks(compiled_report, source.name), remarks(vectorized_report, source.name), command_text
    )
    return tasks.AssemblyAnswer(compiler, command_text, text, rung, loop_remarks, regions(text), tuple(outlined))


def _source(definition: str) -> str:
    """Return the C++ source in `async_compile.cpp_pybinding([…], r'''…''')`."""
    kernel = definition_in(definition)
    if kernel is None or not kernel.texts:
        raise ToolError("the output code does not define this kernel as `async_compile.cpp_pybinding(…, source)`")
    return kernel.texts[0].lstrip("\n")


def _command(source: Path, text: str) -> list[str]:
    """Return Inductor's command for this source, changed to stop at assembly."""
    from torch._inductor import codecache, cpp_builder
    from torch._inductor.cpu_vec_isa import invalid_vec_isa, pick_vec_isa

    needs_vectors = getattr(codecache, "_resolve_needs_vec_isa", lambda *_: True)("cpu", text, None)
    flags: dict[str, Any] = {
        "include_pytorch": False,
        "shared": True,
        "device_type": "cpu",
        "vec_isa": pick_vec_isa() if needs_vectors else invalid_vec_isa,
    }
    options = cpp_builder.CppTorchDeviceOptions(compile_only=True, **flags)
    options.precompiled_header = _precompiled_header(flags)
    builder = cpp_builder.CppBuilder(
        name="kernel", sources=str(source), BuildOption=options, output_dir=str(source.parent)
    )
    command = [part for part in shlex.split(builder.get_command_line()) if part != "-c"]
    command[command.index("-o") + 1] = str(source.with_suffix(".s"))
    return [*command, "-S"] if "-g1" in command else [*command, "-S", "-g1"]


def _precompiled_header(flags: dict[str, Any]) -> str | None:
    """Return Inductor's precompiled header, which saves seconds; None if torch lacks or disables it."""
    from torch._inductor import codecache, config, cpp_builder

    header_of = getattr(codecache, "_get_cpp_prefix_header", None)
    precompile = getattr(codecache, "_precompile_header", None)
    if header_of is None or precompile is None or not config.cpp_cache_precompile_headers:
        return None
    options = cpp_builder.CppTorchDeviceOptions(**flags)
    hashed = cpp_builder.CppBuilder(name="o", sources="i", BuildOption=options).get_command_line()
    header: str = precompile(header_of("cpu"), hashed, **flags)
    return header


def _reporting(command: list[str], report: str) -> list[str]:
    """Return the command with flags for the compiler's remarks on loops.

    g++ writes the remarks to the file `report`, clang to standard error.
    """
    if "clang" in command[0]:
        return [*command, "-Rpass=loop-vectorize", "-Rpass-missed=loop-vectorize", "-Rpass-analysis=loop-vectorize"]
    return [*command, f"-fopt-info-vec-all={report}"]


def _start_vectorized_compile(command: list[str], directory: Path) -> subprocess.Popen[bytes] | None:
    """Start a second compilation with loop vectorization for remarks, or return None."""
    if OFF not in command:
        return None
    vectorizing = [part for part in command if part != OFF]
    vectorizing[vectorizing.index("-o") + 1] = os.devnull
    with (directory / "asked.err").open("wb") as file:
        return subprocess.Popen(_reporting(vectorizing, "asked.txt"), cwd=directory, stdout=file, stderr=file)


def _report_text(process: subprocess.Popen[bytes] | None, directory: Path) -> str:
    """Return the remarks of the vectorized compilation, as far as they came in time."""
    if process is None:
        return ""
    try:
        process.wait(COMPILER_LIMIT_S / 2)
    except subprocess.TimeoutExpired:
        process.kill()
    return "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for name in ("asked.txt", "asked.err")
        if (path := directory / name).exists()
    )


def _compile(command: list[str], directory: Path) -> str:
    """Write the assembly; return the loop remarks. Raises ToolError with the compiler's message."""
    try:
        process = subprocess.run(
            _reporting(command, "said.txt"),
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=COMPILER_LIMIT_S,
            check=False,
        )
    except OSError as error:
        raise ToolError(f"{command[0]} cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ToolError(f"{command[0]} was not done after {COMPILER_LIMIT_S} s") from None
    if process.returncode:
        raise ToolError(f"{command[0]} could not compile the kernel\n{process.stderr}")
    report = directory / "said.txt"
    return report.read_text(encoding="utf-8", errors="replace") if report.exists() else process.stderr


def _functions(output: str, file: str) -> tuple[list[str], dict[int, int], list[str]]:
    """Return the code of the functions that come from the kernel's file, without directives.

    The results are the rows of assembly, the source line of each row number, and the names of outlined functions.
    """
    rows = output.split("\n")
    lines = loc_lines(rows, file)
    code_rows: list[str] = []
    code_lines: dict[int, int] = {}
    outlined: list[str] = []
    for name, first, last in sorted(_spans(rows), key=lambda span: ".cold" in span[0]):
        if name.startswith("_GLOBAL__") or not any(number in lines for number in range(first, last + 1)):
            continue
        if "_omp_fn" in name or "omp_outlined" in name:
            outlined.append(name)
        for number in range(first, last + 1):
            row = rows[number - 1].rstrip()
            if not row or NOISE.match(row):
                continue
            code_rows.append(row.expandtabs(8))
            if number in lines:
                code_lines[len(code_rows)] = lines[number]
    return code_rows, code_lines, outlined


def _spans(rows: list[str]) -> list[tuple[str, int, int]]:
    """Return name, first and last line of each function.

    In g++'s output, a function's cold part is between its body and its `.size` directive.
    """
    spans: list[tuple[str, int, int]] = []
    name, first = "", 0
    for number, row in enumerate(rows, 1):
        match = FUNCTION.match(row)
        if (match or SIZE.match(row)) and name:
            spans.append((name, first, number - 1))
            name = ""
        if match:
            name, first = match.group(1), number
    return spans


MAX_OUTPUT_BYTES = 100_000  #: the output of a script
ADD_SAMPLE = Path(__file__).with_name("vector_add.py")


def reproduce(task: tasks.Task, directory: Path) -> tasks.ReproduceAnswer:
    """Run the reproduction script as a user would: `python repro.py`, on the task's device."""
    (directory / "repro.py").write_text(task.script, encoding="utf-8")
    code, output = _run([sys.executable, "repro.py"], directory, visible_card(task.device))
    return tasks.ReproduceAnswer(output, code)


def visible_card(device: str) -> dict[str, str]:
    """Return the environment in which `cuda` is this card; empty for a device without an index."""
    kind, _, index = device.partition(":")
    if kind != "cuda" or not index:
        return {}
    cards = visible_cards()
    return {"CUDA_VISIBLE_DEVICES": cards[int(index)] if int(index) < len(cards) else index}


def interpret(task: tasks.Task, directory: Path) -> tasks.Answer:
    """Run a Triton script, or an example, in Triton's interpreter; raises ToolError without a result."""
    script = task.script or ADD_SAMPLE.read_text(encoding="utf-8")
    path = directory / "kernel.py"
    path.write_text(script, encoding="utf-8")
    program = ",".join(map(str, getattr(task.request, "program", (0, 0, 0))))
    result_path = directory / "touched.json"
    environment = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [*own_process("core.worker.interpreted", str(path), str(result_path), program)]
    code, output = _run(command, directory, environment)
    if not result_path.exists():
        raise ToolError(f"the interpreter ended with exit code {code}\n{output}")
    answer = decoded_as(read(result_path), tasks.InterpretAnswer | tasks.Trouble)
    return msgspec.structs.replace(answer, output=output) if isinstance(answer, tasks.InterpretAnswer) else answer


def _run(command: list[str], directory: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Return the exit code and the bounded output of a fresh process."""
    log = directory / "script.txt"
    with log.open("wb") as file:
        process = subprocess.run(
            command,
            cwd=directory,
            env={**os.environ, "PYTHONPATH": python_path(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - MAX_OUTPUT_BYTES))
        return process.returncode, file.read().decode("utf-8", "replace")
