"""What is remembered: the last results, each for one value and equal other arguments."""

from core.report.parts import MOST_REMEMBERED, remembered


def test_a_result_is_made_once_for_one_value_and_equal_arguments() -> None:
    calls: list[tuple[list[int], int]] = []

    @remembered
    def total(values: list[int], times: int = 1) -> int:
        calls.append((values, times))
        return sum(values) * times

    first, equal = [1, 2], [1, 2]
    assert [total(first), total(first), total(equal), total(first, 2), total(first, 2)] == [3, 3, 3, 6, 6]
    assert calls == [(first, 1), (equal, 1), (first, 2)]

    others = [[number] for number in range(MOST_REMEMBERED)]
    assert [total(other) for other in others] == list(range(MOST_REMEMBERED))
    assert total(first) == 3
    assert len(calls) == 3 + MOST_REMEMBERED + 1
