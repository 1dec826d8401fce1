"""What a run says of its results, on literal reports."""

from pathlib import Path

import pytest

from core import build_report, sentence, verdict
from core.analysis.results import Results, compared_words, difference_words, excuse_words, results, results_words
from core.report import Call, Difference, Report, Setting
from core.views.progress import evidence
from tests.support.homes import record

SAME = Difference("output", True)
WRONG = Difference("gradient of `0.weight`", False, actual="3.00 times eager's norm")
UNTOLD = Difference("output", None, reason="the call draws random numbers")
MOVED = Difference("output[0]", False, "strides", "[8, 1]", "[1, 4]")


def report_of(*differences: Difference) -> Report:
    return Report(Setting(), calls=(Call(0, "f32[2]", 1.0, 1.0, differences, {"output": 1, "gradient": 2}),))


@pytest.mark.parametrize(
    ("differences", "outcome"),
    [
        ((SAME,), "same"),
        ((SAME, UNTOLD), "not comparable"),
        ((UNTOLD, WRONG, SAME), "differs"),
        ((SAME, MOVED), "other strides"),
        ((MOVED, UNTOLD), "not comparable"),
        ((MOVED, WRONG), "differs"),
    ],
)
def test_one_difference_makes_a_run_differ_and_none_may_be_unreported(
    differences: tuple[Difference, ...], outcome: str
) -> None:
    found = results(report_of(*differences))
    assert found is not None
    assert found.outcome == outcome


def test_a_run_without_a_comparison_has_no_result() -> None:
    assert results(report_of()) is None


def test_strides_alone_are_evidence_and_behind_whatever_else_differs() -> None:
    assert [line.text for line in evidence(report_of(SAME, MOVED))] == [
        "1 result with eager's values but different strides"
    ]
    found = results(report_of(MOVED, WRONG))
    assert found is not None
    assert results_words(found) == "gradient of `0.weight`: 3.00 times eager's norm, and 1 more"


@pytest.mark.parametrize(
    ("difference", "title"),
    [
        (WRONG, "Compiled gives other numbers in gradient of `0.weight`: 3.00 times eager's norm."),
        (UNTOLD, "Output is not comparable with eager's: the call draws random numbers."),
        (
            Difference("output", False, "dtype", "float32", "float16"),
            "Compiled differs from eager: dtype of output: float32 in eager, float16 in compiled.",
        ),
        (
            Difference("attribute `seen`", False, "Python value", "dict of 1", "dict of 1"),
            "Compiled differs from eager inside of attribute `seen`, which is dict of 1 in both.",
        ),
    ],
)
def test_the_title_is_the_worst_difference(difference: Difference, title: str) -> None:
    assert sentence(verdict(report_of(UNTOLD, difference))) == title


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (WRONG, "gradient of `0.weight`: 3.00 times eager's norm"),
        (UNTOLD, "output: the call draws random numbers"),
        (
            Difference("input 0", False, "mutation", "changed", "unchanged"),
            "input 0 was changed by eager and not by compiled",
        ),
        (
            Difference("input 0", False, "mutation", "unchanged", "changed"),
            "input 0 was changed by compiled and not by eager",
        ),
        (
            Difference("output", False, "strides", "[4, 1]", "[1, 4]"),
            "strides of output: [4, 1] in eager, [1, 4] in compiled",
        ),
        (
            Difference("output", False, "tree", "tuple of 2", "list of 2"),
            "output: tuple of 2 in eager, list of 2 in compiled",
        ),
        (Difference("output", False, max_abs=0.25), "output: off by up to 0.250"),
    ],
)
def test_a_difference_in_words(difference: Difference, words: str) -> None:
    assert difference_words(difference) == words


NOISY = Difference("output", True, actual="3.00 times eager's norm", reason="zero but for rounding")
REFUSED = Difference("gradient of `w`", True, refused_by_torch=True)


def test_an_excused_difference_and_a_refusal_by_torch_are_named() -> None:
    found = results(report_of(NOISY, REFUSED, NOISY))
    assert found is not None
    assert (found.outcome, found.excused, found.refused) == ("same", (NOISY, NOISY), (REFUSED,))
    assert excuse_words(found) == [
        "output counts as the same (3.00 times eager's norm): zero but for rounding",
        "torch's own check (`torch._dynamo.utils.same`) refuses gradient of `w`",
    ]


def test_differences_of_outputs_and_gradients_come_before_attributes() -> None:
    names = ("attribute `seen`", "output[0]", "buffer `b`", "gradient of `w`", "global `g`")
    found = results(report_of(*(Difference(name, False) for name in names)))
    assert found is not None
    assert [row.what for row in found.told] == [names[1], names[3], names[2], names[0], names[4]]


def test_what_was_compared_in_words() -> None:
    assert compared_words({"output": 1, "gradient": 14, "input": 2}) == "1 output, 14 gradients, 2 inputs"
    assert compared_words({}) == ""


def test_a_record_of_the_version_before_is_read(tmp_path: Path) -> None:
    old = {"what": "output", "dtype": "float32", "max_abs": 0.5, "max_rel": 2.0, "tolerance": 1e-4, "same": False}
    call = {"schema": 1, "index": 0, "inputs": "", "eager_s": 1.0, "compiled_s": 1.0, "differences": [old]}
    log = tmp_path / "old.log"
    log.write_bytes(record("compileboard_call", call))
    found = Difference("output", False, dtype="float32", max_abs=0.5, tolerance=1e-4)
    assert results(build_report(log)) == Results((found,), (), {})
