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
from core.worker.aoti.archive import Archive, open_archive
from core.worker.aoti.exporting import ExportedModel, words_of

MOST_KEPT_BYTES = 2 * 1024**3
CUDAGRAPHS = "triton.cudagraphs"


def package_model(job: CompileJob, exported: ExportedModel, directory: Path) -> tuple[Archive | None, Package]:
    """Compile and package an exported program below a directory; what torch or the compiler refuses is told."""
    start = time.perf_counter()
    path = directory / PACKAGE
    try:
        torch._inductor.aoti_compile_and_package(
            exported.program, package_path=str(path), inductor_configs=inductor_configs(job)
        )
        seconds = time.perf_counter() - start
        archive = open_archive(path)
    except ProgramError as error:
        return None, Package(seconds=time.perf_counter() - start, problem=str(error))
    except Exception as error:
        return None, Package(seconds=time.perf_counter() - start, problem=words_of(error))
    constants = (*exported.program.state_dict, *exported.program.constants)
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
    configs = options.options or (torch._inductor.list_mode_options(options.mode) if options.mode else {})
    return {name: value for name, value in configs.items() if name != CUDAGRAPHS}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
