"""`aoti_compile_and_package`: an exported program to a `.pt2`, opened again for the report."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import torch
import torch._inductor

from core.base.errors import ProgramError
from core.job import CompileJob
from core.report import Package
from core.runs.packages import PACKAGE
from core.worker.aoti.archive import Archive, opened
from core.worker.aoti.exporting import ExportedModel, words_of

MOST_KEPT_BYTES = 2 * 1024**3
CUDAGRAPHS = "triton.cudagraphs"


def packaged(job: CompileJob, made: ExportedModel, directory: Path) -> tuple[Archive | None, Package]:
    """Compile and package an exported program below a directory; what torch or the compiler refuses is told."""
    begun = time.perf_counter()
    path = directory / PACKAGE
    try:
        torch._inductor.aoti_compile_and_package(
            made.program, package_path=str(path), inductor_configs=inductor_configs(job)
        )
        seconds = time.perf_counter() - begun
        archive = opened(path)
    except ProgramError as error:
        return None, Package(seconds=time.perf_counter() - begun, problem=str(error))
    except Exception as error:
        return None, Package(seconds=time.perf_counter() - begun, problem=words_of(error))
    constants = (*made.program.state_dict, *made.program.constants)
    return archive, Package(
        seconds=seconds,
        file=PACKAGE,
        bytes=path.stat().st_size,
        sha256=_digest(path),
        files=archive.files,
        left_out=archive.left_out,
        metadata=archive.metadata,
        constants=len(constants),
    )


def inductor_configs(job: CompileJob) -> dict[str, Any]:
    """The job's own options of Inductor, or those of its mode; CUDA graphs are no part of a package."""
    options = job.compile
    if options.backend != "inductor":
        return {}
    given = options.options or (torch._inductor.list_mode_options(options.mode) if options.mode else {})
    return {name: value for name, value in given.items() if name != CUDAGRAPHS}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
