"""A run as a whole: its setting, its calls and their results, and its errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.report.places import Frame, Payload
from core.report.record import Record

# The line with which torch begins its list of C++ frames in a message.
CPP_FRAMES = "Exception raised from"
RemarkKind = Literal["asks whether it is compiled", "sets TORCH_LOGS"]
How = Literal["", "compiled", "reused", "eager", "mixed", "raised"]


@dataclass(frozen=True, slots=True)
class Setting(Record):
    """The setting of a run: logged once, first. A log from elsewhere has torch's version alone."""

    job: dict[str, Any] | None = None
    """the whole `CompileJob`, as in `job.json`"""
    run: str = ""
    """the run's id"""
    torch: str = ""
    """torch's version"""
    python: str = ""
    """Python's version"""
    device: str = ""
    """the device in words, as its driver names it"""
    threads: int | None = None
    """torch's intra-op threads"""
    cpus: int | None = None
    """the machine's CPUs"""
    target: str = ""
    """key of the accelerator that code is generated for without it, otherwise empty"""


@dataclass(frozen=True, slots=True)
class SourceRemark:
    """A line of the user's own file that affects torch.compile."""

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
    """Compiled against eager for one result of a call: an output, a gradient, an input, a part of the state.

    `kind` is the aspect: value, type, layout, device, dtype, shape, strides, requires_grad, tree, Python value,
    aliasing, mutation. `same` is None if it could not be decided, and `reason` is why, or why unequal results count as
    the same. `error` is the norm of the difference over eager's norm, None if it is no number or was not recorded;
    `tolerance` is the dtype's tolerance for it.
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
class Call(Record):
    """A call of the model, made eagerly and compiled on two copies that were loaded and seeded in the same way.

    Outputs and gradients always have a row of `differences`; inputs and state have one if a call changed them. A
    row's tolerance is 2e-5 for float32 and 1e-2 for bfloat16. Each error counts as a part of its element's magnitude or
    of the typical one around it, whichever is larger: the root mean square over the tensor is compared with the
    tolerance, that of a row, of a column and of one element with twenty times as much. Fills (-1e9, finfo.min) are no
    typical magnitude.

    A result beyond the tolerance is judged by a third copy of the model in float64, loaded only then: it is the same if
    compiled is no further from that than eager is, but for a factor of 3 (10 for fewer than ten elements). If the call
    draws random numbers and compiled draws others, or if eager gives another result each time, `same` is null. A
    backward begins with random numbers, the same for every copy and 1 for a scalar, so that gradients are of order one
    however large the output is.
    """

    index: int
    """number of the call, from 0"""
    inputs: str
    """the inputs in torch's notation: `f32[8, 64, 256]`"""
    eager_s: float | None
    """seconds of this one call, made eagerly"""
    compiled_s: float | None
    """seconds of this one call, compiling included; null in a run for a target, and if torch refused it"""
    differences: tuple[Difference, ...]
    """the compared results, a row each, empty in a run for a target; `what` is the name: `output`,
    `output['logits'][0]`, ``gradient of `0.weight` ``, `input 0`, ``buffer `seen` ``, ``attribute `calls` ``, ``global
    `cache` ``"""
    compared: dict[str, int] = field(default_factory=dict)
    """number of compared results by kind: `output`, `gradient`, `input`, `parameter`, `buffer`, `attribute`, `global`;
    empty if not recorded
    """
    ended: str = ""
    """in a run for a target: torch's message if it has no code for the CPU, which ends the call; `eager_s` is then null
    """
    entered: int | None = None
    """number of places in the program that called a frame whose compiled code was reused, by Dynamo's own hook; null if
    not recorded
    """
    newest: tuple[str, ...] = ()
    """for each frame with compiled code the last used compilation, which Dynamo tries first at the next call"""
    how: How = ""
    """kind of the compiled call: `compiled` something, `reused` code alone, ran as `eager` does, `mixed` both, or
    `raised`; empty if not recorded"""
    compilations: int | None = None
    """frames that were compiled for it; null if not recorded"""
    raised: str = ""
    """torch's message if the stance `fail_on_recompile` refused it; the run continues"""
    printed: str = ""
    """in a run that tries a repair: difference between the printed texts of the compiled call and of the original code;
    empty if there is none"""


@dataclass(frozen=True, slots=True)
class Counters(Record):
    """Torch's own counters, and the settings that the user's code left: logged once, near the end.

    A report's counts must equal them. Of a log from elsewhere only the recompile limit is known, from torch's metrics.
    """

    dynamo: dict[str, dict[str, int]]
    """`torch._dynamo.utils.counters`, group by group"""
    inductor: dict[str, int]
    """of `torch._inductor.metrics`: `generated_kernel_count`, `generated_cpp_vec_kernel_count`, `ir_nodes_pre_fusion`,
    `num_bytes_accessed`"""
    float32_matmul_precision: str = ""
    """`torch.get_float32_matmul_precision()` as the user's code left it: `highest` (no TF32), `high` or `medium`; empty
    if not recorded"""
    has_tf32: bool = False
    """whether the run's device multiplies float32 as TF32 if allowed"""
    recompile_limit: int | None = None
    """`torch._dynamo.config.recompile_limit` as the user's code left it, null if not recorded"""


@dataclass(frozen=True, slots=True)
class RunError(Record):
    """The exception that ended the run: logged once, if there was one."""

    stage: str
    """the step under way: the newest `compileboard_step`"""
    type: str
    """the exception's class"""
    field: str
    """the wrong field of the job, empty if the job is not the cause"""
    message: str
    """the exception's text"""
    frames: tuple[Frame, ...]
    """the user's own lines of the traceback"""
    traceback: str
    """the whole traceback, its last 40,000 characters"""

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
