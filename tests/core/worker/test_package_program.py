"""The program that has loaded a package: it answers, and what goes wrong is told in its own words."""

import sys
from pathlib import Path

import pytest

from core.base.errors import ProgramError
from core.worker.aoti.running import StartReport, running

# The module that starts it imports torch.
pytestmark = pytest.mark.torch
READY = "print('ready 2000000 1000000 4', flush=True)"
ANSWERS = f"{READY}\nfor line in __import__('sys').stdin: print(int(line) * 1000, flush=True)"
DIES = f"import sys\n{READY}\nsys.stdin.readline(); sys.stderr.write('mat1 and mat2 differ'); sys.exit(2)"


def command(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_program_says_how_long_it_took_to_load_and_answers_each_number_of_calls(tmp_path: Path) -> None:
    with running(command(ANSWERS), tmp_path) as program:
        assert program.start_report == StartReport(0.002, 0.001, 4)
        assert [program.seconds(calls) for calls in (1, 50)] == [1e-6, 1e-6]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "import sys; sys.stderr.write('Failed to initialize zip archive\\n'); sys.exit(2)",
            "^Failed to initialize zip",
        ),
        ("import os; os._exit(3)", "^it ended with exit code 3$"),
        ("import os; os.kill(os.getpid(), 9)", "^it ended by signal 9$"),
        ("print('hello')", "^it began with 'hello'"),
    ],
)
def test_a_program_that_does_not_begin_is_reported_in_its_own_words(tmp_path: Path, code: str, words: str) -> None:
    with pytest.raises(ProgramError, match=words), running(command(code), tmp_path):
        pass


def test_a_program_that_ends_while_it_is_timed_is_reported_in_its_own_words(tmp_path: Path) -> None:
    with running(command(DIES), tmp_path) as program, pytest.raises(ProgramError, match="^mat1 and mat2 differ$"):
        program.seconds(1)
