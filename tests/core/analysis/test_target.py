"""What is said of a run for a target."""

import pytest

from core import Report
from core.report import Call, Setting
from core.views.verdict import ended_words

REST = "Code compiled before this point is complete; code that the model would compile after it is missing."


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (("", ""), ""),
        (("", "no kernel"), f"Call 1 could not finish on the CPU: no kernel. {REST}"),
        (
            ("no kernel", "another"),
            f"2 calls, the first of them 0, could not finish on the CPU: no kernel. {REST}",
        ),
    ],
)
def test_calls_that_the_cpu_could_not_make_are_named(ended: tuple[str, str], words: str) -> None:
    calls = tuple(Call(index, "f32[8]", None, None, (), ended=why) for index, why in enumerate(ended))
    assert ended_words(Report(Setting(), calls=calls)) == words
