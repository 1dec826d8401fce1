"""What a run records around its compilations: the job and the machine at the start, torch's counters and an error at the end."""

from __future__ import annotations

import linecache
import os
import platform
import traceback
from pathlib import Path

import msgspec
import torch
import torch._inductor.metrics
from torch._dynamo.utils import counters

from core.errors import JobError
from core.job import CompileJob
from core.store import Run
from core.worker.environment import device_name, devices
from core.worker.record import emit

MAX_TRACEBACK_CHARS = 40_000


def emit_setting(run: Run, job: CompileJob, path: Path) -> None:
    """Record the job, what it runs on, and the user's file."""
    emit(
        "job",
        job=msgspec.to_builtins(job),
        run=run.id,
        torch=torch.__version__,
        python=platform.python_version(),
        target=job.target,
        device=device_name(job.device) if job.device in devices() else job.device,
        threads=torch.get_num_threads(),
        cpus=os.cpu_count(),
    )
    if path.exists():
        emit("source", path=str(path), text=path.read_text(encoding="utf-8", errors="replace"))


def emit_counters() -> None:
    """Record torch's own counters."""
    metrics = torch._inductor.metrics
    emit(
        "counters",
        dynamo={group: dict(values) for group, values in counters.items()},
        inductor={
            "generated_kernel_count": metrics.generated_kernel_count,
            "generated_cpp_vec_kernel_count": metrics.generated_cpp_vec_kernel_count,
            "ir_nodes_pre_fusion": metrics.ir_nodes_pre_fusion,
            "num_bytes_accessed": metrics.num_bytes_accessed,
        },
    )


def emit_error(stage: str, path: Path, error: BaseException) -> None:
    """Record an error with the user's own lines; the raw traceback goes with it."""
    trace = traceback.TracebackException.from_exception(error)
    frames = [
        {"file": frame.filename, "line": frame.lineno, "name": frame.name, "text": frame.line or ""}
        for frame in trace.stack
        if frame.filename == str(path)
    ]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        frames.append(
            {
                "file": str(path),
                "line": error.lineno,
                "name": "",
                "text": linecache.getline(str(path), error.lineno or 0).strip(),
            }
        )
    emit(
        "error",
        stage=stage,
        type=type(error).__name__,
        field=error.field if isinstance(error, JobError) else "",
        message=str(error)[:MAX_TRACEBACK_CHARS],
        frames=frames,
        traceback="".join(trace.format())[-MAX_TRACEBACK_CHARS:],
    )
