"""What a visitor can have printed into the terminal of the server's owner."""

import logging
from collections.abc import Callable

import pytest

from pages.gate.greeting import MAX_PLACES, Once, print_once, printable

ESCAPE = "\x1b]0;owned\x07\u202e\n2026-01-01 forged"


def _fail(text: str) -> None:
    raise ValueError(text)


def _fail_elsewhere(text: str) -> None:
    raise ValueError(text)


def record(
    fail: Callable[[str], None] | None, text: str, line: int = 1, level: int = logging.ERROR
) -> logging.LogRecord:
    found = None
    if fail is not None:
        try:
            fail(text)
        except ValueError as error:
            found = (type(error), error, error.__traceback__)
    return logging.LogRecord("streamlit.x", level, "/x.py", line, "failed: %s", (text,), found)


@pytest.mark.promise("messages")
def test_a_page_that_fails_again_and_again_is_printed_once() -> None:
    """Each problem of a page is printed once into the owner's terminal."""
    once = Once()
    said = [once.filter(record(_fail, f"number {number}")) for number in range(100)]
    assert said == [True, *[False] * 99]
    assert [once.filter(record(*other)) for other in ((_fail_elsewhere, "x"), (None, "x"), (None, "y", 2))] == [
        True
    ] * 3


def test_there_is_an_end_to_what_is_printed() -> None:
    once = Once()
    assert sum(once.filter(record(None, "x", line)) for line in range(10 * MAX_PLACES)) == MAX_PLACES


def test_what_is_no_problem_is_printed_each_time() -> None:
    once = Once()
    assert [once.filter(record(None, "x", level=logging.INFO)) for _ in range(3)] == [True] * 3


@pytest.mark.promise("messages")
def test_text_of_a_visitors_moves_no_cursor_and_makes_no_line() -> None:
    """Text from visitors moves no cursor and forges no line in the owner's terminal."""
    found = record(_fail, ESCAPE)
    assert Once().filter(found)
    lines = logging.Formatter("%(message)s").format(found).split("\n")
    shown = r"\x1b]0;owned\x07\u202e\n2026-01-01 forged"
    assert (lines[0], lines[1], lines[-1]) == (
        f"failed: {shown}",
        "Traceback (most recent call last):",
        f"ValueError: {shown}",
    )


@pytest.mark.parametrize("text", ["plain", "größer ≥ 1", "a\tb", "x" * 9_999])
def test_a_printable_text_is_one_line_and_bounded(text: str) -> None:
    assert printable(text) == text.replace("\t", "\\t")[:400]


@pytest.mark.parametrize("name", ["streamlit", "streamlit.error_util", "uvicorn.error", "asyncio"])
def test_the_loggers_of_the_server_print_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.root, "manager", logging.Manager(logging.root))
    monkeypatch.setattr(logging.Logger, "manager", logging.root.manager)
    logging.getLogger("streamlit.error_util")
    logging.getLogger("uvicorn.error")
    logging.getLogger("ours")
    print_once()
    found = [type(item) for item in logging.getLogger(name).filters]
    assert (found, logging.getLogger("ours").filters) == ([Once], [])
