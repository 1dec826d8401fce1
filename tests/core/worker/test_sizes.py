"""Inputs of other sizes, on literal tensors: what stays, what is made, and which dimension there is none of."""

from typing import Any

import pytest
import torch

from core.base.errors import JobError
from core.worker.conditions import CallInputs, dimensions, mark_dynamic, resized

INPUTS: CallInputs = (
    (torch.linspace(2, 3, 24).reshape(4, 6), [torch.tensor([5, 7, 9, 5])], 4),
    {"mask": torch.ones(4, 2, dtype=torch.bool), "scale": torch.tensor(2.0), "other": torch.ones(3)},
)


def shapes(call: CallInputs) -> dict[str, Any]:
    (first, (ids,), number), named = call
    tensors = {"0": first, "0.1": ids, **named}
    return {"number": number, **{name: (list(tensor.shape), tensor.dtype) for name, tensor in tensors.items()}}


def test_the_batch_is_the_first_dimension_of_every_tensor_that_has_the_first_ones_size() -> None:
    assert shapes(resized(INPUTS, {"batch": 9}, seed=0)) == {
        "number": 4,
        "0": ([9, 6], torch.float32),
        "0.1": ([9], torch.int64),
        "mask": ([9, 2], torch.bool),
        "scale": ([], torch.float32),
        "other": ([3], torch.float32),
    }


def test_dimensions_are_named_by_argument_place_and_number() -> None:
    made = shapes(resized(INPUTS, {"0.1": 2, "1.0.0": 6, "mask.1": 1}, seed=0))
    assert made == {
        **shapes(INPUTS),
        "0": ([4, 2], torch.float32),
        "0.1": ([6], torch.int64),
        "mask": ([4, 1], torch.bool),
    }


def test_what_is_made_has_the_range_of_what_was_there_and_is_the_same_for_one_seed() -> None:
    (floats, (ids,), _), _ = resized(INPUTS, {"batch": 1000}, seed=3)
    again = resized(INPUTS, {"batch": 1000}, seed=3)[0]
    assert torch.equal(floats, again[0])
    assert not torch.equal(floats, resized(INPUTS, {"batch": 1000}, seed=4)[0][0])
    assert (float(floats.min()), float(floats.max())) == (2.0, 3.0)
    assert sorted(set(ids.tolist())) == [5, 6, 7, 8, 9]


def test_a_tensor_of_the_same_size_is_the_one_that_was_there() -> None:
    assert resized(INPUTS, {"batch": 4}, seed=0)[0][0] is INPUTS[0][0]
    assert resized(INPUTS, {}, seed=0) is INPUTS


def test_what_is_made_still_requires_its_gradient_and_keeps_its_marks() -> None:
    wanted = torch.ones(2, 3, requires_grad=True)
    torch._dynamo.mark_dynamic(wanted, 1)
    (made,), _ = resized(((wanted,), {}), {"0.0": 5}, seed=0)
    assert (made.requires_grad, made._dynamo_dynamic_indices) == (True, {1})


def test_marks_are_dynamos_own() -> None:
    one, other = torch.ones(4, 2), torch.ones(4)
    mark_dynamic(((one, other), {}), ("batch", "0.1"))
    marked: list[Any] = [one, other]
    assert [item._dynamo_dynamic_indices for item in marked] == [{0, 1}, {0}]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("0.2", "`0` has 2 dimensions, counted from 0"),
        ("2.0", "`2` is no tensor among the inputs of this model"),
        ("7.0", "`7` is no tensor among the inputs of this model"),
        ("1.3.0", "`1.3` is no tensor among the inputs of this model"),
        ("masks.0", "`masks` is no tensor among the inputs of this model"),
    ],
)
def test_a_dimension_that_is_not_there_is_an_error_of_the_job(where: str, message: str) -> None:
    with pytest.raises(JobError) as error:
        dimensions(INPUTS, where, f"sizes.{where}")
    assert (error.value.field, str(error.value)) == (f"sizes.{where}", f"sizes.{where}: {message}")


def test_inputs_without_a_tensor_have_no_batch() -> None:
    with pytest.raises(JobError, match="no input of this model is a tensor with dimensions"):
        resized(((1, torch.tensor(2.0)), {}), {"batch": 2}, seed=0)
