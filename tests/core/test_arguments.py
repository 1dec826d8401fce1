"""The dimensions of a call, by the names that a job's sizes have."""

import pytest

from core import JobError, tensor_sizes


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("f32[8, 64], i64[8] < 1000, 2.5", {"0.0": 8, "0.1": 64, "1.0": 8}),
        ("2, [f32[16], (f32[3],)], mask=b8[4, 5]", {"1.0.0": 16, "1.1.0.0": 3, "mask.0": 4, "mask.1": 5}),
        ("2.5, {'x': f32[2]}, flag=True", {}),
        ("inputs(batch=16)", {}),
        ("", {}),
    ],
)
def test_each_dimension_of_a_call_has_its_name_and_size(text: str, sizes: dict[str, int]) -> None:
    assert tensor_sizes(text) == sizes


def test_a_text_that_is_no_call_is_refused() -> None:
    with pytest.raises(JobError):
        tensor_sizes("f32[]")
