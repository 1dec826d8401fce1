"""Copies of a task for a solver, and the check of solutions, each in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TASKS = Path(__file__).parent / "tasks"
# The rest of a task is hidden from its solver.
VISIBLE = ("model.py", "task.md")
# A busy machine takes ten times as long as a quiet one.
CHECK_SECONDS = 1800.0
KINDS = {"break": "breaks", "recompile": "recompiles", "wrong": "wrong numbers", "slow": "slow calls or starts"}


@dataclass(frozen=True, slots=True)
class TaskVerdict:
    """A checked solution: solved or not, the first aim that it misses, and the measured figures."""

    task: str
    solved: bool
    reason: str
    figures: dict[str, Any]


def task_names() -> list[str]:
    """Return the names of the tasks, by kind."""
    kinds = list(KINDS)
    names = (path.name for path in TASKS.iterdir() if (path / "task.md").exists())
    return sorted(names, key=lambda name: (kinds.index(name.partition("_")[0]), name))


def is_timed(name: str) -> bool:
    """Return True if the check of a task times calls."""
    return name.startswith("slow_")


def title(name: str) -> str:
    """Return the first line of a task's model."""
    return (TASKS / name / "model.py").read_text(encoding="utf-8").partition("\n")[0].strip('"')


def prepare(name: str, directory: Path) -> Path:
    """Copy what a solver may see into a directory, which may not have these files yet."""
    directory.mkdir(parents=True, exist_ok=True)
    for file in VISIBLE:
        if (directory / file).exists():
            raise FileExistsError(f"{directory / file} exists; prepare the task in an empty directory")
        shutil.copyfile(TASKS / name / file, directory / file)
    return directory


def check(name: str, directory: Path, seconds: float = CHECK_SECONDS) -> TaskVerdict:
    """Check a directory's `model.py` in a process of its own with an empty cache."""
    return check_all(name, [directory], seconds)[0]


def check_all(name: str, directories: list[Path], seconds: float = CHECK_SECONDS) -> list[TaskVerdict]:
    """Check directories one after another, each in a process forked from one that has loaded torch."""
    with tempfile.TemporaryDirectory() as scratch:
        results = [Path(scratch, f"result{number}.json") for number in range(len(directories))]
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.agents.checker", str(TASKS / name)]
        for directory, result in zip(directories, results, strict=True):
            command += [str(directory.resolve()), str(result)]
        limit = seconds * len(directories)
        # Each process has an empty cache, and would compile programs that ask for vector instructions.
        variables = {**environment(scratch), "TORCHINDUCTOR_VEC_ISA_OK": "1"}
        try:
            run = subprocess.run(command, env=variables, cwd=scratch, capture_output=True, text=True, timeout=limit)
            missing = f"the check's process ended early: {run.stderr[-300:]}"
        except subprocess.TimeoutExpired:
            missing = f"the check took more than {seconds:.0f} s"
        return [_verdict(name, result, missing) for result in results]


def _verdict(name: str, result: Path, missing: str) -> TaskVerdict:
    if not result.exists():
        return TaskVerdict(name, False, missing, {})
    return TaskVerdict(name, **json.loads(result.read_text(encoding="utf-8")))


def environment(cache: str) -> dict[str, str]:
    """Return the environment of a check: an empty cache, no settings of torch, one thread."""
    rest = {key: value for key, value in os.environ.items() if not key.startswith(("TORCH", "OMP_"))}
    own = {"TORCHINDUCTOR_CACHE_DIR": cache, "TORCHINDUCTOR_COMPILE_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return {**rest, **own, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def write_reference(name: str, directory: Path) -> Path:
    """Write a task with its reference solution into an empty directory."""
    prepare(name, directory)
    patch = TASKS / name / "solution.patch"
    # Below a repository, git would take paths from its root.
    apart = {**os.environ, "GIT_CEILING_DIRECTORIES": str(directory.resolve().parent)}
    subprocess.run(["git", "apply", str(patch)], cwd=directory, env=apart, check=True, capture_output=True)
    return directory


def write_cheat(name: str, directory: Path, change: Callable[[str, str], str]) -> Path:
    """Write the reference solution into a directory, and change its model by a cheat."""
    model = write_reference(name, directory) / "model.py"
    model.write_text(change(name, model.read_text(encoding="utf-8")), encoding="utf-8")
    return directory
