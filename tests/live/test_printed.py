"""Effects of a call: what it prints, and values that exist on one side alone."""

import sys
from dataclasses import replace

import pytest

from core import CompileJob, Model
from core.report import Difference
from core.worker.results.effects import CallEffects, PrintedText, differences, print_difference

pytestmark = pytest.mark.torch

REPAIRED = CompileJob(Model("code", "model = abs"), repairs=(("where:1",),))


def heard(*lines: str, stderr: str = "") -> PrintedText:
    printed = PrintedText(REPAIRED)
    with printed.heard():
        for line in lines:
            print(line)
        sys.stderr.write(stderr)
    return printed


def test_equal_text_is_no_difference() -> None:
    assert print_difference(heard("a", "b"), heard("a", "b")) == ""


@pytest.mark.parametrize(
    ("eager", "compiled", "words"),
    [
        (("a", "b"), ("b", "a"), "compiled prints 'b' where eager prints 'a'"),
        (("a", "b"), ("a",), "compiled prints nothing where eager prints 'b'"),
        (("a",), ("a", "b"), "compiled prints 'b' where eager prints nothing"),
    ],
)
def test_text_that_is_missing_or_in_another_order_differs(
    eager: tuple[str, ...], compiled: tuple[str, ...], words: str
) -> None:
    assert print_difference(heard(*eager), heard(*compiled)) == words


def test_what_torch_says_on_standard_error_is_no_difference_and_a_lost_warning_is() -> None:
    one = heard(stderr="/a/model.py:7: UserWarning: careful\n  warnings.warn('careful')\n")
    other = heard(stderr="torch says this\n/b/model.py:9: UserWarning: careful\n")
    assert print_difference(one, other) == ""
    assert print_difference(one, heard()) == "compiled prints nothing where eager prints 'UserWarning: careful'"


def test_the_streams_come_back_and_what_the_code_puts_in_their_place_stays() -> None:
    before, own = sys.stdout, sys.__stdout__
    heard("a")
    assert sys.stdout is before
    with PrintedText(REPAIRED).heard():
        sys.stdout = own
    assert sys.stdout is own
    sys.stdout = before


def test_a_missing_value_is_reported_once_for_its_container() -> None:
    names = ("input 0", "attribute `count`", "attribute `counts`[0]")
    eager = CallEffects({}, {}, dict.fromkeys(names, 1), {}, frozenset(names), frozenset(), frozenset())
    compiled = replace(eager, rest={}, changed=frozenset())
    assert differences(eager, compiled) == [Difference("attribute `count`", False, "mutation", "changed", "missing")]


@pytest.mark.parametrize(
    ("eager", "compiled", "is_same"),
    [
        ("mean 0.10399816185235977", "mean 0.1039981618523501", True),
        ("tensor([0.1234, -2.5000])", "tensor([0.1235, -2.5000])", True),
        ("tensor([1.2e-05])", "tensor([1.3e-05])", True),
        ("mean 0.1039981", "mean 0.1041", False),
        ("tensor(0.1234)", "tensor(0.1236)", False),
        ("step 3 of 0.5", "step 4 of 0.5", False),
        ("mean 0.5", "norm 0.5", False),
        ("0.5 0.5", "0.5", False),
    ],
)
def test_a_printed_number_may_differ_by_its_rounding(eager: str, compiled: str, is_same: bool) -> None:
    assert (print_difference(heard(eager), heard(compiled)) == "") == is_same
    assert (print_difference(heard(stderr=eager), heard(stderr=compiled)) == "") == is_same
