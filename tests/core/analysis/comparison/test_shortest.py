"""The longest common subsequence, held against a slow one that is plain."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from core.analysis.comparison.graphs import MOST_STEPS, common

LETTERS = st.lists(st.sampled_from("abc"), max_size=10)


def longest(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the longest common subsequence, by trying all."""
    if not left or not right:
        return 0
    if left[0] == right[0]:
        return 1 + longest(left[1:], right[1:])
    return max(longest(left[1:], right), longest(left, right[1:]))


@given(LETTERS, LETTERS)
def test_it_is_common_in_order_and_as_long_as_can_be(left: list[str], right: list[str]) -> None:
    found = common(left, right)
    assert found is not None
    assert [left[i] for i, _ in found] == [right[j] for _, j in found]
    assert found == sorted(set(found))
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found) == longest(left, right)


def test_where_too_much_differs_there_is_no_answer() -> None:
    left, right = [f"l{i}" for i in range(MOST_STEPS)], [f"r{i}" for i in range(MOST_STEPS)]
    assert common(left, right) is None
    assert common(left, []) == []
    assert common([*left, "one"], []) is None
