"""The sample of the long tests: what `make test` leaves out today runs on another day."""

import datetime
import tomllib

import pytest

from tests.support.places import ROOT
from tests.support.sample import DAY, DAYS, is_sampled, one_in

FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("first", [DAY, datetime.date(2026, 12, 28).toordinal()])
def test_each_file_is_sampled_on_exactly_one_of_so_many_consecutive_days(first: int) -> None:
    days = {file: [day for day in range(first, first + DAYS) if is_sampled(file, day)] for file in FILES}
    assert [file for file, sampled in days.items() if len(sampled) != 1] == []


def test_long_tests_are_divided_among_all_days() -> None:
    assert all(any(is_sampled(file, day) for file in FILES) for day in range(DAYS))


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
