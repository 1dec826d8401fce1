"""Fuzzer of the accelerator's programs, with mutations that respect the file format.

`python -m benchmarks.fuzz [SECONDS [SEED]]` builds `cb_fuzz` with cmake and the sanitizers for memory and
undefined behaviour. It uses clang and libFuzzer if clang is installed, otherwise our own loop. It starts with
programs of each kernel, runs for ten minutes by default, and reports the number of executions, or the crash
with its file. The seed (7 by default) selects the mutations.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.accelerator import segment_of
from benchmarks.homes import CACHE, PROJECT
from benchmarks.table import tell
from core.accelerator.program.file import INSTRUCTION, file_of, write_program
from core.accelerator.program.program import (
    Opcode,
    OperandKind,
    Program,
    ProgramInstruction,
    ProgramStep,
    ProgramStorage,
    ProgramTensor,
    StepOp,
    StepOperand,
    StorageKind,
)

SECONDS = 600
SEED = 7
CRASHES = ("crash-*", "oom-*", "timeout-*", "slow-unit-*")
MOST_BYTES = 16_384
MOST_MEMORY_MB = 2_048


def main() -> int:
    """Build the fuzzer, write a corpus, and fuzz; return the fuzzer's exit code."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    with tempfile.TemporaryDirectory(prefix="compileboard-fuzz-") as name:
        work = Path(name)
        # cmake refuses the build directory of another checkout.
        checkout = sha256(bytes(PROJECT)).hexdigest()[:8]
        fuzzer, is_libfuzzer = _build_fuzzer(CACHE / f"fuzz-{checkout}")
        corpus = work / "corpus"
        tell(f"{_corpus(corpus)} programs to begin with, {'libFuzzer' if is_libfuzzer else 'our own loop'}")
        if is_libfuzzer:
            options = [f"-max_total_time={seconds}", f"-max_len={MOST_BYTES}", f"-rss_limit_mb={MOST_MEMORY_MB}"]
            command = [str(fuzzer), str(corpus), *options, f"-seed={seed}"]
            command += ["-print_final_stats=1", "-timeout=10", "-verbosity=0"]
        else:
            command = [str(fuzzer), str(seconds), str(seed), *map(str, sorted(corpus.iterdir()))]
        code = subprocess.run(command, cwd=work, check=False).returncode
        # Without libFuzzer, our own loop stores each program in this file before it runs it.
        patterns = (*CRASHES, "cb_fuzz.last") if code else CRASHES
        for path in [path for pattern in patterns for path in work.glob(pattern)]:
            print(f"kept {shutil.copy(path, tempfile.gettempdir())}")
    return code


def _build_fuzzer(build: Path) -> tuple[Path, bool]:
    """Build `cb_fuzz`; return its path, and True if it has libFuzzer."""
    compiler = shutil.which("clang++") or shutil.which("clang++-14")
    chosen = [f"-DCMAKE_CXX_COMPILER={compiler}"] if compiler else []
    source = PROJECT / "core" / "accelerator" / "runtime"
    subprocess.run(["cmake", "-S", source, "-B", build, "-DCB_FUZZ=ON", *chosen], check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", build, "--target", "cb_fuzz"], check=True, stdout=sys.stderr)
    return build / "cb_fuzz", compiler is not None


def _corpus(directory: Path) -> int:
    """Write small programs of every kernel, without and with passes, and malformed ones; return the count."""
    import torch

    os.environ.setdefault("COMPILEBOARD_CACHE", str(CACHE))
    directory.mkdir()
    torch.manual_seed(0)
    for name, (function, shapes) in _functions().items():
        for dtype in (torch.float32, torch.bfloat16):
            inputs = [x if isinstance(x, torch.Tensor) else torch.randn(x).to(dtype) for x in shapes]
            for passes in (0, None):
                segment = segment_of(function, *inputs, passes=passes)
                (directory / f"{name}-{dtype}-{passes}").write_bytes(segment.first.file)
    for name, file in _hostile().items():
        (directory / name).write_bytes(file)
    return len(list(directory.iterdir()))


def _hostile() -> dict[str, bytes]:
    """Return malformed programs that lowering can't make, by name.

    `empty` has an empty tensor with overflowing sizes. `shared` has instructions that share one list of inputs,
    outputs and attributes.
    """
    sizes, strides = (0, 2**40), (2**40, 2**40)
    sine = ProgramStep(StepOp.SIN, 0, "sin", (StepOperand(OperandKind.FROM_INPUT, 0),))
    empty = Program(
        (ProgramStorage(StorageKind.INPUT, 4, 0), ProgramStorage(StorageKind.OUTPUT, 4, 0)),
        tuple(ProgramTensor(storage, 0, sizes, strides, 0, name) for storage, name in enumerate("ab")),
        (
            ProgramInstruction(Opcode.ARGUMENT, "a", (), (0,)),
            ProgramInstruction(Opcode.ELEMENTWISE, "sin", (0,), (1,), (), (sine,), (0,)),
            ProgramInstruction(Opcode.RESULT, "result", (1,)),
        ),
    )
    shared = INSTRUCTION.pack(Opcode.CONCATENATE, 0, *[0, 20] * 3) * 20
    return {"empty": write_program(empty), "shared": file_of((b"\0", b"", b"", shared, bytes(8 * 20), b""))}


def _functions() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Return name → (function, inputs); an input is a tensor, or the shape of one."""
    import torch
    from torch.nn import functional

    index = torch.tensor([[0, 2], [1, 1]])
    return {
        "product": (lambda a, b, c: functional.gelu(a @ b + c) * 2, [(3, 4), (4, 5), (5,)]),
        "batched": (lambda a, b: (a @ b.transpose(1, 2)).softmax(-1), [(2, 3, 4), (2, 5, 4)]),
        "steps": (lambda a, b: torch.where(a > b, a.exp() - b, (a * b).tanh().abs()).relu(), [(3, 4), (4,)]),
        "norms": (lambda a, w, b: functional.layer_norm(a, (4,), w, b).sum(0), [(3, 4), (4,), (4,)]),
        "plain": (lambda a: functional.layer_norm(a, (4,)).amax(1), [(3, 4)]),
        "parts": (lambda a, b: torch.cat([a, b.t()], 1).mean((0, 1)), [(3, 4), (2, 3)]),
        "rows": (lambda i, table, a: functional.embedding(i, table) + a, [index, (3, 4), (4,)]),
        "attention": (functional.scaled_dot_product_attention, [(1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)]),
        "log": (lambda a: a.log_softmax(-1).permute(1, 0).contiguous() / 3, [(3, 4)]),
    }


if __name__ == "__main__":
    sys.exit(main())
