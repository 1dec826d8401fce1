"""A large log of torch alone: time to its outline, over tlparse's time, and the server's memory.

The log has at least 868 compilations and 233 MB. The outline has all that the first page shows: the counts,
the failures and the slowest compilations. The same separate process then reads the rest. `tlparse` writes its
whole output. Both read the log from the page cache, alternately. The memory is that of a process with the
server's imports that opens the stored report and makes the verdict and the findings.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.big_log import write_log
from benchmarks.homes import temporary_home
from benchmarks.table import Result, at_most, spread, tell
from core import Store
from core.runs.stored import start_reading
from core.views.progress import outline_view

COMPILATIONS, LEAST_BYTES = 868, 233_000_000
ROUNDS = 3
AIM = 0.1
AIM_MB = 300
LIMIT_S = 600
OPENED = """
import resource, sys, time
import streamlit
from pathlib import Path
from core import Store, open_report, verdict
from core.analysis.findings import findings
run = Store(Path(sys.argv[1])).open(sys.argv[2])
start = time.perf_counter()
report = open_report(run)
opened_s = time.perf_counter() - start
verdict(report), findings(report)
print(opened_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
"""


def measure() -> list[Result]:
    """Measure tlparse, the outline, and the opening of the stored report, round by round."""
    with temporary_home() as home, tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "large.log"
        count = write_log(log, COMPILATIONS, LEAST_BYTES)
        tell(f"{count} compilations, {log.stat().st_size / 1e6:.0f} MB")
        theirs, ours, whole, opened, memory = [], [], [], [], []
        for _ in range(ROUNDS):
            theirs.append(_tlparse_s(log, Path(folder) / "out"))
            outline_s, whole_s, run_id = _reading_s(home, log)
            ours.append(outline_s)
            whole.append(whole_s)
            tell(f"tlparse {theirs[-1]:.1f} s, outline {outline_s:.1f} s, whole {whole_s:.1f} s")
            opened_s, megabytes = _opened(home, run_id)
            opened.append(opened_s)
            memory.append(megabytes)
    ratios = [our / their for our, their in zip(ours, theirs, strict=True)]
    return [
        at_most("outline over tlparse", ratios, AIM, 3),
        Result("tlparse", spread(theirs, 1, " s")),
        Result("outline", spread(ours, 1, " s")),
        Result("whole report, in its own process", spread(whole, 1, " s")),
        Result("stored report opened again", spread(opened, 2, " s")),
        at_most("memory of the process that shows it", memory, AIM_MB, 0, " MB"),
    ]


def _tlparse_s(log: Path, out: Path) -> float:
    tlparse = Path(sys.executable).with_name("tlparse")
    start = time.perf_counter()
    command = [str(tlparse), str(log), "-o", str(out), "--overwrite", "--no-browser"]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    return time.perf_counter() - start


def _reading_s(home: Path, log: Path) -> tuple[float, float, str]:
    """Return the seconds to the outline and to the whole report of a new run, and the run's id.

    Without an outline, both are the seconds to the whole report.
    """
    with log.open("rb") as file:
        run = Store(home).add_log(log.name, file)
    start = time.perf_counter()
    reading = start_reading(run)
    outline_s = None
    while reading.poll() is None:
        if outline_s is None and outline_view(run) is not None:
            outline_s = time.perf_counter() - start
        time.sleep(0.05)
    whole_s = time.perf_counter() - start
    return outline_s or whole_s, whole_s, run.id


def _opened(home: Path, run_id: str) -> tuple[float, float]:
    command = [sys.executable, "-c", OPENED, str(home), run_id]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout
    opened_s, megabytes = map(float, text.split())
    return opened_s, megabytes
