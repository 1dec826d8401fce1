"""All exceptions that Compileboard raises deliberately.

    CompileboardError
    ├── JobError          a field of a job has an invalid value
    ├── DecodeError       a text is not accepted as JSON; also a ValueError
    ├── StoreError        a run directory is missing, damaged, or can't be changed now
    ├── TraceError        a file is not a TORCH_TRACE log, or cannot be read
    ├── ReportError       a stored report cannot be read
    ├── ToolError         a tool cannot be used on a kernel
    ├── AccessError       a request is not permitted on this server
    ├── SettingError      an environment variable has an invalid value
    ├── WorkerError       the fork server or a worker cannot be started or has ended
    │   ├── NodeError     the node of a run does not answer, or is lost
    │   │   └── SilentNodeError   so before the run was sent: another node can execute it
    │   ├── NodeWaitError no node could execute a run in time
    │   └── ClosedError   the server has ended
    ├── LayoutError       a graph cannot be laid out
    └── ProgramError      an accelerator program or AOTInductor package cannot be read, built or run

A message says what happened and what to do about it; it is shown to the user unchanged.
"""


class CompileboardError(Exception):
    """The base class of all errors that Compileboard raises deliberately."""


class JobError(CompileboardError):
    """A field of a job has an invalid value; `field` is its dotted name (`compile.mode`)."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class DecodeError(CompileboardError, ValueError):
    """A text is not accepted as JSON."""


class StoreError(CompileboardError):
    """A run is missing, damaged, or can't be changed now."""


class TraceError(CompileboardError):
    """A file is not a TORCH_TRACE log, or cannot be read."""


class ReportError(CompileboardError):
    """A stored report cannot be read."""


class ToolError(CompileboardError):
    """A tool cannot be used on this kernel, or not with this target."""


class AccessError(CompileboardError):
    """A request is not permitted on this server."""


class SettingError(CompileboardError):
    """An environment variable has an invalid value."""


class WorkerError(CompileboardError):
    """The fork server or a worker cannot be started or has ended.

    `signal` is the name of the signal that ended the process; None if no signal did.
    """

    def __init__(self, message: str, signal: str | None = None) -> None:
        super().__init__(message)
        self.signal = signal


class NodeError(WorkerError):
    """The node of a run does not answer, or is lost."""


class SilentNodeError(NodeError):
    """The node of a run does not answer, or is lost, before the run was sent: another node can execute it."""


class NodeWaitError(WorkerError):
    """No node could execute a run in time."""


class ClosedError(WorkerError):
    """The server has ended, and starts nothing more."""

    def __init__(self) -> None:
        super().__init__("the server has ended")


class LayoutError(CompileboardError):
    """A graph cannot be laid out."""


class ProgramError(CompileboardError):
    """An accelerator program or an AOTInductor package cannot be read, built or run."""
