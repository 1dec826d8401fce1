"""The accelerator's programs: the numbers that Python and C++ share, and the file, there and back."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.accelerator.program.__main__ import main
from core.accelerator.program.file import crc32c, read_program, sections_of, write_program
from core.accelerator.program.program import (
    Opcode,
    OperandKind,
    Program,
    Reduction,
    StepOp,
    StorageKind,
    aligned,
    lives,
    program_of,
    program_text,
)
from core.base.errors import ProgramError
from tests.support.places import ROOT
from tests.support.programs import layer

RUNTIME = ROOT / "core" / "accelerator" / "runtime"
HEADER, STEPS = ((RUNTIME / name).read_text(encoding="utf-8") for name in ("opcodes.h", "steps.def"))
FILE = write_program(layer())


@pytest.mark.parametrize("kind", [Opcode, StepOp, StorageKind, Reduction, OperandKind])
def test_python_and_the_runtime_have_the_same_numbers(kind: type[Opcode]) -> None:
    numbers = re.findall(r"\b([A-Z_]+) = (\d+)", HEADER) + re.findall(r"^STEP\((\w+), \w+, (\d+),", STEPS, re.M)
    there = {name: int(value) for name, value in numbers}
    assert {member.name: there.get(member.name) for member in kind} == {member.name: member.value for member in kind}


@pytest.mark.parametrize(
    ("data", "checksum"), [(b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43)]
)
def test_the_checksum_is_that_of_rfc_3720(data: bytes, checksum: int) -> None:
    assert crc32c(data) == checksum


def test_a_program_comes_back_as_it_was_and_its_file_byte_by_byte() -> None:
    program = read_program(FILE)
    assert program == layer()
    assert write_program(program) == FILE


def test_sections_are_aligned_and_cover_the_file() -> None:
    sections = sections_of(FILE, len(FILE))
    assert [section.name for section in sections] == [
        *("strings", "storages", "tensors", "instructions", "words", "constants")
    ]
    assert [section.offset % 64 for section in sections] == [0] * 6
    ends = [256, *(section.offset + section.bytes for section in sections)]
    assert [section.offset for section in sections] == [aligned(end) for end in ends[:-1]]
    assert ends[-1] == len(FILE)


def test_each_byte_that_is_damaged_is_refused() -> None:
    accepted = []
    for index in range(len(FILE)):
        try:
            read_program(FILE[:index] + bytes([FILE[index] ^ 0xFF]) + FILE[index + 1 :])
        except ProgramError:
            continue
        accepted.append(index)
    assert accepted == []


@pytest.mark.parametrize("length", [0, 8, 63, 64, 255, len(FILE) - 1])
def test_a_file_that_is_cut_short_is_refused(length: int) -> None:
    with pytest.raises(ProgramError):
        read_program(FILE[:length])


def test_a_storage_lives_from_its_writer_to_its_last_reader() -> None:
    assert lives(layer()) == ((0, 2), (1, 2), (3, 3), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7))


def test_the_arena_ends_with_its_last_temporary() -> None:
    program = layer()
    assert program.arena_bytes == 0
    placed = tuple(
        replace(item, place=64 * index) if item.kind == StorageKind.TEMPORARY else item
        for index, item in enumerate(program.storages)
    )
    assert Program(placed, program.tensors, program.instructions).arena_bytes == 6 * 64 + 64


def test_a_file_is_the_same_byte_by_byte_after_its_way_through_text(tmp_path: Path) -> None:
    assert program_of(program_text(read_program(FILE))) == layer()
    file, text, again = tmp_path / "layer.cbp", tmp_path / "layer.txt", tmp_path / "again.cbp"
    file.write_bytes(FILE)
    with text.open("w") as told, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", told)
        assert main([str(file)]) == 0
    assert main([str(text), str(again)]) == 0
    assert again.read_bytes() == FILE
    assert text.read_text().splitlines()[0] == 'storage "INPUT", 48, 0'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("flower 1", "line 1 is no part of a program: `flower` is no word of it"),
        ('storage "INPUT", 48, 0\nstep "ADD", "float32", "a"', "line 2 is no part of a program"),
        ('tensor 0, "float64", [], [], 0, "x"', "line 1 is no part of a program"),
        ("constants 12", "line 1 is no part of a program"),
    ],
)
def test_a_text_that_is_no_program_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(ProgramError, match=reason):
        program_of(text)
