"""A run as a whole: what ran where, its calls and their results, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.report.places import Frame, Payload

# How torch begins its list of C++ frames in a message.
CPP_FRAMES = "Exception raised from"
RemarkKind = Literal["asks whether it is compiled", "sets TORCH_LOGS"]
How = Literal["", "compiled", "reused", "eager", "mixed", "raised"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What ran where; empty for a log from elsewhere, but for torch's version.

    `target` is the key of the accelerator that code was generated for without it, empty where code ran on `device`.
    """

    job: dict[str, Any] | None = None
    run: str = ""
    torch: str = ""
    python: str = ""
    device: str = ""
    threads: int | None = None
    cpus: int | None = None
    target: str = ""


@dataclass(frozen=True, slots=True)
class SourceRemark:
    """A line of the user's own file that matters to what torch.compile makes of it."""

    kind: RemarkKind
    line: Frame


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the user's code as it was when it ran; `remarks` are of the model's own file."""

    path: str
    payload: Payload
    remarks: tuple[SourceRemark, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Compiled against eager for one thing that a call left: an output, a gradient, an input, a part of the state.

    `kind` is the aspect: value, type, layout, device, dtype, shape, strides, requires_grad, tree, Python value,
    aliasing, mutation. `same` is None where it could not be told, and `reason` says why, or why what is not equal
    counts as the same. `error` is the norm of the difference over eager's norm, None for what is no number or was not
    recorded; `tolerance` is what the dtype allows of it.
    """

    what: str
    same: bool | None
    kind: str = "value"
    expected: str = ""
    actual: str = ""
    reason: str = ""
    dtype: str = ""
    max_abs: float = 0.0
    error: float | None = None
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the model: its inputs in words, the seconds it took eagerly and compiled, and how the results differ.

    `compiled_s` is None where the generated code was not run, `eager_s` where torch has no code for the CPU; `ended` is
    then what torch said, and what came after it in the call was not compiled. `compared` counts the things that were
    compared by kind: output, gradient, input, parameter, buffer, attribute, global; empty if not recorded.

    `entered` counts the places that called a frame whose code was used again, and `newest` names for each frame with
    code the compilation that was used last; None and empty where that was not recorded.

    `how` says what became of the compiled call, `compilations` how many frames were compiled for it, and `raised` why
    its stance refused it, in torch's words. `printed` says how the text that the compiled call printed differs from
    eager's, where a repair was tried; empty if it does not, or was not compared.
    """

    index: int
    inputs: str
    eager_s: float | None
    compiled_s: float | None
    differences: tuple[Difference, ...]
    compared: dict[str, int] = field(default_factory=dict)
    ended: str = ""
    entered: int | None = None
    newest: tuple[str, ...] = ()
    how: How = ""
    compilations: int | None = None
    raised: str = ""
    printed: str = ""


@dataclass(frozen=True, slots=True)
class Counters:
    """Torch's own counters at the end of the run, and what the user's code had set by then: how precise products of
    float32 have to be (`highest` keeps TF32 off, where the device has it; empty if not recorded), and how often torch
    compiles a frame (None if not recorded). Of a log from elsewhere that number alone is known, from torch's metrics.
    """

    dynamo: dict[str, dict[str, int]]
    inductor: dict[str, int]
    float32_matmul_precision: str = ""
    has_tf32: bool = False
    recompile_limit: int | None = None


@dataclass(frozen=True, slots=True)
class RunError:
    """What ended the run: during which stage, torch's or Python's message, and the user's own lines."""

    stage: str
    type: str
    field: str
    message: str
    frames: tuple[Frame, ...]
    traceback: str

    @property
    def explanation(self) -> str:
        """The message below its first line, without the frames of C++ that torch lists after it; they are in the
        traceback, too.
        """
        return self.message.partition(CPP_FRAMES)[0].strip().partition("\n")[2].strip()


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the log that could not be read: what, how often, and at which byte first."""

    what: str
    count: int
    first_offset: int
