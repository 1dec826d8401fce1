"""Every exception that Compileboard raises on purpose.

    CompileboardError
    ├── JobError          a field of a job does not hold what it must
    ├── DecodeError       a text is no JSON that is accepted; a ValueError, too
    ├── StoreError        a run directory is missing, damaged, or not to be touched
    ├── TraceError        a file is no TORCH_TRACE log, or cannot be read
    ├── ReportError       a stored report cannot be read back
    ├── ToolError         a tool cannot be used on a kernel
    ├── AccessError       someone asks for what they may not do here
    ├── SettingError      a variable of the environment is not right
    ├── WorkerError       the fork server or a worker cannot be started or has ended
    └── LayoutError       a graph cannot be laid out

A message says what happened and what to do about it; it is shown to the user as it is.
"""


class CompileboardError(Exception):
    """The root of all errors that Compileboard raises on purpose."""


class JobError(CompileboardError):
    """A field of a job is wrong; `field` names it, dotted (`compile.mode`)."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class DecodeError(CompileboardError, ValueError):
    """A text is no JSON that is accepted."""


class StoreError(CompileboardError):
    """A run is missing, damaged, or not to be touched."""


class TraceError(CompileboardError):
    """A file is no TORCH_TRACE log, or it cannot be read."""


class ReportError(CompileboardError):
    """A stored report cannot be read back."""


class ToolError(CompileboardError):
    """A tool cannot be used on this kernel, or not with this target."""


class AccessError(CompileboardError):
    """Someone asks for what they may not do on this server."""


class SettingError(CompileboardError):
    """A variable of the environment does not hold what it must."""


class WorkerError(CompileboardError):
    """The fork server or a worker cannot be started or has ended; `signal` names the one that ended it, if one did."""

    def __init__(self, message: str, signal: str | None = None) -> None:
        super().__init__(message)
        self.signal = signal


class LayoutError(CompileboardError):
    """A graph cannot be laid out."""


class ProgramError(CompileboardError):
    """A program of the accelerator, or a package of AOTInductor, cannot be read, built or run."""
