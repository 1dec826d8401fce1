"""What a finding is: something that costs or is wrong, with its evidence, its reason, and what to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Weight = Literal["wrong", "cost", "note"]
Evidence = Literal["overview", "graph_breaks", "recompiles", "guards", "kernels", "compile_time", "speedup"]
# What is ranked is what a first call and so many later ones lose.
CALLS = 1_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """The same job with something else asked of it: fields of `CompileJob`, and of its `CompileOptions`.

    `words` say it as one would write it by hand.
    """

    words: str
    job: Mapping[str, Any] = field(default_factory=dict)
    compile: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know of a run. `title` has its number, `reason` says why, `advice` what to do; all three are prose
    with code in backticks. `page` shows the evidence, of `compilation` and `item` where it has those.

    `once_s` is what it costs the first calls, `each_s` every call. What is wrong comes before what costs, and that
    before what is only to be known. `proposal` can be tried at once.
    """

    rule: str
    title: str
    reason: str
    advice: str
    page: Evidence
    compilation: str = ""
    item: str = ""
    once_s: float = 0.0
    each_s: float = 0.0
    weight: Weight = "cost"
    proposal: Proposal | None = None

    @property
    def cost_s(self) -> float:
        """Seconds that a first call and a thousand later ones lose by it."""
        return self.once_s + CALLS * self.each_s
