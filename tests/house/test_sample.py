"""The sample of the long tests: what `make test` leaves out today runs on another day."""

import datetime
import tomllib

import pytest

from tests.support.places import ROOT
from tests.support.sample import DAY, DAYS, case_of, is_sampled, one_in

CASES = [
    f"{path.relative_to(ROOT).as_posix()}::{case}" for path in (ROOT / "tests").rglob("test_*.py") for case in "ab"
]


@pytest.mark.parametrize("first", [DAY, datetime.date(2026, 12, 28).toordinal()])
def test_each_case_is_sampled_on_exactly_one_of_so_many_consecutive_days(first: int) -> None:
    days = {case: [day for day in range(first, first + DAYS) if is_sampled(case, day)] for case in CASES}
    assert [case for case, sampled in days.items() if len(sampled) != 1] == []


def test_long_tests_are_divided_evenly_among_all_days() -> None:
    numbers = [sum(is_sampled(case, day) for case in CASES) for day in range(DAYS)]
    assert max(numbers) < 2 * min(numbers)


@pytest.mark.parametrize("sample", ["mlp"])
def test_tests_of_one_case_run_on_the_same_day(request: pytest.FixtureRequest, sample: str) -> None:
    assert case_of(request.node) == "tests/house/test_sample.py::mlp"


def test_a_test_without_parameters_is_a_case_by_its_name(request: pytest.FixtureRequest) -> None:
    assert case_of(request.node).endswith("test_sample.py::test_a_test_without_parameters_is_a_case_by_its_name")


def test_long_tests_are_left_out_for_no_reason_but_the_day() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert options["addopts"].endswith(" and (not long or sampled)'")
    assert [marker for marker in options["markers"] if marker.endswith(f" each on one day of {DAYS}")]
    assert "-m long $(ARGS)" in (ROOT / "Makefile").read_text()


def test_the_first_of_so_many_cases_is_not_long() -> None:
    cases = one_in(3, ["a", ("b", 1), "c", "d"])
    assert [(*case.values, *(mark.name for mark in case.marks)) for case in cases] == [
        ("a",),
        ("b", 1, "long"),
        ("c", "long"),
        ("d",),
    ]
