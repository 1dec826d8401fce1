"""python -m tests.record_ranks [SCENARIO…]: record the logs of the ranks of tests/ranks, by torchrun and gloo on CPUs.

Each folder has the script and a log for each rank, compressed. What is kept of a log is as in tests/record.py.
"""

import gzip
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.record import machine_places, normalised
from tests.support.places import RANKS

# Scenario → number of processes.
SCENARIOS = {"ddp": 2, "fsdp2": 2, "tensor_parallel": 4, "uneven": 2, "warm_cache": 2}
LOG = re.compile(r"rank_(\d+)_")


def main() -> None:
    """Record the scenarios named on the command line, or all."""
    for name in sys.argv[1:] or SCENARIOS:
        with tempfile.TemporaryDirectory() as home:
            _record(name, SCENARIOS[name], Path(home))


def _record(name: str, processes: int, home: Path) -> None:
    traces, cache = home / "traces", home / "cache"
    environment = {
        **os.environ,
        "TORCH_TRACE": str(traces),
        "TORCHINDUCTOR_CACHE_DIR": str(cache),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    subprocess.run([*command, str(RANKS / name / "script.py")], env=environment, check=True)
    for log in traces.glob("*.log"):
        match = LOG.search(log.name)
        assert match
        keep(name, int(match[1]), normalised(log.read_bytes(), {str(traces): "/traces", **machine_places(cache)}))


def keep(name: str, rank: int, log: bytes) -> None:
    """Write the log of a rank."""
    path = RANKS / name / f"rank_{rank}.log.gz"
    path.write_bytes(gzip.compress(log, mtime=0))
    print(f"{name}, rank {rank}: {len(log):,} bytes, {path.stat().st_size:,} compressed")


if __name__ == "__main__":
    main()
