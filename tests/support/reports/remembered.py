"""The memory of a chain of three ops: eager with two temporaries, compiled with its output alone."""

from dataclasses import replace
from typing import Any

import msgspec

from core.report import AliveMemory, MemoryCurve, MemoryPlace, MemoryUse

EAGER = MemoryUse(
    side="eager",
    device="cpu",
    held_bytes=4_000,
    peak_bytes=12_000,
    peak_us=30.0,
    call_us=40.0,
    left_bytes=4_000,
    allocated_bytes=12_000,
    allocations=3,
    events=5,
    curve=MemoryCurve((10.0, 20.0, 30.0, 35.0, 36.0), (4_000, 8_000, 12_000, 8_000, 4_000), (0, 1, 2, -1, -1)),
    alive=(AliveMemory(2, 1, 4_000), AliveMemory(1, 1, 4_000), AliveMemory(0, 1, 4_000)),
    places=(MemoryPlace("aten::sin", 3), MemoryPlace("aten::cos", 4), MemoryPlace("aten::add", 5, module="head")),
    path="model.py",
    resident_bytes=12_288,
)
COMPILED = replace(
    EAGER,
    side="compiled",
    peak_bytes=4_000,
    peak_us=5.0,
    call_us=10.0,
    allocated_bytes=4_000,
    allocations=1,
    events=1,
    curve=MemoryCurve((5.0,), (4_000,), (0,)),
    alive=(AliveMemory(0, 1, 4_000),),
    places=(MemoryPlace("cpp_fused_add_cos_sin_0", 2, 0),),
    codes=(0,),
    resident_bytes=4_096,
)


def said(use: MemoryUse, **fields: Any) -> dict[str, Any]:
    """What a worker's record says of one side; the places of generated code are in none that the log holds."""
    data = msgspec.to_builtins(use)
    return {"schema": 1, **data, "codes": ["/elsewhere.py" for _ in use.codes], **fields}
