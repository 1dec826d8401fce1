"""Results of functions of a report: remembered, and those of a report in parts stored beside it.

What sums over a thousand compilations takes seconds and reads them all. It is made once, and then read from a file:

  first line   the report's mark and the version of our code
  the rest     the result as JSON

A file of another report or of other code is written again.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, get_type_hints

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.base.files import read, write_atomically
from core.base.machine import code_version
from core.base.remembered import LastResults
from core.report.model import Report
from core.report.parts import StoredReport

P = ParamSpec("P")
T = TypeVar("T")
MOST_BYTES = 64 * 1024**2


def stored(function: Callable[Concatenate[Report, P], T]) -> Callable[Concatenate[Report, P], T]:
    """Return a function that makes its result once for a report and equal other arguments.

    The result must be of a type that JSON brings back as it was, and depend on the report and its log alone. Arguments
    that are functions read parts of the log: equal results are made with others.
    """
    results = LastResults[Report, T]()
    name = f"{function.__module__.rpartition('core.')[2]}.{function.__name__}"

    @wraps(function)
    def from_store(report: Report, /, *args: P.args, **options: P.kwargs) -> T:
        key = [value for value in (*args, *options.values()) if not callable(value)]

        def make() -> T:
            return function(report, *args, **options)

        def read_or_make() -> T:
            return _read_or_make(report, _file_name(name, key), get_type_hints(function)["return"], make)

        return results.of(report, key, read_or_make)

    return from_store


def _file_name(name: str, key: list[Any]) -> str:
    digest = "-" + hashlib.blake2b(msgspec.json.encode(key), digest_size=8).hexdigest() if key else ""
    return f"{name}{digest}.json"


def _read_or_make(report: Report, file_name: str, kind: Any, make: Callable[[], T]) -> T:
    if not isinstance(report, StoredReport) or report.results is None or not report.mark:
        return make()
    path, first_line = report.results / file_name, f"{report.mark} {code_version()}\n".encode()
    with contextlib.suppress(OSError, DecodeError):
        data = read(path, MOST_BYTES)
        if data.startswith(first_line):
            result: T = decoded_as(data[len(first_line) :], kind)
            return result
    result = make()
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, first_line + msgspec.json.encode(result))
    return result
