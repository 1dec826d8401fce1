"""The sample of the long tests: what `make test` leaves out today runs on another day."""

import datetime
import tomllib

import pytest

from tests.support.places import ROOT
from tests.support.sample import DAY, DAYS, is_sampled

FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("first", [DAY, datetime.date(2026, 12, 28).toordinal()])
def test_each_file_is_sampled_on_exactly_one_of_so_many_consecutive_days(first: int) -> None:
    days = {file: [day for day in range(first, first + DAYS) if is_sampled(file, day)] for file in FILES}
    assert [file for file, sampled in days.items() if len(sampled) != 1] == []


def test_long_tests_are_divided_among_all_days() -> None:
    assert all(any(is_sampled(file, day) for file in FILES) for day in range(DAYS))


def test_long_tests_are_left_out_for_no_reason_but_the_day() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["addopts"]
    assert options.endswith(" and (not long or sampled)'")
    assert "-m long $(ARGS)" in (ROOT / "Makefile").read_text()
