"""Kernels of test models that have been published, as measurements for the next fit.

`python -m benchmarks.devices rows ARCHIVE …` writes the work of each kernel, as it follows from a run's report, beside
its measured time. A model is one function of the fit: the interval is of models that a fit did not see.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.devices.compared import measured_work
from core.analysis.kernels.predicted import KernelWork

MODELS = Path(__file__).parent / "measured" / "h200-models.json"


def write_rows(archives: Sequence[Path], out: Path = MODELS) -> None:
    """Write the kernels of the runs in archives to one file, those of the file's other models kept."""
    models: dict[str, Any] = read_models(out) if out.exists() else {}
    for archive in archives:
        for model, rows in measured_work(archive).items():
            models[model] = [
                {"kernel": name, "work": _short(work), "cold": round(cold, 4), "us": round(seconds * 1e6, 3)}
                for name, work, cold, seconds in rows
            ]
    lines = (
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(row) for row in models[name]) + "\n]"
        for name in sorted(models)
    )
    out.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def read_models(path: Path = MODELS) -> dict[str, list[dict[str, Any]]]:
    """Return model → its measured kernels."""
    data: dict[str, list[dict[str, Any]]] = json.loads(path.read_text())
    return data


def model_works(path: Path = MODELS) -> Iterator[tuple[str, str, KernelWork, float, float]]:
    """Yield model, kernel, work, part of the reads not in the cache, and seconds."""
    for model, rows in sorted(read_models(path).items()):
        for row in rows:
            yield model, row["kernel"], msgspec.convert(row["work"], KernelWork), row["cold"], row["us"] * 1e-6


def _short(work: KernelWork) -> dict[str, Any]:
    """Return the fields of a work that are not their defaults."""
    empty = msgspec.to_builtins(KernelWork("loop", -1, -1))
    return {name: value for name, value in msgspec.to_builtins(work).items() if value != empty[name] or name == "kind"}
