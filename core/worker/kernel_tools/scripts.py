"""Scripts in a fresh Python process: a kernel's reproduction script, and a Triton kernel in the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import ToolError
from core.base.files import read
from core.base.machine import python_path
from core.runs.tools import Answer, InterpretAnswer, ReproduceAnswer, Task, Trouble

MAX_OUTPUT_BYTES = 100_000
ADD_SAMPLE = Path(__file__).with_name("vector_add.py")


def reproduce(task: Task, directory: Path) -> ReproduceAnswer:
    """Run the reproduction script as a user would: `python repro.py`."""
    (directory / "repro.py").write_text(task.script, encoding="utf-8")
    code, output = _run([sys.executable, "repro.py"], directory, {})
    return ReproduceAnswer(output, code)


def interpret(task: Task, directory: Path) -> Answer:
    """Run a script that launches a Triton kernel in Triton's interpreter, and return one program's accesses."""
    script = task.script or ADD_SAMPLE.read_text(encoding="utf-8")
    path = directory / "kernel.py"
    path.write_text(script, encoding="utf-8")
    program = ",".join(map(str, getattr(task.request, "program", (0, 0, 0))))
    result_path = directory / "touched.json"
    environment = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "core.worker.kernel_tools.interpreted", str(path), str(result_path), program]
    code, output = _run(command, directory, environment)
    if not result_path.exists():
        raise ToolError(f"the interpreter ended with exit code {code}\n{output}")
    answer = decoded_as(read(result_path), InterpretAnswer | Trouble)
    return msgspec.structs.replace(answer, output=output) if isinstance(answer, InterpretAnswer) else answer


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
