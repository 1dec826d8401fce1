"""Captures of a model by symbolic_trace, export and core ATen, and torch's `explain`.

Each capture gets the inputs of the first call, and its results are compared with eager. Core ATen decomposes
the exported program; the others have separate model copies. The text of a graph is the payload of the
artifact `capture`.
"""

import inspect
import re
import time
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch._logging import trace_structured
from torch.fx.passes.shape_prop import ShapeProp

from core.job import CompileJob
from core.report import CaptureWay, Explanation
from core.report.records.compilation import CaptureHead
from core.worker.aoti.exporting import as_module, export_call, export_shapes, uncompiled, words_of
from core.worker.calls import Inputs
from core.worker.conditions import Mode
from core.worker.load import Arguments, ModelCopy, first_line, seed, user_frames
from core.worker.measuring.kernel_times import Copies
from core.worker.numerics import quiet_compilation
from core.worker.record import emit, silence
from core.worker.results.compare import compare
from core.worker.results.named import leaves

CAPTURING = "capturing the model in other ways"
TRACED = "torch.fx.symbolic_trace(model)"
MOST_REASONS = 50  #: limit: break reasons of `torch._dynamo.explain`
MAX_TEXT_CHARS = 4_000_000  #: the text of a captured graph in the log
TORCH = str(Path(torch.__file__).parent)
OWN = str(Path(__file__).parent)
FRAME = re.compile(r'^ *(?=File ")', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CaptureInputs:
    """The inputs of a model's first call, and the grad mode of that call."""

    job: CompileJob
    path: Path
    call: Arguments
    mode: Mode

    def run(self, function: Callable[..., Any]) -> Any:
        """Call a function with copies of the inputs, seeded as in the run."""
        args, kwargs = Copies(self.call).values
        seed(self.job.seed)
        with self.mode.on():
            return function(*args, **kwargs)

    def model(self, name: str) -> Any:
        """Return the callable of a new model copy."""
        return uncompiled(ModelCopy(self.path, self.job, f"compileboard_{name}").model)


@dataclass(frozen=True, slots=True)
class CapturedProgram:
    """A captured graph, and the function that runs it with the model's inputs."""

    graph: torch.fx.GraphModule
    function: Callable[..., Any]


def emit_captures(job: CompileJob, path: Path) -> None:
    """Capture the model by each method; record each graph or error, and the result of `explain`."""
    first = Inputs(job, ModelCopy(path, job, "compileboard_capture_inputs")).next(0)
    if first is None:
        return
    inputs = CaptureInputs(job, path, *first)
    with silence(), warnings.catch_warnings(action="ignore"), quiet_compilation():
        expected = inputs.run(inputs.model("capture_eager"))
        captures = list(_captures(inputs, expected))
        explained = _explained(inputs, expected)
    for head, text in captures:
        _emit(head, text)
    emit(explained)


def _emit(head: CaptureHead, text: str) -> None:
    trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": "capture", "encoding": "string", **asdict(head)},
        payload_fn=lambda: text,
        suppress_context=True,
        expect_trace_id=False,
    )


def _captures(inputs: CaptureInputs, expected: Any) -> Iterator[tuple[CaptureHead, str]]:
    module = as_module(inputs.model("captured"))
    shapes = export_shapes(inputs.job, module, inputs.call)
    exporting = export_call(inputs.call, shapes.text)

    @cache
    def program() -> torch.export.ExportedProgram:
        with inputs.mode.on():
            return torch.export.export(module, *inputs.call, dynamic_shapes=shapes.spec)

    yield _capture("symbolic_trace", TRACED, inputs, expected, lambda: _traced(inputs.model("traced")))
    exported = _capture("export", exporting, inputs, expected, lambda: _of(program()))
    yield exported
    if not exported[0].problem:
        decomposing = f"{exporting}.run_decompositions()"
        yield _capture("core_aten", decomposing, inputs, expected, lambda: _of(program().run_decompositions()))


def _capture(
    way: CaptureWay, call: str, inputs: CaptureInputs, expected: Any, make: Callable[[], CapturedProgram]
) -> tuple[CaptureHead, str]:
    start = time.perf_counter()
    try:
        captured = make()
        seconds = time.perf_counter() - start
        equal = _is_equal(inputs, expected, captured.function)
        text = _text(captured.graph)
    except Exception as error:
        seconds = time.perf_counter() - start
        return CaptureHead(
            way=way, call=call, seconds=seconds, problem=words_of(error), frames=user_frames((inputs.path,), error)
        ), ""
    return CaptureHead(way=way, call=call, seconds=seconds, equal=equal), text


def _traced(model: Any) -> CapturedProgram:
    tracer = torch.fx.Tracer()
    tracer.record_stack_traces = True
    graph = tracer.trace(model)
    module = torch.fx.GraphModule(tracer.root, graph)

    def interpret(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
        bound.apply_defaults()
        return ShapeProp(module).propagate(*bound.args)

    return CapturedProgram(module, interpret)


def _of(program: torch.export.ExportedProgram) -> CapturedProgram:
    # A call may change the model's buffers, which the decomposed program shares.
    return CapturedProgram(program.graph_module, deepcopy(program.module()))


def _explained(inputs: CaptureInputs, expected: Any) -> Explanation:
    start = time.perf_counter()
    try:
        output = inputs.run(torch._dynamo.explain(inputs.model("explained")))
        seconds = time.perf_counter() - start
        torch.compiler.reset()
        interpreted = torch.compile(inputs.model("interpreted"), backend=_interpreting)
        equal = _is_equal(inputs, expected, interpreted)
    except Exception as error:
        return Explanation(seconds=time.perf_counter() - start, problem=first_line(error))
    reasons = (str(reason.reason).partition("\n")[0] for reason in output.break_reasons[:MOST_REASONS])
    return Explanation(
        seconds=seconds,
        graphs=output.graph_count,
        graph_breaks=output.graph_break_count,
        ops=output.op_count,
        guards=len(output.out_guards or ()),
        reasons=tuple(reasons),
        equal=equal,
    )


def _interpreting(module: torch.fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
    run: Callable[..., Any] = torch.fx.Interpreter(module).run
    return run


def _is_equal(inputs: CaptureInputs, expected: Any, function: Callable[..., Any]) -> bool:
    """Return True if a function's results equal eager's; errors of the function are raised."""
    differences = compare(leaves("output", expected), leaves("output", inputs.run(function)))
    return all(difference.same is not False for difference in differences)


def _text(module: torch.fx.GraphModule) -> str:
    """Return a graph as text, with the line of the user's code for each node."""
    for node in module.graph.nodes:
        if node.stack_trace:
            node.stack_trace = _outside_torch(node.stack_trace)
    text: str = module.print_readable(print_output=False, include_stride=True, include_device=True)
    return text[:MAX_TEXT_CHARS]


def _outside_torch(stack: str) -> str:
    """Return a stack's frames outside torch and our worker, otherwise outside torch.fx."""
    frames = [f"  {frame}" for frame in FRAME.split(stack) if frame.startswith('File "')]
    traced = [frame for frame in frames if not frame.startswith((f'  File "{TORCH}/fx/', f'  File "{OWN}'))]
    outside = [frame for frame in traced if not frame.startswith(f'  File "{TORCH}/')]
    return "".join(outside or traced)
