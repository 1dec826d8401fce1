"""What the page Kernels says of its ledger in a sentence."""

from dataclasses import replace

from core.analysis.kernels import LedgerSum, ledger, summary
from pages.look.palette import ACCENT
from pages.parts.kernels.call_bar import call_bar
from pages.parts.kernels.ledger_words import sums, worst
from tests.support.reports.timed import GELU, ITEM, MM, REPORT


def test_the_kernel_with_the_most_time_above_the_roofline_is_named() -> None:
    rows = ledger(REPORT, ITEM)
    assert [row.name for row in rows] == [MM.name, GELU.name]
    assert worst(rows[1:]) == "Most above the roofline: `gelu`, 2.00 ms where 1.60 ms are allowed. "
    assert worst(rows) == "Most above the roofline: `up · mm`, 2.50 ms where 2.00 ms are allowed. "
    assert worst([replace(rows[0], allowed_s=None)]) == worst([]) == ""


def test_a_compiled_call_is_told_in_a_sentence_and_its_parts_as_a_bar() -> None:
    found = summary(REPORT)
    assert found is not None
    assert sums(found) == "Kernels take 77.6 % of a compiled call's 5.80 ms. "
    bar = call_bar(found, "light")

    assert (
        'aria-label="kernels 4.50 ms, cold caches 700 µs, wrapper 200 µs, outside 400 µs, beside eager 200 µs"' in bar
    )
    assert f"width:75.0%;background:{ACCENT['light']}" in bar
    assert "Dynamo&#x27;s and autograd&#x27;s runtime" in bar


def test_kernels_that_by_themselves_take_more_than_the_call_leave_no_part_and_no_negative_one() -> None:
    found = LedgerSum(kernels_s=6e-3, in_place_s=5e-3, wrapper_s=5e-3, call_s=5.5e-3, steady_s=5.4e-3)
    assert sums(found) == "Kernels take about all of a compiled call's 5.50 ms. "
    assert [(part.name, part.seconds) for part in found.parts] == [("kernels", 5.5e-3)]
    assert "−" not in call_bar(found, "dark")
    assert sums(None) == sums(replace(found, call_s=None)) == ""
