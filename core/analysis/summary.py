"""Summary of a run for long lists: the verdict's numbers, and the facts that decide whether runs are comparable."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.phases import compile_time_s
from core.analysis.speed import Speed
from core.analysis.verdict import verdict
from core.report import Report

MOST_VERSION_CHARS = 60
MOST_DEVICE_CHARS = 120
MOST_INPUTS_CHARS = 300


@dataclass(frozen=True, slots=True)
class Summary:
    """Numbers of a verdict, the torch version, the driver's name of the device, and the inputs of the first call.

    A text is empty and a number None if the log does not have it. `outcome` compares the compiled results with eager's.
    `compile_s` is the compile time of all compilations together.
    """

    graphs: int = 0
    breaks: int = 0
    recompiles: int = 0
    ops: int | None = None
    kernels: int | None = None
    outcome: str = ""
    speed: Speed | None = None
    compile_s: float | None = None
    torch: str = ""
    device: str = ""
    inputs: str = ""


def summary(report: Report) -> Summary:
    """Return the summary of a report; texts of the log are cut off."""
    of_run, setting = verdict(report), report.setting
    return Summary(
        graphs=of_run.graphs,
        breaks=of_run.breaks,
        recompiles=of_run.recompiles,
        ops=of_run.work.ops,
        kernels=of_run.work.kernels,
        outcome=of_run.result.outcome if of_run.result else "",
        speed=of_run.speed,
        compile_s=compile_time_s(report) or None,
        torch=setting.torch[:MOST_VERSION_CHARS],
        device=setting.device[:MOST_DEVICE_CHARS],
        inputs=report.calls[0].inputs[:MOST_INPUTS_CHARS] if report.calls else "",
    )
