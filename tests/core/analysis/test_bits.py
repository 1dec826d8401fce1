"""The words of a comparison bit by bit."""

import pytest

from core.report import BitComparison, NodeBits
from core.views.numerics import bits_words

SUM = NodeBits(
    *("sum_1", "aten.sum.dim_IntList", "net.py:4: return x.sum(-1)", "cpp_fused_sum_0", "cpp_fused_sum_0"),
    dtype="float32",
    elements=8,
    differing=3,
    max_abs=0.5,
    source=True,
    reason="split reduction",
)
RELU = NodeBits("relu", "aten.relu.default", "", "cpp_fused_relu_1", "cpp_`relu`", "float32", 8, 3)


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (
            BitComparison({"batch": 1}, (RELU, SUM), 9, 2, ("amax", "exp", "div", "sub"), 1),
            "With `batch=1`, 2 of 9 values have other bits. They first differ at `sum_1` "
            "(`net.py:4: return x.sum(-1)`), written by `cpp_fused_sum_0`: split reduction. Only one configuration "
            "writes `amax`, `exp`, `div` and 1 more. 1 value too large to compare.",
        ),
        (
            BitComparison({"eval": True}, (RELU,), 2, 1),
            "With `eval=True`, 1 of 2 values has other bits. The first in order is at `relu`, written by "
            "`cpp_fused_relu_1` and `cpp_'relu'`.",
        ),
        (
            BitComparison({"options.max_autotune": True}, compared=1),
            "Equal bit by bit with `options.max_autotune=True`: 1 value written by kernels compared.",
        ),
        (
            BitComparison({"batch": 8}, problem="the first call has a batch of 8"),
            "Not compared bit by bit with `batch=8`: the first call has a batch of 8.",
        ),
    ],
)
def test_a_comparison_is_a_few_sentences(bits: BitComparison, words: str) -> None:
    assert bits_words(bits) == words
