"""The runtime in C++ through its C ABI: no test here imports torch."""

import array
import ctypes
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from core.accelerator import library
from core.accelerator.library import OPTIMISING, REFERENCE, LoadedProgram, checksum, runtime
from core.accelerator.program.file import read_program, write_program
from core.accelerator.program.program import (
    PASSES,
    UNPLACED,
    Opcode,
    Program,
    ProgramInstruction,
    ProgramStorage,
    ProgramTensor,
    StepOp,
    StorageKind,
    double_bits,
    number,
)
from core.base.errors import ProgramError
from tests.support.places import ROOT
from tests.support.programs import FIRST, dense, elementwise, layer, step

pytestmark = pytest.mark.torch
HEADER = (ROOT / "core" / "accelerator" / "runtime" / "compileboard_runtime.h").read_text(encoding="utf-8")
FILE = write_program(layer())
X, W = array.array("f", [0.5, -1, 2, 3, 1, 0, -2, 0.25, 4, -4, 1, 1]), array.array("f", [x / 7 - 1 for x in range(20)])


@pytest.fixture(scope="module", autouse=True)
def _loaded(built: None) -> None:
    runtime()


def address(memory: "array.array[float]") -> tuple[int, int]:
    return memory.buffer_info()[0], len(memory) * memory.itemsize


def ran(program: LoadedProgram, threads: int = 1) -> list[float]:
    out = array.array("f", bytes(60))
    program.run([address(X), address(W)], [address(out)], threads)
    return list(out)


def expected() -> list[float]:
    """The layer by hand, in Python's numbers."""
    from math import exp

    bias, rows = (1, 2, 3, -1, 0.5), []
    for i in range(3):
        row = [sum(X[i * 4 + k] * W[k * 5 + j] for k in range(4)) + bias[j] for j in range(5)]
        powers = [exp(max(value, 0) * 0.5) for value in row]
        rows += [power / sum(powers) for power in powers]
    return rows


def test_both_executors_compute_the_layer_with_each_pass_left_out() -> None:
    all_passes = sum(PASSES.values())
    made = [LoadedProgram(FILE, REFERENCE), LoadedProgram(FILE, OPTIMISING, 0), LoadedProgram(FILE)]
    made += [LoadedProgram(FILE, OPTIMISING, passes) for bit in PASSES.values() for passes in (bit, all_passes - bit)]
    made += [LoadedProgram(made[2].saved(), executor) for executor in (REFERENCE, OPTIMISING)]
    assert [ran(program) for program in made] == [pytest.approx(expected(), abs=1e-6)] * len(made)


def test_passes_fuse_and_plan_and_the_reference_undoes_it() -> None:
    program = LoadedProgram(FILE)
    entries = {name: sum(not line.startswith(" ") for line in text.splitlines()) for name, text in program.stages()}
    assert list(entries) == ["as it was read", *PASSES]
    assert [entries["as it was read"], entries["fuse-products"], entries["plan-memory"]] == [8, 5, 5]
    assert (program.info.arena_bytes, program.info.temporary_bytes) == (64, 64)
    assert LoadedProgram(FILE, REFERENCE).info.temporary_bytes == 4 * 64
    assert LoadedProgram(program.saved(), REFERENCE).info.instructions == 8


def test_a_run_allocates_what_the_plan_says_and_the_reference_one_memory_for_each() -> None:
    def allocated(executor: int) -> int:
        out = array.array("f", bytes(60))
        return LoadedProgram(FILE, executor).run([address(X), address(W)], [address(out)], 1).allocated_bytes

    assert (allocated(OPTIMISING), allocated(REFERENCE)) == (64, 4 * 64)


def test_constants_that_share_their_memory_are_refused() -> None:
    program = layer()
    twice = (*program.storages, program.storages[2])
    with pytest.raises(ProgramError, match="constants share their memory"):
        LoadedProgram(write_program(replace(program, storages=twice)))


def test_what_repeats_a_constant_is_not_computed_while_loading() -> None:
    large = (1 << 20, 1 << 12)
    storages = (ProgramStorage(StorageKind.CONSTANT, 4, 0), ProgramStorage(StorageKind.OUTPUT, 4, 0))
    tensors = (ProgramTensor(0, 0, large, (0, 0)), ProgramTensor(1, 0, (), ()), ProgramTensor(2, 0, (), ()))
    instructions = (
        ProgramInstruction(Opcode.REDUCE, "sum", (0,), (1,), (0, 3)),
        elementwise("double", (1,), 2, step(StepOp.MUL, "double", FIRST, number(2))),
        ProgramInstruction(Opcode.RESULT, "result", (2,)),
    )
    temporary = replace(storages[1], kind=StorageKind.TEMPORARY, place=UNPLACED)
    program = Program((storages[0], temporary, storages[1]), tensors, instructions, bytes(4))
    assert LoadedProgram(write_program(program)).info.instructions == 3


def test_what_the_runtime_saves_python_reads() -> None:
    program: Program = read_program(LoadedProgram(FILE).saved())
    assert [item.name for item in program.instructions] == ["x", "w", "mm", "softmax", "result"]
    assert write_program(program) == LoadedProgram(FILE).saved()
    assert checksum(FILE) == runtime().cb_crc32c(FILE, len(FILE))


def test_rms_norm_is_that_of_its_formula() -> None:
    tensors = (dense(0, (3, 4), "x"), dense(1, (4,), "w"), dense(2, (3, 4), "y"))
    kinds = ((StorageKind.INPUT, 0), (StorageKind.INPUT, 1), (StorageKind.OUTPUT, 0))
    storages = [ProgramStorage(kind, t.extent_bytes, at) for (kind, at), t in zip(kinds, tensors, strict=True)]
    instructions = (
        ProgramInstruction(Opcode.RMS_NORM, "norm", (0, 1), (2,), (double_bits(0.5), 1)),
        ProgramInstruction(Opcode.RESULT, "result", (2,)),
    )
    program = LoadedProgram(write_program(Program(tuple(storages), tensors, instructions)))
    weight, out = array.array("f", [1, 2, 0.5, -1]), array.array("f", bytes(48))
    program.run([address(X), address(weight)], [address(out)], 1)
    rows = [X[at : at + 4] for at in (0, 4, 8)]
    scales = [(sum(value * value for value in row) / 4 + 0.5) ** -0.5 for row in rows]
    wanted = [v * scale * w for row, scale in zip(rows, scales, strict=True) for v, w in zip(row, weight, strict=True)]
    assert list(out) == pytest.approx(wanted, abs=1e-6)


def test_four_threads_run_one_program_at_once() -> None:
    program = LoadedProgram(FILE)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: [ran(program) for _ in range(50)], range(4)))
    assert found == [[ran(program)] * 50] * 4


def test_another_abi_and_wrong_memory_are_refused_with_a_reason() -> None:
    with pytest.raises(ProgramError, match="built for version 1 of the ABI, and this is version 2"):
        LoadedProgram(FILE, abi=1)
    with pytest.raises(ProgramError, match="there is no such pass"):
        LoadedProgram(FILE, passes=64)
    program, out = LoadedProgram(FILE), array.array("f", bytes(60))
    with pytest.raises(ProgramError, match="another number of inputs"):
        program.run([address(X)], [address(out)], 1)
    with pytest.raises(ProgramError, match="one of the outputs is too small: number 0"):
        program.run([address(X), address(W)], [(address(out)[0], 56)], 1)
    wide = array.array("f", bytes(64))
    with pytest.raises(ProgramError, match="one of the outputs is not at a multiple of 4 bytes: number 0"):
        program.run([address(X), address(W)], [(address(wide)[0] + 1, 60)], 1)


def test_the_library_hands_out_what_the_header_declares_and_nothing_else() -> None:
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library.library()], capture_output=True, text=True, check=True
    )
    assert {line.split()[-1] for line in listed.stdout.splitlines()} == set(
        re.findall(r"^CB_API .*?(cb_\w+)\(", HEADER, re.M)
    )


def test_the_structs_of_ctypes_have_the_sizes_of_the_header(tmp_path: Path) -> None:
    from core.accelerator.library import CbBuffer, CbInfo, CbOptions, CbStats

    kinds = {"cb_options": CbOptions, "cb_buffer": CbBuffer, "cb_info": CbInfo, "cb_stats": CbStats}
    checks = "\n".join(f"static_assert(sizeof({name}) == {ctypes.sizeof(kind)});" for name, kind in kinds.items())
    source = tmp_path / "sizes.cpp"
    source.write_text(f'#include "compileboard_runtime.h"\n{checks}\n')
    subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-I", library.SOURCES, source], check=True)


def test_no_damaged_byte_goes_through_and_none_crashes(tmp_path: Path) -> None:
    """In a process of its own: damage behind mended checksums is loaded and run, too."""
    path = tmp_path / "layer.cbp"
    path.write_bytes(FILE)
    done = subprocess.run([library.program("cb_flip"), path, "300"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert " loads: 0 of single bytes went through, " in done.stdout


def test_a_program_runs_where_torch_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')\n")
    code = (
        "import array, sys; sys.modules['torch'] = None\n"
        "from core.accelerator.library import LoadedProgram\n"
        f"program = LoadedProgram(bytes.fromhex({FILE.hex()!r}))\n"
        f"x, w, out = array.array('f', {list(X)}), array.array('f', {list(W)}), array.array('f', bytes(60))\n"
        "program.run(*[[(m.buffer_info()[0], 4 * len(m)) for m in side] for side in ((x, w), (out,))], 1)\n"
        "print(sum(out))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(3.0)


def test_cb_run_runs_a_file_prints_it_and_shows_what_differs(tmp_path: Path) -> None:
    (tmp_path / "layer.cbp").write_bytes(FILE)
    (tmp_path / "in").write_bytes(X.tobytes() + W.tobytes())
    (tmp_path / "out").write_bytes(array.array("f", expected()).tobytes())
    (tmp_path / "other").write_bytes(array.array("f", [1] * 15).tobytes())

    def cb_run(*options: str) -> tuple[int, str]:
        command = [str(library.program("cb_run")), "layer.cbp", *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    code, told = cb_run("in", "--expect", "out", "--bench", "5", "--threads", "1")
    assert (code, "sum 3," in told, "as expected" in told, "5 runs" in told) == (0, True, True, True)
    assert cb_run("in", "--expect", "other")[0] == 1
    assert cb_run("--passes=fly") == (2, "there is no pass `fly`\n")
    assert cb_run("--abi", "7")[0] == 2
    assert "relu = relu(add)" in cb_run("--print-graph")[1]
    edges = re.findall(r"n(\d+) -> n(\d+)", cb_run("--dot", "--passes=none")[1])
    assert edges == [("0", "2"), ("1", "2"), ("2", "3"), ("3", "4"), ("4", "5"), ("5", "6"), ("6", "7")]


def test_the_emitted_c_compiles_without_a_warning_and_computes_the_same(tmp_path: Path) -> None:
    (tmp_path / "layer.c").write_text(LoadedProgram(FILE).as_c())
    shared = tmp_path / "layer.so"
    subprocess.run(
        ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", tmp_path / "layer.c", "-o", shared, "-lm"],
        check=True,
    )
    out = array.array("f", bytes(60))
    pointers = (ctypes.c_void_p * 2)(address(X)[0], address(W)[0]), (ctypes.c_void_p * 1)(address(out)[0])
    ctypes.CDLL(str(shared)).program(*pointers)
    assert list(out) == pytest.approx(expected(), abs=1e-6)


def test_two_programs_as_c_are_linked_into_one_by_their_names_and_headers(tmp_path: Path) -> None:
    (tmp_path / "layer.cbp").write_bytes(FILE)
    for name in ("first", "second"):
        subprocess.run([library.program("cb_run"), "layer.cbp", "--emit-c", name], cwd=tmp_path, check=True)
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\n#include "first.h"\n#include "second.h"\n'
        "static float x[FIRST_INPUT_0_BYTES / 4], w[SECOND_INPUT_1_BYTES / 4], y[FIRST_OUTPUT_0_BYTES / 4];\n"
        "int main(void) {\n"
        "  const void* in[FIRST_INPUTS] = {x, w};\n  void* out[SECOND_OUTPUTS] = {y};\n"
        "  first(in, out);\n  second(in, out);\n"
        '  printf("%g %d", 5 * y[0] + y[5] * 0, (int)sizeof y);\n}\n'
    )
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.c", "first.c", "second.c", "-lm"]
    subprocess.run([*command, "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    # Inputs of zeros: each row is the softmax of half the bias without what is below zero.
    from math import exp

    powers = [exp(max(value, 0) * 0.5) for value in (1, 2, 3, -1, 0.5)]
    first, size = done.stdout.split()
    assert float(first) == pytest.approx(5 * powers[0] / sum(powers), rel=1e-5)
    assert size == "60"
