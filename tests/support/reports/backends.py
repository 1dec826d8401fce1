"""A log of a run with a backend of its own: two compilations, three calls, a table and a text that the backend told."""

import json
from typing import Any

from core import CompileJob, CompileOptions, Model, job_to_json
from tests.support.homes import line, record

BACKEND = "def backend(gm, example_inputs):\n    print(gm.graph)\n    return gm.forward\n"
JOB = CompileJob(Model("sample", "matmul_relu_softmax"), compile=CompileOptions(backend="mine", backend_code=BACKEND))
CODE = """
def forward(self, L_x_ : torch.Tensor, L_w_ : torch.Tensor):
    l_x_ = L_x_
    l_w_ = L_w_
    matmul = l_x_ @ l_w_;  l_x_ = l_w_ = None
    relu = torch.relu(matmul);  matmul = None
    return (relu,)
"""
GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4, 8]", L_w_: "f32[8, 16]"):
        l_x_ = L_x_
        l_w_ = L_w_
        matmul: "f32[4, 16]" = l_x_ @ l_w_;  l_x_ = l_w_ = None
        relu: "f32[4, 16]" = torch.relu(matmul);  matmul = None
        return (relu,)
"""
NODES = (
    ("l_x_", "placeholder", "L_x_", "()", ("matmul",), "f32[4, 8]"),
    ("l_w_", "placeholder", "L_w_", "()", ("matmul",), "f32[8, 16]"),
    ("matmul", "call_function", "<built-in function matmul>", "(l_x_, l_w_)", ("relu",), "f32[4, 16]"),
    ("relu", "call_function", "<built-in method relu>", "(matmul,)", ("output",), "f32[4, 16]"),
    ("output", "output", "output", "((relu,),)", (), ""),
)
SIZES = "tensor 'L['x']' size mismatch at index 0. expected 4, actual 6"
TABLE = {
    "title": "The program",
    "columns": ["node", "run by", "µs"],
    "rows": [["matmul", "kernel", 12.5], ["relu", "torch", 3.0]],
}


def backend_log(problem: str = "", **fields: Any) -> bytes:
    """Calls 0 and 1 use the code of the first compilation, call 2 meets another size; `problem` is that of the second
    call of the backend, and `fields` are more of its record.
    """
    again = {"problem": problem, "returned": "", **fields} if problem else fields
    return b"".join(
        [
            record("compileboard_job", {"schema": 1, "job": json.loads(job_to_json(JOB)), "torch": "2.13.0"}),
            _step("call 0: compiled"),
            *_compiled(0, {}),
            record("backend_table", TABLE, frame_id=0, frame_compile_id=0),
            backend_text("IR", "print(1)"),
            _call(0, 4),
            _step("call 1: compiled"),
            _call(1, 4),
            _step("call 2: compiled"),
            record("recompile_reasons", [f"0/0: {SIZES}"], frame_id=0, frame_compile_id=1),
            *_compiled(1, again),
            _call(2, 6),
            record("compileboard_executions", _executions()),
            record("compileboard_end", {"schema": 1}),
        ]
    )


def _compiled(number: int, fields: dict[str, Any]) -> list[bytes]:
    ids = {"frame_id": 0, "frame_compile_id": number}
    rows = 4 if number == 0 else 6
    nodes = [
        {"name": name, "op": op, "target": target, "args": args, "kwargs": "{}", "users": users, "value": value}
        for name, op, target, args, users, value in NODES
    ]
    given = {
        "schema": 1, "backend": "mine", "inputs": [f"f32[{rows}, 8]", "f32[8, 16]"], "nodes": nodes, "left_out": 0,
        "code": CODE, "returned": "method `forward` of GraphModule", "seconds": 4e-4, **fields,
    }  # fmt: skip
    frame = [{"line": 4, "name": "model", "filename": "/work/model.py"}]
    return [
        line({"dynamo_start": {"stack": frame}, **ids}, ""),
        line({"dynamo_output_graph": {"sizes": {}}, **ids}, GRAPH),
        record("compileboard_invocation", given, **ids),
    ]


def backend_text(title: str, text: str) -> bytes:
    said = {"name": "backend_text", "encoding": "string", "title": title, "language": "python"}
    return line({"artifact": said, "frame_id": 0, "frame_compile_id": 0}, text)


def _step(name: str) -> bytes:
    return record("compileboard_step", {"schema": 1, "name": name})


def _call(index: int, rows: int) -> bytes:
    made = {0: 1, 2: 1}.get(index, 0)
    newest = ["0/1", "0/0"] if index == 2 else ["0/0"]
    said = {
        "schema": 1, "index": index, "inputs": f"f32[{rows}, 8], f32[8, 16]", "eager_s": 1e-4, "compiled_s": 2e-4,
        "differences": [], "entered": 0 if made else 1, "newest": newest, "how": "compiled" if made else "reused",
        "compilations": made,
    }  # fmt: skip
    return record("compileboard_call", said)


def _executions() -> dict[str, Any]:
    def ran(compilation: str, number: int, call: int | None, seconds: float) -> dict[str, Any]:
        rows = 4 if compilation == "0/0" else 6
        return {
            "compilation": compilation, "number": number, "call": call, "seconds": seconds,
            "inputs": [f"f32[{rows}, 8]", "f32[8, 16]"], "outputs": [f"f32[{rows}, 16]"],
        }  # fmt: skip

    return {
        "schema": 1,
        "executions": [
            ran("0/0", 0, 0, 5e-5),
            ran("0/0", 1, 1, 2e-5),
            ran("0/1", 0, 2, 6e-5),
            ran("0/1", 1, None, 2e-5),
        ],
        "totals": [
            {"compilation": "0/0", "calls": 2, "measured": 0, "seconds": 7e-5},
            {"compilation": "0/1", "calls": 1, "measured": 200, "seconds": 4e-3},
        ],
    }
