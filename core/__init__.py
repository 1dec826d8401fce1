"""Compileboard as a library: compile a model in a worker process, and read what torch.compile did.

    from core import CompileJob, Model, Runner, Store, open_report, sentence, verdict

    runner = Runner(Store())
    run = runner.wait(runner.submit(CompileJob(Model("sample", "transformer_block"))))
    print(sentence(verdict(open_report(run))))

This package does not import torch. Only the worker that `Runner` starts imports torch. Each name is imported at its
first use, so that the command line starts fast.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base.syntax import module

if TYPE_CHECKING:
    from core.accelerator.backends import SHIPPED_BACKENDS
    from core.analysis.comparison.matching import RunSide
    from core.analysis.comparison.run import RunComparison, compare_runs
    from core.analysis.speed import speed
    from core.analysis.verdict import Summary, Verdict, verdict
    from core.base.errors import (
        AccessError,
        CompileboardError,
        JobError,
        ReportError,
        StoreError,
        TraceError,
        WorkerError,
    )
    from core.base.machine import Environment
    from core.commands.agents.server import AgentRoute
    from core.job import (
        CompileJob,
        CompileOptions,
        Conditions,
        DynamicDim,
        Model,
        Packaging,
        compile_options_as_text,
        job_from_json,
        job_to_json,
    )
    from core.job.gallery import Sample, sample, samples
    from core.job.prepared import measured_again
    from core.job.targets import TARGETS
    from core.report import Report, as_json, from_json, to_json
    from core.runs.engine.local import LocalEngine
    from core.runs.engine.opening import open_engine
    from core.runs.engine.queues import Assignment, Engine
    from core.runs.index.entry import Usage
    from core.runs.limits import Limits, check_upload, limits_of
    from core.runs.people import Rate
    from core.runs.progress import Progress, is_compiled, package_files, progress
    from core.runs.recordings import Recording, recordings
    from core.runs.runner import Runner
    from core.runs.status import Status
    from core.runs.store import MOST_NAME_CHARS, MOST_NOTE_CHARS, Run, Store
    from core.runs.stored import (
        Comparable,
        comparable_runs,
        is_stored,
        likeliest,
        open_graph,
        open_report,
        open_summary,
        side_of_run,
        start_reading,
    )
    from core.sweep.model import Axis, Sweep, parse_axis
    from core.sweep.runner import RecordedSweep, SweepRunner, new_sweep, recorded_sweeps
    from core.sweep.store import SweepStore
    from core.sweep.table import SweepStanding
    from core.trace.parsers.build import GrowingReport, build_report, load_text
    from core.trace.reader import NO_RECORD
    from core.views.comparison import comparison_sentence
    from core.views.verdict import sentence

# Public name → its module, by the imports above.
_HOMES = {
    alias.name: node.module
    for block in module(Path(__file__).read_text(encoding="utf-8")).body
    if isinstance(block, ast.If)
    for node in block.body
    if isinstance(node, ast.ImportFrom) and node.module
    for alias in node.names
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Return a public name, whose module is imported at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
