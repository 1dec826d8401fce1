"""Predicted times of kernels compared with those of test models, which the fit did not see.

On the device, `run_models` compiles each model by Compileboard, records a profile of 24 compiled calls, and writes the
runs to one archive.
"""

from __future__ import annotations

from pathlib import Path

from core import CompileJob, LocalEngine, Model, Runner, Store
from core.job import GIB
from core.runs.sharing import write_archive

MODELS = Path(__file__).parent / "models"


def run_models(home: Path, archive: Path) -> int:
    """Run every test model on this machine's GPU, and archive the runs; return the number of failures."""
    store = Store(home)
    engine = LocalEngine(store.cache_dir)
    runner = Runner(store, engine)
    runs, failed = [], 0
    for path in sorted(MODELS.glob("*.py")):
        job = CompileJob(
            Model("file", str(path)), device="cuda", measure=False, profile=True, memory_limit_bytes=96 * GIB
        )
        run = runner.wait(runner.submit(job))
        status = run.status()
        print(f"{path.stem}: {status.state} {status.reason}", flush=True)
        failed += status.state != "done"
        runs.append(run)
        write_archive(runs, archive)
    engine.close()
    return failed
