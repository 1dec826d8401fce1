"""Programs of the accelerator: their types, and the file of docs/program-format.md. No torch and no compiler."""

from core.accelerator.program.checksum import crc32c
from core.accelerator.program.dump import MOST_ROWS, ROW_BYTES, DumpRow, dump
from core.accelerator.program.file import ProgramSection, program_sections, read_program, write_program
from core.accelerator.program.opcodes import (
    DTYPES,
    ITEM_BYTES,
    MAX_RANK,
    PASSES,
    Opcode,
    OperandKind,
    Reduction,
    StepOp,
    StorageKind,
)
from core.accelerator.program.opened import HEAD, PARTS, ProgramFile, open_program
from core.accelerator.program.program import (
    PROGRAMS,
    UNPLACED,
    Program,
    ProgramInstruction,
    ProgramStep,
    ProgramStorage,
    ProgramTensor,
    StepOperand,
    aligned,
    double_bits,
    lives,
    number,
)
from core.accelerator.program.text import program_of, program_text

__all__ = [
    "DTYPES",
    "HEAD",
    "ITEM_BYTES",
    "MAX_RANK",
    "MOST_ROWS",
    "PARTS",
    "PASSES",
    "PROGRAMS",
    "ROW_BYTES",
    "UNPLACED",
    "DumpRow",
    "Opcode",
    "OperandKind",
    "Program",
    "ProgramFile",
    "ProgramInstruction",
    "ProgramSection",
    "ProgramStep",
    "ProgramStorage",
    "ProgramTensor",
    "Reduction",
    "StepOp",
    "StepOperand",
    "StorageKind",
    "aligned",
    "crc32c",
    "double_bits",
    "dump",
    "lives",
    "number",
    "open_program",
    "program_of",
    "program_sections",
    "program_text",
    "read_program",
    "write_program",
]
