"""How the time to measure kernels is shared out: the most expensive first, as far as it goes."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.torch

SHARED = """
from core.worker.measuring.kernel_times import Times, _least
from core.worker.measuring.kernel_times import KernelTiming

times = Times(None)
for line, seconds in ((10, 1.0), (11, 0.2), (12, 0.5), (13, 0.001)):
    times.kernels[line] = KernelTiming("kernel", line, 1, [seconds])
lines = lambda budget_s: [line for _, line in _least([times], budget_s)]
assert lines(10.0) == [10, 12, 11, 13]
assert lines(3.2) == [10, 13]
assert lines(2.5) == [12, 11, 13]
assert lines(0.0) == []
"""


def test_the_most_expensive_kernels_are_repeated_first_and_cheap_ones_where_room_is_left() -> None:
    assert subprocess.run([sys.executable, "-c", SHARED], check=False).returncode == 0
