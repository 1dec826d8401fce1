"""What a run for a target is, in words for every screen and export."""

from __future__ import annotations

from core.report import Report
from core.targets import TARGETS, Target
from core.words import agree, count


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
