"""Description of a run for a target, in words for every page and export."""

from __future__ import annotations

from collections.abc import Iterator

from core.base.words import agree, bytes_, count, percent
from core.code import occupancy
from core.job.targets import TARGETS, Target
from core.report import Kernel, Report


def target_of(report: Report) -> Target | None:
    """Return the target for which code was generated; None if the code ran where it was compiled."""
    return TARGETS.get(report.setting.target)


def target_words(report: Report) -> str:
    """Return `generated for NVIDIA H100 on a machine without it; not run`; empty for other runs."""
    target = target_of(report)
    return f"generated for {target.title}, which is not present; not run" if target else ""


def side_words(report: Report) -> str:
    """Return the kind of run: cross-compiled for a target, run on a device, or an imported log."""
    device = report.setting.device
    return target_words(report) or (f"run on {device}" if device else "an imported log")


def ended_words(report: Report) -> str:
    """Return the calls that the CPU could not complete, and why; empty if it completed all."""
    ended = [call for call in report.calls if call.ended]
    if not ended:
        return ""
    first = ended[0].index
    subject = agree(len(ended), f"Call {first}", f"{count(len(ended), 'call')}, the first of them {first},")
    return (
        f"{subject} could not finish on the CPU: {ended[0].ended}. Code compiled before this point is complete; "
        "code that the model would compile after it is missing."
    )


def target_lines(report: Report) -> Iterator[str]:
    """Yield the target resources of each generated kernel, one per line; nothing for a run without a target."""
    target = target_of(report)
    if target is None:
        return
    yield " ".join(filter(None, [f"{target_words(report)}.", ended_words(report)]))
    for compilation in report.compilations:
        yield from (f"  {_resources(kernel, target)}" for kernel in compilation.kernels if kernel.binary is not None)


def _resources(kernel: Kernel, target: Target) -> str:
    binary = kernel.binary
    assert binary is not None
    config = binary.shown
    if config is None or config.error:
        return f"{kernel.name}: {binary.error or (config and config.error)}"
    share = occupancy(target.architecture, config.num_warps, config.registers, config.shared_bytes)
    memory = f"{bytes_(config.shared_bytes)} shared, {bytes_(config.spill_bytes)} spilled"
    configs, registers = count(len(binary.configs), "config"), count(config.registers, "register")
    return f"{kernel.name}: {configs}; {config.text}: {registers}, {memory}, occupancy {percent(share)}"
