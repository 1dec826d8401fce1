"""`python -m core.accelerator.program FILE [OUT]`: conversion between a program's file and text.

Without OUT, print the program in FILE as text. With OUT, read text from FILE and write a program to OUT.
"""

import sys
from pathlib import Path

from core.accelerator.program.file import read_program, write_program
from core.accelerator.program.program import program_of, program_text
from core.base.errors import ProgramError


def main(arguments: list[str]) -> int:
    """Print a program as text (one argument), or write a program from text (two). Returns the exit code."""
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if len(arguments) == 1:
            sys.stdout.write(program_text(read_program(Path(arguments[0]).read_bytes())))
        else:
            made = write_program(program_of(Path(arguments[0]).read_text(encoding="utf-8")))
            Path(arguments[1]).write_bytes(made)
    except (ProgramError, OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
