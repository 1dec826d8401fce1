"""What the soak says of what it saw, and that memory is given back while a server runs."""

import asyncio
import ctypes
import gc
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.soak_record import Look, chart, flatness, growth
from pages.gate.greeting import housekeeping
from tests.support.loops import run_async
from tests.support.places import ROOT

# Eight threads allocate at once; then glibc's malloc_info writes what arenas there are.
ALLOCATE = """
import ctypes, sys, threading
from pages.gate.greeting import limit_arenas

libc = ctypes.CDLL(None)
libc.fopen.restype = libc.malloc.restype = ctypes.c_void_p
if sys.argv[1] == "limited":
    limit_arenas()
barrier = threading.Barrier(9)

def allocate():
    libc.malloc(ctypes.c_size_t(100_000))
    barrier.wait()
    barrier.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
barrier.wait()
file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
barrier.wait()
"""

STEADY = [Look(10.0 * n, 200.0, 300.0, 50, 9, 4, 0.1 if n % 2 else None, 0) for n in range(12)]


def kept(looks: list[Look]) -> dict[str, bool | None]:
    return {item.what: item.passed for item in flatness(looks, warm_up_s=30.0)}


def test_what_rises_after_the_warm_up_is_not_flat() -> None:
    early = [replace(item, server_mb=100.0) if item.at_s < 30 else item for item in STEADY]
    leaking = [replace(item, descriptors=50 + int(item.at_s)) for item in STEADY]
    assert kept(STEADY) == kept(early)
    assert [name for name, flat in kept(STEADY).items() if flat] == [
        "server, MB", "fork servers, MB", "descriptors", "threads",
    ]  # fmt: skip
    assert [name for name, flat in kept(leaking).items() if flat is False] == ["descriptors"]


def test_growth_is_reported_as_a_part_of_the_mean() -> None:
    assert growth([(0.0, 90.0), (5.0, 100.0), (10.0, 110.0)]) == 0.2
    assert growth([(0.0, 0.0), (1.0, 0.0)]) == 0.0


def test_the_chart_has_a_line_for_each_curve() -> None:
    drawn = ElementTree.fromstring(chart(STEADY, warm_up_s=30.0))
    lines = drawn.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [12, 12, 12, 12, 12, 6, 12]


class Left:
    """Something that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def test_what_nobody_refers_to_is_freed_while_the_server_runs() -> None:
    async def run() -> bool:
        async with housekeeping(period_s=0.01):
            left = weakref.ref(Left())
            for _ in range(1000):
                if left() is None:
                    return True
                await asyncio.sleep(0.01)
        return False

    gc.disable()
    try:
        assert run_async(run())
    finally:
        gc.enable()


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="the C library is not glibc")
def test_threads_of_a_server_share_two_arenas(tmp_path: Path) -> None:
    def arenas(how: str) -> int:
        path = tmp_path / how
        subprocess.run([sys.executable, "-c", ALLOCATE, how, str(path)], cwd=ROOT, check=True)
        return len(ElementTree.parse(path).findall("heap"))

    assert arenas("limited") == 2
    assert arenas("unlimited") > 2
