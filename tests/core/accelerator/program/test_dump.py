"""The bytes of a program's file, with what stands there; and files that are not what they say."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from core.accelerator.program.dump import ROW_BYTES, dump
from core.accelerator.program.file import PARTS, ProgramFile, open_program, write_program
from core.accelerator.program.program import PROGRAMS, Program
from core.base.errors import ProgramError
from tests.support.programs import layer

FILE = write_program(layer())


def stored(directory: Path, data: bytes = FILE, name: str = "a.cbp") -> ProgramFile:
    (directory / PROGRAMS).mkdir(exist_ok=True)
    (directory / PROGRAMS / name).write_bytes(data)
    return open_program(directory, name)


def words(file: ProgramFile, part: str) -> list[str]:
    return [row.words for row in dump(file, part, 0) if row.words]


def test_all_bytes_of_a_file_are_shown_each_once(tmp_path: Path) -> None:
    file = stored(tmp_path)
    rows = {row.offset: row.data for part in PARTS for row in dump(file, part, 0)}
    shown = bytearray(len(FILE))
    for offset, data in rows.items():
        shown[offset : offset + len(data)] = data
    assert bytes(shown) == FILE
    assert sum(map(len, rows.values())) == sum(part.bytes for part in file.parts)


def test_each_record_has_the_place_where_it_begins(tmp_path: Path) -> None:
    file = stored(tmp_path)
    assert words(file, "header")[:3] == [
        "magic, version 1, 6 sections",
        f"2.64 kB in all, CRC32C of the table {FILE[24:28][::-1].hex()}",
        f"CRC32C of the header {FILE[60:64][::-1].hex()}",
    ]
    assert words(file, "strings") == [
        "t0, t1, t2, t3, t4",
        "t5, t6, t7, b, x, w, mm",
        "add, relu, mul, softmax",
        "result",
    ]
    assert words(file, "storages")[:4] == [
        "storage 0: input of 48 B, input 0",
        "storage 1: input of 80 B, input 1",
        "storage 2: constant of 20 B, 0 bytes into the constants",
        "storage 3: temporary of 60 B",
    ]
    assert words(file, "tensors")[-3:] == [
        "tensor 8 b: float32, storage 2",
        "from element 0 on, sizes [3, 5]",
        "strides [0, 1]",
    ]
    assert words(file, "instructions") == [
        "instruction 0 x: t0 ← argument()",
        "instruction 1 w: t1 ← argument()",
        "instruction 2 mm: t3 ← product(t0, t1)",
        "instruction 3 add: t4 ← elementwise(t3, b)",
        "instruction 4 relu: t5 ← elementwise(t4)",
        "instruction 5 mul: t6 ← elementwise(t5)",
        "instruction 6 softmax: t7 ← softmax(t6)",
        "instruction 7 result: returns ← result(t7)",
    ]
    assert words(file, "words")[:3] == [
        "0  1 · instruction 0 writes; 1 writes",
        "0  1 · instruction 2 reads",
        "3  −1 · instruction 2 writes; 2 attributes",
    ]
    assert words(file, "constants") == ["t2, 20 B of float32: 1.00, 2.00, 3.00, −1.00", "0.500"]


def test_rows_are_shown_from_any_one_on(tmp_path: Path) -> None:
    file = stored(tmp_path)
    for part in PARTS:
        assert [dump(file, part, at, 1)[0] for at in range(-(-file.part(part).bytes // ROW_BYTES))] == list(
            dump(file, part, 0)
        )


def test_numbers_are_named_by_their_dtype(tmp_path: Path) -> None:
    program = layer()
    data = bytes.fromhex("803f 0040 80bf 003f") + bytes(12)
    halves = [replace(tensor, dtype=1) if tensor.storage == 2 else tensor for tensor in program.tensors]
    whole = Program(program.storages, tuple(halves), program.instructions, data)
    assert words(stored(tmp_path, write_program(whole)), "constants")[0] == (
        "t2, 20 B of bfloat16: 1.00, 2.00, −1.00, 0.500, 0, 0, 0, 0"
    )


def test_a_sections_checksum_is_made_again(tmp_path: Path) -> None:
    at = stored(tmp_path).part("tensors").offset
    damaged = stored(tmp_path, FILE[:at] + bytes([FILE[at] ^ 1]) + FILE[at + 1 :])
    assert {part: damaged.is_as_written(part) for part in PARTS} == {
        "header": None,
        **dict.fromkeys(PARTS[1:], True),
        "tensors": False,
    }


def test_a_file_whose_tables_make_no_sense_is_shown_without_words(tmp_path: Path) -> None:
    at = stored(tmp_path).part("instructions").offset
    file = stored(tmp_path, FILE[:at] + b"\xff" * 8 + FILE[at + 8 :])
    assert {row.words for row in dump(file, "instructions", 0)} == {""}
    assert dump(file, "instructions", 0)[0].data == b"\xff" * 8 + FILE[at + 8 : at + 16]


@pytest.mark.promise("programs")
@pytest.mark.parametrize("data", [b"", b"no program", FILE[:-1], FILE[:100], FILE + b"\0", b"\x7fELF" + FILE[4:]])
def test_what_is_no_program_is_refused(tmp_path: Path, data: bytes) -> None:
    """A file that is not a valid program is not shown."""
    with pytest.raises(ProgramError):
        stored(tmp_path, data)


def test_a_table_that_names_bytes_beyond_the_file_is_refused(tmp_path: Path) -> None:
    entry = 64 + 5 * 32
    beyond = FILE[: entry + 16] + (2**40).to_bytes(8, "little") + FILE[entry + 24 :]
    with pytest.raises(ProgramError, match="bytes that it does not have"):
        stored(tmp_path, beyond)


@pytest.mark.promise("programs")
@pytest.mark.parametrize("name", ["../a.cbp", "/etc/passwd", "a.txt", "", "x/a.cbp", "a\0.cbp", "missing.cbp"])
def test_a_name_of_the_log_leads_to_nothing_else(tmp_path: Path, name: str) -> None:
    """A log can name a program file of its own run only."""
    stored(tmp_path)
    (tmp_path / "a.cbp").write_bytes(FILE)
    with pytest.raises(ProgramError):
        open_program(tmp_path, name)


@pytest.mark.promise("programs")
def test_a_pipe_in_the_place_of_a_program_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe in place of a program file is not opened."""
    (tmp_path / PROGRAMS).mkdir()
    os.mkfifo(tmp_path / PROGRAMS / "a.cbp")
    with pytest.raises(ProgramError, match="is not here"):
        open_program(tmp_path, "a.cbp")


def test_a_program_as_c_is_read_where_it_was_written(tmp_path: Path) -> None:
    file = stored(tmp_path)
    assert file.as_c() is None
    file.path.with_suffix(".c").write_text("int main;")
    assert file.as_c() == b"int main;"
