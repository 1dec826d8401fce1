"""Answers of the tools for the page of one kernel, and runs that they are stored in."""

from dataclasses import replace
from pathlib import Path

from core import Run, open_report
from core.code.cpp import Loop, Region
from core.code.stages import Resources
from core.report import Kernel
from core.runs.tools.tasks import (
    Answer,
    AssemblyAnswer,
    CachedFile,
    ConfigFigures,
    ConfigsAnswer,
    InterpretAnswer,
    LadderAnswer,
    PassChange,
    PassesAnswer,
    Request,
    Rung,
    Task,
    TouchedElements,
    create,
    tool_run,
    write_answer,
)
from tests.record import normalised
from tests.support.homes import add_run, job_of
from tests.support.places import TRACES

SOURCE = "@triton.jit\ndef k(x):\n    tl.store(x, 1)\n"
FIGURES = Resources(22, 8, 0, 0, local_bytes=0, warps=2, occupancy=1.0)
LADDER = LadderAnswer(
    "NVIDIA H100 (cuda:sm_90)",
    0,
    ("XBLOCK=1, num_warps=2, num_stages=1",),
    (Rung("python", SOURCE, {3: 3}), Rung("ttir", "a\nb loc(#loc)\n", {2: 3}), Rung("sass", "/*0000*/ EXIT ;", {1: 3})),
    FIGURES,
    (CachedFile("k.json", 20, '{"shared": 8}'), CachedFile("k.cubin", 9240)),
    stage_us={"ttir": 1_500, "cubin": 48_500},
)
PASSES = PassesAnswer("cuda:sm_90", 68, (PassChange("CSE", "cse", 1, 2, "--- a\n+++ b\n-x\n-y\n+z"),))
CONFIGS = ConfigsAnswer(
    "cuda:sm_90",
    (ConfigFigures("XBLOCK: 1", "XBLOCK=1", FIGURES), ConfigFigures("XBLOCK: 8", "XBLOCK=8", None, "Triton could not")),
)
ASSEMBLY = AssemblyAnswer(
    "/usr/bin/g++",
    "g++ -O3 kernel.cpp -S",
    "void kernel(float* p)\n{\n    #pragma omp parallel\n    for (int i = 0; i < 4; i++)\n        p[i] = 0;\n}\n",
    Rung("asm", "kernel:\n        vmovups %zmm0, (%rdi)\n        ret", {2: 5}),
    (Loop(4, 5, "explicit", 64, False, "at::vec::Vectorized<float>"),),
    (Region(3, "omp parallel"),),
    ("kernel._omp_fn.0",),
)
TOUCHED = TouchedElements("x", "float32", (4, 8), (8, 1), (0, 1, 9), (9,), 3, 1)
INTERPRETED = InterpretAnswer("k", (4,), (0, 0, 0), (TOUCHED,), True, "result: is what eager computes", "")


def log_of(language: str) -> bytes:
    """The transformer block's log, its kernels said to be of a language."""
    log = (TRACES / "transformer_block" / "trace.log").read_bytes()
    return log if language == "cpp" else normalised(log, {"async_compile.cpp_pybinding(": "async_compile.triton("})


def made(home: Path, language: str, kind: str = "run") -> tuple[Run, Kernel]:
    """A run, and the kernel that its page shows first."""
    run = add_run(home, "block", log_of(language), job=job_of("transformer_block"), kind=kind)
    generated = [
        kernel for compilation in open_report(run).compilations for kernel in compilation.kernels if not kernel.extern
    ]
    assert {kernel.language for kernel in generated} == {language}
    return run, max(generated, key=lambda kernel: len(kernel.origins))


def answer_with(run: Run, request: Request, answer: Answer) -> None:
    """Store an answer as a worker does."""
    assert create(run, Task(request))
    tool = tool_run(run, request)
    write_answer(tool, answer)
    tool.write_status(replace(tool.status(), state="done", handle=""))
