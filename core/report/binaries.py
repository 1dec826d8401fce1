"""Kernels compiled to machine code for a target, and the decisions made without the device."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report.record import Record

ConfigValue = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Config:
    """A config of a Triton kernel, compiled to the last rung, or the compiler's message why not.

    `chosen` is None if only timing on the device could decide. `registers` are per thread, `shared_bytes` per block,
    `spill_bytes` a thread's spills to memory, `local_bytes` all of its local memory; `sizes` are bytes by rung (ttir …
    cubin or hsaco); `hash` names Triton's cache entry, which holds them.
    """

    kwargs: dict[str, ConfigValue]
    num_warps: int
    num_stages: int
    chosen: bool | None
    compile_s: float
    error: str = ""
    registers: int | None = None
    spill_bytes: int | None = None
    local_bytes: int | None = None
    shared_bytes: int | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    hash: str = ""

    @property
    def text(self) -> str:
        """Return the config in a line, as Triton prints one."""
        parameters = [f"{name}: {value}" for name, value in self.kwargs.items()]
        return ", ".join([*parameters, f"num_warps: {self.num_warps}", f"num_stages: {self.num_stages}"])


@dataclass(frozen=True, slots=True)
class Binary:
    """A Triton kernel compiled to machine code for a target."""

    heuristic: str
    """Inductor's kind of kernel: `pointwise`, `reduction`, `persistent_reduction`, `template`"""
    choice: str
    """how one config is chosen: `the only config`, or that it needs timing"""
    configs: tuple[Config, ...]
    """the configs of Inductor's heuristics"""
    error: str = ""
    """why there are no configs"""

    @property
    def shown(self) -> Config | None:
        """The chosen config, or the first one if the choice needs timing; None without configs."""
        return next((config for config in self.configs if config.chosen), self.configs[0] if self.configs else None)


@dataclass(frozen=True, slots=True)
class TargetChoice(Record):
    """A decision that torch would make by asking the device: logged once a compilation, in a run for a target."""

    about: str
    """`scaled_dot_product_attention`, `autotuning of mm`, `padding of mm float32 [128, 42] by [42, 64]`"""
    chosen: str
    """the choice"""
    reason: str
    """by which rule: torch's own, or that it needs timing"""
    among: tuple[str, ...]
    """the alternatives"""
