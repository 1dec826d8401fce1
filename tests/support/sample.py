"""The day's sample of the long tests: on each day some of their cases run with the others, and on `DAYS` days all."""

import os
import zlib
from collections.abc import Iterable
from datetime import date
from typing import Any

import pytest

from tests.support.places import ROOT

#: A long test runs on one of so many consecutive days.
DAYS = 14
#: The number of the day whose sample runs. All processes of a test run have the same one, even around midnight.
DAY = int(os.environ.setdefault("COMPILEBOARD_TEST_DAY", str(date.today().toordinal())))


def case_of(item: pytest.Item) -> str:
    """Return the file and the case of a test, or its name: tests of one case share fixtures, and so a day."""
    callspec = getattr(item, "callspec", None)
    return f"{item.path.relative_to(ROOT).as_posix()}::{callspec.id if callspec else item.name}"


def is_sampled(case: str, day: int = DAY) -> bool:
    """Return whether the long tests of a case run on that day."""
    return zlib.crc32(case.encode()) % DAYS == day % DAYS


def one_in(count: int, cases: Iterable[Any]) -> list[Any]:
    """Return cases for `parametrize` with all marked long but one in so many, which stands for the others.

    A tuple has a value for each name.
    """
    values = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*value, marks=pytest.mark.long if at % count else ()) for at, value in enumerate(values)]


def cases_of(request: pytest.FixtureRequest, parameter: str) -> list[Any]:
    """Return the cases of a parameter that this session tests in the file of a fixture's request."""
    items = (item for item in request.session.items if item.path == request.path and hasattr(item, "callspec"))
    return list(dict.fromkeys(item.callspec.params[parameter] for item in items if parameter in item.callspec.params))
