"""Programs with right checksums that no writer makes: refused before they take memory, and shown without harm."""

import resource
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from core.accelerator import library
from core.accelerator.library import LoadedProgram
from core.accelerator.program.file import INSTRUCTION, TENSOR, file_of, read_program, write_program
from core.accelerator.program.program import (
    Opcode,
    Program,
    ProgramInstruction,
    ProgramStorage,
    ProgramTensor,
    StepOp,
    StorageKind,
)
from core.base.errors import ProgramError
from tests.support.programs import FIRST, elementwise, layer, step

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("built")]
GIB = 1024**3


def sine(sizes: tuple[int, ...], strides: tuple[int, ...], size_bytes: int, name: str = "sin") -> Program:
    """The sine of one tensor."""
    kinds = (StorageKind.INPUT, StorageKind.OUTPUT)
    return Program(
        tuple(ProgramStorage(kind, size_bytes, 0) for kind in kinds),
        tuple(ProgramTensor(storage, 0, sizes, strides, 0, name) for storage in range(2)),
        (
            ProgramInstruction(Opcode.ARGUMENT, name, (), (0,)),
            elementwise(name, (0,), 1, step(StepOp.SIN, name, FIRST)),
            ProgramInstruction(Opcode.RESULT, name, (1,)),
        ),
    )


def cb_run(where: Path, *options: str) -> tuple[int, str]:
    """What the program without Python says, in a gigabyte of memory."""
    done = subprocess.run(
        [library.program("cb_run"), *options],
        cwd=where,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB)),
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).decode()


@pytest.mark.promise("programs")
@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (
            (b"\0", b"", b"", INSTRUCTION.pack(Opcode.CONCATENATE, 0, *[0, 15_000] * 3) * 3_750, bytes(120_000), b""),
            "two instructions share their words",
        ),
        (
            (b"\0" + b"x" * 4_097 + b"\0", b"", TENSOR.pack(0, 0, 0, 1, 0, *[0] * 17), b"", b"", b""),
            "longer than 4,096",
        ),
        (
            (b"\0" + b"x" * 4_000 + b"\0", b"", TENSOR.pack(0, 0, 0, 1, 0, *[0] * 17) * 50_000, b"", b"", b""),
            "the names of all records are too long together",
        ),
    ],
)
def test_what_is_small_takes_little_before_it_is_refused(parts: tuple[bytes, ...], why: str, tmp_path: Path) -> None:
    """A small hostile program of the accelerator takes little memory before it is refused."""
    file = file_of(parts)
    (tmp_path / "small.cbp").write_bytes(file)
    code, said = cb_run(tmp_path, "small.cbp")
    assert (code, why in said) == (2, True), said
    with pytest.raises(ProgramError, match=why):
        LoadedProgram(file)


@pytest.mark.parametrize("why", ["two instructions share their words", "longer than 4,096"])
def test_python_refuses_it_too(why: str) -> None:
    shared = INSTRUCTION.pack(Opcode.CONCATENATE, 0, *[0, 20] * 3) * 2
    named = INSTRUCTION.pack(Opcode.CONCATENATE, 1, *[0, 0] * 3)
    parts = (b"\0" + b"x" * 4_097 + b"\0", b"", b"", shared if "share" in why else named, bytes(160), b"")
    with pytest.raises(ProgramError, match=why):
        read_program(file_of(parts))


@pytest.mark.promise("programs")
def test_inputs_are_not_made_before_there_is_a_file_of_their_size(tmp_path: Path) -> None:
    """A program's inputs are allocated only if the input file has their size."""
    floats = 6 * GIB // 4
    (tmp_path / "large.cbp").write_bytes(write_program(sine((floats,), (1,), 6 * GIB)))
    (tmp_path / "in").write_bytes(bytes(4))
    said = f"the inputs are 4 bytes, and the program takes {6 * GIB}\n"
    assert cb_run(tmp_path, "large.cbp", "in") == (2, said)


@pytest.mark.long
@pytest.mark.promise("programs")
def test_sizes_of_a_tensor_without_elements_do_not_overflow(tmp_path: Path) -> None:
    """Sizes and strides of a program's tensors do not overflow in the checker.

    The checker and the loops, which trap where a number overflows.
    """
    (tmp_path / "empty.cbp").write_bytes(write_program(sine((0, 2**40), (2**40, 2**40), 4)))
    (tmp_path / "main.cpp").write_text(
        '#include <fstream>\n#include <iterator>\n#include "kernels.h"\n#include "program.h"\n'
        "int main(int, char** words) {\n"
        "  std::ifstream file(words[1], std::ios::binary);\n"
        "  std::vector<uint8_t> bytes(std::istreambuf_iterator<char>(file), {});\n"
        "  cb::Program program = cb::read_program(bytes.data(), bytes.size());\n"
        "  cb::Loops loops = cb::loops_of(program, program.instructions[1]);\n"
        "  return program.instructions.size() == 3 && loops.outer * loops.inner == 0 ? 0 : 1;\n"
        "}\n"
    )
    units = [
        str(library.SOURCES / f"{name}.cpp")
        for name in ("check", "crc32c", "elementwise", "file", "jobs", "lives", "names")
    ]
    checked = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
    command = [
        "g++",
        "-std=c++17",
        "-pthread",
        "-O0",
        *checked,
        "-I",
        str(library.SOURCES),
        "main.cpp",
        *units,
        "-o",
        "main",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main", "empty.cbp"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.promise("programs")
def test_a_name_moves_no_cursor(tmp_path: Path) -> None:
    """Names in a program move no cursor in the terminal."""
    name = "x\x1b]52;c;ZXZpbA==\x07\n\u202e\x9b"
    (tmp_path / "named.cbp").write_bytes(write_program(sine((1,), (1,), 4, name)))
    wrong = sine((1,), (1,), 4, name)
    wrong = replace(wrong, instructions=(*wrong.instructions[:2], *wrong.instructions[1:]))
    swapped = replace(wrong, tensors=(wrong.tensors[0], replace(wrong.tensors[1], sizes=(2,), strides=(0,))))
    (tmp_path / "wrong.cbp").write_bytes(write_program(swapped))
    for code, options in ((0, ("named.cbp", "--print-graph")), (2, ("wrong.cbp",))):
        found, said = cb_run(tmp_path, *options)
        assert found == code
        assert "x?]52;c;ZXZpbA==" in said
        assert all(letter.isprintable() or letter == "\n" for letter in said)


def test_the_programs_of_others_are_as_they_were() -> None:
    assert read_program(write_program(layer())) == layer()
