"""Programs of the accelerator: their types, and the file of docs/program-format.md. No torch and no compiler."""

from core.program.checksum import crc32c
from core.program.file import ProgramSection, program_sections, read_program, write_program
from core.program.opcodes import DTYPES, ITEM_BYTES, MAX_RANK, Opcode, OperandKind, Reduction, StepOp, StorageKind
from core.program.program import (
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
from core.program.text import program_of, program_text

__all__ = [
    "DTYPES",
    "ITEM_BYTES",
    "MAX_RANK",
    "PROGRAMS",
    "UNPLACED",
    "Opcode",
    "OperandKind",
    "Program",
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
    "lives",
    "number",
    "program_of",
    "program_sections",
    "program_text",
    "read_program",
    "write_program",
]
