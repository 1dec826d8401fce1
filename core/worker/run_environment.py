"""Records around a run's compilations: the job and the machine first, torch's counters and an error last."""

from __future__ import annotations

import os
import platform
import re
import sys
import traceback
from collections.abc import Collection
from pathlib import Path
from types import ModuleType

import msgspec
import torch
import torch._inductor.metrics
from torch._dynamo.utils import counters

from core.base.errors import JobError
from core.job import CompileJob
from core.report import Counters, RunError, Setting
from core.report.records.run import SourceRecord
from core.runs.store import Run
from core.worker.environment import device_name, devices
from core.worker.frames import user_frames
from core.worker.record import emit

MAX_TRACEBACK_CHARS = 40_000
NOT_IN = re.compile(r"cannot import name '(\w+)'")


def emit_setting(run: Run, job: CompileJob, paths: Collection[Path]) -> None:
    """Record the job, its machine, and the files of the model and of its backend."""
    emit(
        Setting(
            job=msgspec.to_builtins(job),
            run=run.id,
            torch=torch.__version__,
            python=platform.python_version(),
            device=device_name(job.device) if job.device in devices() else job.device,
            threads=torch.get_num_threads(),
            cpus=os.cpu_count(),
            target=job.target,
        )
    )
    for path in filter(Path.exists, paths):
        emit(SourceRecord(path=str(path), text=path.read_text(encoding="utf-8", errors="replace")))


def emit_counters() -> None:
    """Record torch's own counters, and the settings that the user's code left it with."""
    metrics = torch._inductor.metrics
    names = ("generated_kernel_count", "generated_cpp_vec_kernel_count", "ir_nodes_pre_fusion", "num_bytes_accessed")
    emit(
        Counters(
            dynamo={group: dict(values) for group, values in counters.items()},
            inductor={name: getattr(metrics, name) for name in names},
            float32_matmul_precision=torch.get_float32_matmul_precision(),
            # A device that nothing was put on is not asked, which would start it.
            has_tf32=torch.cuda.is_initialized() and torch.cuda.is_tf32_supported(),
            recompile_limit=torch._dynamo.config.recompile_limit,
        )
    )


def emit_error(stage: str, paths: Collection[Path], error: BaseException) -> None:
    """Record an error with the lines of the user's files and the raw traceback."""
    trace = traceback.TracebackException.from_exception(error)
    emit(
        RunError(
            stage=stage,
            type=type(error).__name__,
            field=error.field if isinstance(error, JobError) else "",
            message=f"{error}{suggestion(error)}"[:MAX_TRACEBACK_CHARS],
            frames=user_frames(paths, error),
            traceback="".join(trace.format())[-MAX_TRACEBACK_CHARS:],
        )
    )


def suggestion(error: BaseException) -> str:
    """Return the right module of a missing torch name as a question, like Python's own; empty if there is none."""
    module, wanted = _missing_name(error)
    path = module.split(".")
    above = [".".join(path[:depth]) for depth in range(len(path) - 1, 0, -1)] if path[0] == "torch" else []
    owner = next((name for name in above if hasattr(sys.modules.get(name), wanted)), None)
    return f". Did you mean: '{owner}.{wanted}'?" if owner else ""


def _missing_name(error: BaseException) -> tuple[str, str]:
    """Return a module and the name that it lacks; empty for any other error."""
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        return error.obj.__name__, str(error.name)
    match = NOT_IN.match(str(error)) if isinstance(error, ImportError) else None
    return (str(error.name), match[1]) if isinstance(error, ImportError) and match else ("", "")
