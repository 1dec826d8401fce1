"""What a run for a target is, in words for every screen and export."""

from __future__ import annotations

from collections.abc import Iterator

from core.base.words import agree, bytes_, count, percent
from core.code import occupancy
from core.job.targets import TARGETS, Target
from core.report import Kernel, Report


def target_of(report: Report) -> Target | None:
    """The accelerator that code was generated for, None if the run's code ran where it was compiled."""
    return TARGETS.get(report.setting.target)


def target_words(report: Report) -> str:
    """`generated for NVIDIA H100 on a machine without it; not run`, empty for any other run."""
    target = target_of(report)
    return f"generated for {target.title} on a machine without it; not run" if target else ""


def side_words(report: Report) -> str:
    """What a run is: generated for a device that is not here, run on one, or a log from elsewhere."""
    device = report.setting.device
    return target_words(report) or (f"run on {device}" if device else "a log from elsewhere")


def ended_words(report: Report) -> str:
    """Which calls the CPU could not make to their end, and why; empty if it made all."""
    ended = [call for call in report.calls if call.ended]
    if not ended:
        return ""
    first = ended[0].index
    which = agree(len(ended), f"Call {first}", f"{count(len(ended), 'call')}, the first of them {first},")
    return (
        f"{which} could not be made to the end on the CPU: {ended[0].ended}. "
        "The code is that of all that was compiled before; what the model would compile after it is missing."
    )


def target_lines(report: Report) -> Iterator[str]:
    """What the generated kernels take on the target, a line each; none of a run for no target."""
    target = target_of(report)
    if target is None:
        return
    yield " ".join(filter(None, [f"{target_words(report)}.", ended_words(report)]))
    for compilation in report.compilations:
        yield from (f"  {_taken(kernel, target)}" for kernel in compilation.kernels if kernel.binary is not None)


def _taken(kernel: Kernel, target: Target) -> str:
    binary = kernel.binary
    assert binary is not None
    config = binary.shown
    if config is None or config.error:
        return f"{kernel.name}: {binary.error or (config and config.error)}"
    share = occupancy(target.architecture, config.num_warps, config.registers, config.shared_bytes)
    memory = f"{bytes_(config.shared_bytes)} shared, {bytes_(config.spill_bytes)} spilled"
    configs, registers = count(len(binary.configs), "config"), count(config.registers, "register")
    return f"{kernel.name}: {configs}; {config.text}: {registers}, {memory}, occupancy {percent(share)}"
