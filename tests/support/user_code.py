"""Code that a run is given, through the one warm fork server, and what is known of the run once it has ended."""

from collections.abc import Callable

from core import CompileOptions, Report, Run, open_report

RunCode = Callable[..., Run]
EAGER = CompileOptions(backend="eager")
INPUTS = "\ninputs = (torch.ones(4),)\n"
LOG_LOST = "its log was closed or cut off while it ran"


def calling(*lines: str) -> str:
    """Code whose model does something before it computes; it knows the files of its log."""
    body = "\n    ".join(lines)
    logs = "LOGS = glob.glob(os.path.dirname(__file__) + '/trace/*.log')"
    other = "OTHER_LOG = os.path.dirname(__file__) + '/trace/other.log'"
    return (
        f"import glob, os, signal, sys, threading, time; {logs}; {other}\nimport torch\ndef model(x):\n    {body}\n    "
        f"return x.sin()\n{INPUTS}"
    )


def ended(run: Run) -> tuple[str, str]:
    status = run.status()
    return status.state, status.reason


def records(run: Run) -> Report:
    """The report, which opens whatever happened and has read what there is."""
    report = open_report(run)
    assert report.problems == ()
    assert report.setting.run == run.id
    return report
