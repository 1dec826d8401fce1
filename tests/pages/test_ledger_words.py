"""What the page Kernels says of its ledger in a sentence."""

from dataclasses import replace

from core.analysis.kernels import ledger
from pages.parts.kernels.ledger_words import worst
from tests.support.reports.timed import GELU, ITEM, MM, REPORT


def test_the_kernel_with_the_most_time_above_the_roofline_is_named() -> None:
    rows = ledger(REPORT, ITEM)
    assert [row.name for row in rows] == [MM.name, GELU.name]
    assert worst(rows[1:]) == "Most of that is in `cpp_fused_gelu_0`: 2.00 ms where the roofline allows 1.60 ms. "
    assert worst(rows) == "Most of that is in `extern_kernels.mm`: 2.50 ms where the roofline allows 2.00 ms. "
    assert worst([replace(rows[0], allowed_s=None)]) == worst([]) == ""
