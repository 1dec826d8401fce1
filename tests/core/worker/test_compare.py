"""How far two results may be from each other, on literal tensors."""

import collections
import dataclasses
import math
from typing import Any

import pytest
import torch

from core.report import Difference
from core.worker.results.compare import compare, compare_leaf
from core.worker.results.distance import Distance, distance
from core.worker.results.named import Container, _simple, aliases, leaves
from core.worker.results.verdict import LOST_IN_ROUNDING, NOISE, RIGHT, ROUNDING, judged


def verdict(one: Any, other: Any) -> tuple[bool | None, str]:
    (found,) = compare_leaf("output", one, other)
    return found.same, found.actual


def of(values: list[float], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (of([1e-5, 2e-5]), of([3e-5, 6e-5]), (False, "3.00 times eager's norm")),
        (of([1e-5, 2e-5]), of([0.0, 0.0]), (False, "all zeros")),
        (of([0.0, 0.0]), of([0.0, 1e-6]), (False, "up to 1.00e-6, where eager has zeros")),
        (of([0.0, 0.0]), of([-0.0, 0.0]), (True, "")),
        (of([1.0, 2.0]), of([1.0, 2.00001]), (True, "")),
        (of([1.0, 2.0]), of([1.0, 2.001]), (False, "off by 0.000447 of eager's norm")),
        (of([1.0, 2.0], torch.bfloat16), of([1.0, 2.015625], torch.bfloat16), (True, "")),
        (of([1.0, 2.0], torch.bfloat16), of([1.0, 2.0625], torch.bfloat16), (False, "1.03 times eager's norm")),
        (of([1.0, math.nan, math.inf]), of([1.0, math.nan, math.inf]), (True, "")),
        (of([1.0, math.nan]), of([1.0, 2.0]), (False, "1 of 2 elements are NaN or infinite on one side alone")),
        (of([1.0, math.inf]), of([1.0, -math.inf]), (False, "1 of 2 elements are NaN or infinite on one side alone")),
        (torch.tensor([2**62, 1]), torch.tensor([2**62 + 1, 1]), (False, "1 of 2 elements differ")),
        (torch.tensor([True, False]), torch.tensor([True, True]), (False, "1 of 2 elements differ")),
        (torch.tensor([1 + 1j]), torch.tensor([1 - 1j]), (False, "off by 1.41 of eager's norm")),
        (of([1.0, 2.0], torch.float8_e4m3fn), of([1.0, 2.0], torch.float8_e4m3fn), (True, "")),
        (of([1.0, 2.0], torch.float8_e4m3fn), of([2.0, 4.0], torch.float8_e4m3fn), (False, "2.00 times eager's norm")),
        (of([1e-42]), of([0.0]), (True, "")),
        (torch.empty(0, 3), torch.empty(0, 3), (True, "")),
        (torch.tensor(2.0), torch.tensor(2.0), (True, "")),
        (0.1, 0.1 + 1e-8, (True, "")),
        (0.1, 0.2, (False, "2.00 times eager's norm")),
        (1e-50, 2e-50, (False, "2.00 times eager's norm")),
        (1e60, 2e60, (False, "2.00 times eager's norm")),
        (1e-42, 0.0, (False, "all zeros")),
        (torch.tensor(1e-42).item(), 0.0, (True, "")),
        (1, True, (False, "True")),
        ("a", "b", (False, "'b'")),
    ],
)  # fmt: skip
def test_values_are_compared_by_the_norm_and_whole_numbers_exactly(one: Any, other: Any, expected: Any) -> None:
    assert verdict(one, other) == expected


@pytest.mark.long
def test_one_wrong_element_of_millions_is_found() -> None:
    one = torch.ones(4_000_000)
    other = one.clone()
    other[3_000_000] = 1.01
    assert verdict(one, other) == (False, "an element is off by 0.0100 of eager's largest")


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (torch.eye(3).to_sparse(), "sparse_coo tensors are not compared"),
    ],
)
def test_tensors_that_cannot_be_compared_are_reported_to_be(tensor: torch.Tensor, reason: str) -> None:
    (found,) = compare_leaf("output", tensor, tensor)
    assert (found.same, found.reason) == (None, reason)


def test_a_distance_does_not_depend_on_the_chunks() -> None:
    one, other = torch.randn(5_000_000, dtype=torch.float64), torch.randn(5_000_000, dtype=torch.float64)
    found = distance(one, other)
    gap = one - other
    assert (found.elements, found.unequal, found.odd) == (5_000_000, 5_000_000, 0)
    assert [found.error, found.norm, found.other_norm, found.max_error, found.largest] == pytest.approx(
        [float(value) for value in (gap.norm(), one.norm(), other.norm(), gap.abs().max(), one.abs().max())]
    )


def test_an_empty_tensor_has_no_distance() -> None:
    assert distance(torch.empty(0), torch.empty(0)) == Distance()


@dataclasses.dataclass
class Pair:
    left: torch.Tensor
    right: int


Point = collections.namedtuple("Point", ["x", "y"])


class Cache:
    def __init__(self, keys: list[int]) -> None:
        self.keys = keys
        self._own = 3


def test_everything_in_a_value_has_a_name() -> None:
    tensor = torch.ones(2)
    value = {"a": (1, [None]), "pair": Pair(tensor, 2), "point": Point(3, 4), "cache": Cache([5])}
    assert leaves("output", value) == {
        "output": Container("dict", ("['a']", "['pair']", "['point']", "['cache']")),
        "output['a']": Container("tuple", ("[0]", "[1]")),
        "output['a'][0]": 1,
        "output['a'][1]": Container("list", ("[0]",)),
        "output['a'][1][0]": None,
        "output['pair']": Container("Pair", (".left", ".right")),
        "output['pair'].left": tensor,
        "output['pair'].right": 2,
        "output['point']": Container("Point", (".x", ".y")),
        "output['point'].x": 3,
        "output['point'].y": 4,
        "output['cache']": Container("Cache", (".keys",)),
        "output['cache'].keys": Container("list", ("[0]",)),
        "output['cache'].keys[0]": 5,
    }


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ({of([1.0]), of([2.0])}, {of([2.0]), of([1.0])}, []),
        ({of([1.0]), of([2.0])}, {of([2.0]), of([3.0])}, ["2.00 times eager's norm", "1.50 times eager's norm"]),
        ({of([1.0]), of([2.0])}, {of([1.0])}, ["set of 1"]),
        ({1, 2}, {2, 1}, []),
        ({1}, {3}, ["{3}"]),
    ],
)
def test_sets_are_compared_by_what_they_hold(one: Any, other: Any, said: list[str]) -> None:
    found = compare(leaves("output", one), leaves("output", other))
    assert [item.actual for item in found if not item.same] == said


def test_a_value_that_holds_itself_ends() -> None:
    value: list[Any] = []
    value.append(value)
    assert len(leaves("output", value)) < 100


def test_what_a_container_lacks_is_reported_once() -> None:
    one, other = leaves("output", (1, 2, 3)), leaves("output", [1, 2])
    assert [item for item in compare(one, other) if not item.same] == [
        Difference("output", False, "tree", "tuple of 3", "list of 2")
    ]


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ({7: 1, 8: 2}, {7: 1, 9: 2}, ("dict with [8]", "dict with [9]")),
        ({3: 1}, {4: 1}, ("dict with [3]", "dict with [4]")),
        ({1: 1, 2: 2}, {2: 2, 1: 1}, ("dict with [1], [2]", "dict with [2], [1]")),
        ({f"key{place:03}": 1 for place in range(99)}, {f"key{place:03}": 1 for place in range(98)},
         ("dict with ['key098']", "dict without them")),
    ],
)  # fmt: skip
def test_different_keys_are_named(one: Any, other: Any, words: tuple[str, str]) -> None:
    found = compare(leaves("output", one), leaves("output", other))
    assert [item for item in found if item.kind == "tree"] == [Difference("output", False, "tree", *words)]


def test_values_by_object_id_are_compared_in_their_order() -> None:
    objects = object(), object(), object(), object()
    one, other = (
        {id(key): value for key, value in zip(keys, (5, 6), strict=True)} for keys in (objects[:2], objects[2:])
    )
    assert list(leaves("attribute `seen`", one)) == [
        "attribute `seen`",
        "attribute `seen`[id 0]",
        "attribute `seen`[id 1]",
    ]
    assert [item.same for item in compare(leaves("seen", one), leaves("seen", other))] == [True, True]


def test_a_tensor_in_place_of_an_equal_number_is_a_difference() -> None:
    assert compare(leaves("output", 2.0), leaves("output", torch.tensor(2.0))) == [
        Difference("output", False, "tree", "2.0", "a tensor")
    ]


def test_strides_of_dimensions_of_size_one_do_not_matter() -> None:
    one, other = torch.ones(4, 1), torch.ones(1, 4).t()
    assert one.stride() != other.stride()
    assert [item.kind for item in compare({"output": one}, {"output": other}, layout=True)] == ["value"]


def test_an_alias_is_named_by_the_first_that_owns_the_memory() -> None:
    x, y = torch.ones(4), torch.ones(4)
    outputs = {
        "output[0]": x[1:],
        "output[1]": y,
        "output[2]": y.view(2, 2),
        "output[3]": torch.empty(0),
        "output[4]": 3,
    }
    assert aliases(outputs, {"input 0": x}) == {"output[0]": "input 0", "output[2]": "output[1]"}


LOOKS_DIFFERENT = Difference("gradient of `w`", False)


@pytest.mark.parametrize(
    ("eager", "compiled", "reference", "said"),
    [
        # A gradient that is zero: both are rounding, of whatever size.
        ([1e-9, -2e-9], [0.0, 4e-8], [1e-17, 0.0], (True, NOISE)),
        ([1e-9, -2e-9], [1e-2, 0.0], [1e-17, 0.0], (False, "")),
        # Eager is off by as much.
        ([1.001, 1.0], [0.999, 1.0], [1.0, 1.0], (True, ROUNDING)),
        ([1.001, 1.0], [0.9, 1.0], [1.0, 1.0], (False, "")),
        ([1.5, 1.0], [0.5, 1.0], [1.0, 1.0], (None, LOST_IN_ROUNDING)),
        ([0.0, 0.0], [1.0, 1.0], [1.0, 1.0], (True, RIGHT)),
        ([1.5, 1.0], [math.nan, 1.0], [1.0, 1.0], (False, "")),
        # Eager overflows where the reference does not.
        ([math.inf, 1.0], [1e4, 1.0], [1e4, 1.0], (True, RIGHT)),
        ([math.inf, 1.0], [2e4, 1.0], [1e4, 1.0], (False, "")),
    ],
)  # fmt: skip
def test_compiled_is_right_if_it_is_no_further_from_float64_than_eager(
    eager: list[float], compiled: list[float], reference: list[float], said: tuple[bool | None, str]
) -> None:
    exact = torch.tensor(reference, dtype=torch.float64)
    found = judged(LOOKS_DIFFERENT, of(eager), of(compiled), exact, lambda: torch.full_like(exact, 1e-8))
    assert (found.same, found.reason) == said


def test_only_plain_public_values_of_a_namespace_are_compared() -> None:
    values = {"count": 2, "_hidden": 3, "model": object(), "scale": torch.ones(1)}
    assert list(_simple("global `{}`", values)) == ["global `count`", "global `scale`"]
