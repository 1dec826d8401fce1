"""Stand-ins for IPython. The script of a notebook begins with the code of this file."""

import contextlib
import io
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any


def _show_value(value: object) -> None:
    if value is not None:
        print(repr(value))


def display(*values: object, **_: object) -> None:
    """Print values, as IPython's `display` shows them."""
    for value in values:
        print(repr(value))


class TimeitResult:
    """Times of `%timeit` in seconds, with the attributes of IPython's class."""

    def __init__(self, loops: int, all_runs: list[float]) -> None:
        self.loops, self.repeat, self.all_runs = loops, len(all_runs), all_runs
        self.timings = [seconds / loops for seconds in all_runs]
        self.best, self.worst = min(self.timings), max(self.timings)
        self.average = sum(self.timings) / self.repeat
        self.stdev = (sum((each - self.average) ** 2 for each in self.timings) / self.repeat) ** 0.5

    def __str__(self) -> str:
        runs = f"{self.repeat} runs, {self.loops} loops each"
        return f"{self.average:.3g} s ± {self.stdev:.3g} s per loop (mean ± std. dev. of {runs})"

    def __repr__(self) -> str:
        return f"<TimeitResult : {self}>"


def _timing(loops: int = 0, repeat: int = 7, quiet: bool = False) -> Generator[int, None, TimeitResult]:
    """Yield once for each execution of a statement, for 0.2 s as in IPython, and print its time."""
    attempt, seconds = 1, 0.0
    while not loops:
        start = time.perf_counter()
        yield from range(attempt)
        seconds = time.perf_counter() - start
        loops, attempt = (attempt if seconds >= 0.2 else 0), attempt * 10
    all_runs = []
    for _ in range(repeat):
        start = time.perf_counter()
        yield from range(loops)
        all_runs.append(time.perf_counter() - start)
    result = TimeitResult(loops, all_runs)
    if not quiet:
        print(result)
    return result


def _timeit(function: Callable[[], object], **options: Any) -> TimeitResult:
    timing = _timing(**options)
    while True:
        try:
            next(timing)
        except StopIteration as end:
            result: TimeitResult = end.value
            return result
        function()


@contextlib.contextmanager
def _timed() -> Iterator[None]:
    start, cpu = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        print(f"CPU times: {time.process_time() - cpu:.3g} s\nWall time: {time.perf_counter() - start:.3g} s")


class _CellOutput:
    """Output of a cell under `%%capture`."""

    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()

    @property
    def stdout(self) -> str:
        return self.out.getvalue()

    @property
    def stderr(self) -> str:
        return self.err.getvalue()

    def show(self) -> None:
        print(self.stdout, end="")


@contextlib.contextmanager
def _capturing() -> Iterator[_CellOutput]:
    captured = _CellOutput()
    with contextlib.redirect_stdout(captured.out), contextlib.redirect_stderr(captured.err):
        yield captured
