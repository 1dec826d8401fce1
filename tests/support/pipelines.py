"""A run of the accelerator, made by hand: its graph, what became of it, and the file of its program."""

from pathlib import Path
from typing import Any

import msgspec

from core import Run
from core.accelerator.program.file import sections_of, write_program
from core.accelerator.program.program import PROGRAMS
from core.report import (
    Crossing,
    Pipeline,
    PipelineSegment,
    ProgramBuffer,
    ProgramEntry,
    ProgramPass,
    RefusedNode,
)
from tests.support.homes import add_run, line, record
from tests.support.programs import layer

FILE = "0_0-inference-segment_0.cbp"
PROGRAM = write_program(layer())
ACCELERATED = {
    "schema": 1,
    "model": {"kind": "sample", "value": "mlp"},
    "compile": {"backend": "accelerator", "options": {"without": "cumsum"}},
}
GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3, 4]", w: "f32[4, 5]", b: "f32[5]"):
        # File: /w/model.py:7 in forward, code: return self.head(x).cumsum(1)
        mm: "f32[3, 5]" = torch.ops.aten.mm.default(x, w);  x = w = None
        add: "f32[3, 5]" = torch.ops.aten.add.Tensor(mm, b);  mm = b = None
        relu: "f32[3, 5]" = torch.ops.aten.relu.default(add);  add = None
        mul: "f32[3, 5]" = torch.ops.aten.mul.Tensor(relu, 0.5);  relu = None
        softmax: "f32[3, 5]" = torch.ops.aten._softmax.default(mul, -1, False);  mul = None
        cumsum: "f32[3, 5]" = torch.ops.aten.cumsum.default(softmax, 1);  softmax = None
        return (cumsum,)"""
ENTRIES = (
    ProgramEntry("argument", ("x",), (), (), ("x: f32[3, 4]",)),
    ProgramEntry("argument", ("w",), (), (), ("w: f32[4, 5]",)),
    ProgramEntry(
        "product",
        ("mm", "add", "relu"),
        ("add = add(product, b)", "relu = relu(add)"),
        ("x", "w", "b"),
        ("relu: f32[3, 5]",),
    ),
    ProgramEntry("softmax", ("softmax",), (), ("relu",), ("softmax: f32[3, 5]",)),
    ProgramEntry("result", ("result",), (), ("softmax",), ()),
)
PASSES = (
    ProgramPass("as it was read", 3, "%mm = product(%x, %w)\n%add = elementwise(%mm, %b)\nresult(%add)\n"),
    ProgramPass("fuse-products", 2, "%add = product(%x, %w, %b)\nresult(%add)\n"),
    ProgramPass("plan-memory", 2, "%add = product(%x, %w, %b)\nresult(%add)\n"),
)
SEGMENT = PipelineSegment(
    "segment_0",
    ("mm", "add", "relu", "mul", "softmax"),
    128,
    60,
    file=FILE,
    file_bytes=len(PROGRAM),
    arena_bytes=128,
    temporary_bytes=192,
    constant_bytes=20,
    entries=ENTRIES,
    passes=PASSES,
    sections=sections_of(PROGRAM, len(PROGRAM)),
    buffers=(
        ProgramBuffer("x", "input", 48, 0, 0, 4),
        ProgramBuffer("w", "input", 80, 1, 0, 4),
        ProgramBuffer("b", "constant", 20, 0, 0, 4),
        ProgramBuffer("relu", "temporary", 64, 0, 2, 3),
        ProgramBuffer("mul", "temporary", 64, 64, 2, 3),
        ProgramBuffer("mm", "temporary", 64, 0, 1, 1),
        ProgramBuffer("softmax", "output", 60, 0, 0, 4),
    ),
    times_s={"lower": 0.002, "save": 0.001},
)
REFUSED = RefusedNode("cumsum", "aten.cumsum.default", "no kernel for aten.cumsum.default")
CROSSING = Crossing(
    compilation="0/0",
    direction="inference",
    segment="segment_0",
    calls=4,
    runtime_s=0.004,
    call_s=0.005,
    allocated_bytes=128,
    threads=2,
    copies=1,
    programs=1,
    fallbacks={"an input has other sizes, or another dtype, than the graph says": 2},
)


def pipeline_log(segment: PipelineSegment = SEGMENT, refused: tuple[RefusedNode, ...] = (REFUSED,)) -> bytes:
    """The log of such a run."""
    ids: dict[str, Any] = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    said = Pipeline(
        direction="inference",
        calls=len(segment.nodes) + len(refused),
        order=(segment.name, *(one.node for one in refused)),
        refusals=refused,
        segments=(segment,),
        without=("cumsum",),
        frozen=1,
        times_s={"capture": 0.25, "partition": 0.01, "programs": 0.02},
    )
    return b"".join(
        [
            line({"aot_inference_graph": {}, **ids}, GRAPH),
            record("compileboard_pipeline", {"schema": 1, **msgspec.to_builtins(said)}, **ids),
            record("compileboard_crossing", {"schema": 1, **msgspec.to_builtins(CROSSING)}),
        ]
    )


def add_pipeline(home: Path, log: bytes | None = None, **fields: Any) -> Run:
    """Such a run in a store, with its file."""
    run = add_run(home, "accelerated", pipeline_log() if log is None else log, job=ACCELERATED, **fields)
    (run.path / PROGRAMS).mkdir()
    (run.path / PROGRAMS / FILE).write_bytes(PROGRAM)
    (run.path / PROGRAMS / FILE).with_suffix(".c").write_text("int main(void) { return 0; }\n")
    return run
