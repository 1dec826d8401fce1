"""The result of torch's bisector in words, on literal results."""

from dataclasses import replace

import pytest

from core.analysis.numerics import bisection_words, cure_words
from core.report import Bisection

PASS = "post_grad_passes"


@pytest.mark.parametrize(
    ("bisection", "words"),
    [
        (
            Bisection("inductor", PASS, 8, "post_grad_custom_post_pass", 14, 7.19),
            "The cause is the 9th application of `post_grad_passes` in `inductor`: `post_grad_custom_post_pass` "
            "(torch's CompilerBisector, 14 trials in 7.19 s).",
        ),
        (
            Bisection("inductor", "lowerings", 0, "", 9, 2.0),
            "The cause is the 1st application of `lowerings` in `inductor` (torch's CompilerBisector, 9 trials in "
            "2.00 s).",
        ),
        (
            Bisection("inductor", "inductor_layout_optimization", None, "torch._inductor.config.x = False", 9, 2.0),
            "With `torch._inductor.config.x = False`, the model neither fails nor differs (torch's CompilerBisector, "
            "9 trials in 2.00 s).",
        ),
        (
            Bisection("eager", trials=1, seconds=1.0),
            "`eager` is the first backend that fails or differs; no single part of it is the cause (torch's "
            "CompilerBisector, 1 trial in 1.00 s).",
        ),
        (
            Bisection(trials=6, seconds=3.0),
            "No backend that torch's bisector tries fails or differs (torch's CompilerBisector, 6 trials in 3.00 s).",
        ),
        (Bisection(problem="no time was left"), "The cause was not narrowed down: no time was left."),
    ],
)
def test_a_result_is_one_sentence(bisection: Bisection, words: str) -> None:
    assert bisection_words(bisection) == words


def test_what_torch_names_is_one_line_and_bounded() -> None:
    words = bisection_words(Bisection("inductor", PASS, 0, "a`b\nc" + "x" * 5_000, 1, 1.0))
    assert "`a'b cxx" in words
    assert len(words) < 500


def test_only_options_that_cured_all_results_are_advised() -> None:
    found = Bisection(backend="inductor", subsystem="lowerings", application=0, what="min_1", trials=3)
    assert cure_words(found) == ""
    cured = replace(found, mitigation="{'cpp.simdlen': 1}")
    assert cure_words(cured) == "With `options={'cpp.simdlen': 1}`, all results equal eager's."
