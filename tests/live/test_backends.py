"""Backends of one's own in whole runs: found, called, told, and what goes wrong in them."""

import pytest
import torch

from core import CompileOptions, open_report
from core.analysis.backend import backend_problems
from core.graph.fx import fx_model
from core.report import module_path
from core.runs.stored import open_graph
from core.views.backend.run import backend_sentence, strip_words
from core.worker.environment import probe
from tests.support.user_code import RunCode

pytestmark = pytest.mark.torch

MODEL = """import torch
def model(x, w):
    return torch.relu(x @ w) + 1
def calls():
    for rows in (4, 4, 6):
        yield torch.ones(rows, 8), torch.ones(8, 8)
"""
COMPILED = """import torch
model = torch.compile(lambda x: x.sin() + 1, backend="quiet")
inputs = (torch.ones(4),)
"""
QUIET = """from torch._dynamo import register_backend
@register_backend
def quiet(graph, inputs):
    return graph.forward
"""
LAYERS = """import torch
from torch import nn
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 8)
    def forward(self, x):
        return x + torch.relu(self.up(x))
model = nn.Sequential(*(Layer() for _ in range(4)))
inputs = (torch.ones(2, 8),)
"""
# What a backend does → how its run ends, in which step, and on which line of its own.
BACKEND = "import os, time, torch\ndef backend(graph, inputs):\n    {line}\n    return graph.forward\n"


def own(code: str, name: str = "backend") -> CompileOptions:
    return CompileOptions(backend=name, backend_code=code)


def test_a_callable_of_the_models_file_is_called_once_for_two_calls_and_again_for_another_size(
    run_code: RunCode,
) -> None:
    code = f"{MODEL}\ndef mine(graph, inputs):\n    print(len(graph.graph.nodes))\n    return graph.forward\n"
    run = run_code(code, compile=CompileOptions(backend="mine"))
    report = open_report(run)
    assert run.output_tail() == "6\n7\n"
    assert backend_sentence(report) == (
        "`mine` received 2 graphs; executed 3 times in 3 calls; 1 call compiled nothing."
    )
    assert strip_words(report) == "3 calls, 2 invocations, 3 executions"
    assert [found.invocations[0].nodes[2].target for found in report.compilations] == ["operator.matmul", "L_w_"]


def test_a_model_that_its_file_has_compiled_is_run_as_it_is_with_what_the_backends_code_registers(
    run_code: RunCode,
) -> None:
    run = run_code(COMPILED, compile=own(QUIET, "quiet"), training=False)
    report = open_report(run)
    assert (run.status().state, backend_sentence(report)) == (
        "done",
        "`quiet` received 1 graph; executed 1 time in 1 call.",
    )
    assert report.notes == (
        "The file calls torch.compile itself. The run used the backend, mode and options that it passes. "
        "Those of the job were not used: backend=quiet.",
    )


@pytest.mark.parametrize(
    ("backend", "training", "graphs"),
    [
        ("eager", False, ["dynamo_output_graph"]),
        ("inspect", False, ["dynamo_output_graph"]),
        ("aot_eager", False, ["dynamo_output_graph", "aot_inference_graph"]),
        ("aot_eager", True, ["dynamo_output_graph", "aot_joint_graph", "aot_forward_graph", "aot_backward_graph"]),
    ],
)
def test_layers_fold_with_backends_other_than_inductor(
    run_code: RunCode, backend: str, training: bool, graphs: list[str]
) -> None:
    run = run_code(LAYERS, compile=CompileOptions(backend=backend), training=training)
    (compilation,) = open_report(run).compilations
    assert [graph.stage for graph in compilation.graphs] == graphs
    read = [open_graph(run, compilation, graph) for graph in compilation.graphs]
    first = fx_model(read[0]).groups[0]
    assert (first.label, first.detail, first.count) == ("Layer", "× 4", 12)
    for nodes in read:
        layers = {module_path(node.module)[1] for node in nodes if node.op.startswith("call_")}
        assert layers == {"0", "1", "2", "3"}


def test_what_a_backend_raises_ends_the_run_on_its_line(run_code: RunCode) -> None:
    run = run_code(MODEL, compile=own(BACKEND.format(line="raise ValueError('no such op')")))
    report = open_report(run)
    path = str(run.path / "backend.py")
    assert report.error is not None
    assert [(frame.file, frame.line, frame.text) for frame in report.error.frames][-1] == (
        *(path, 3, "raise ValueError('no such op')"),
    )
    (problem,) = backend_problems(report)
    assert (problem.words, problem.place) == ("raised ValueError: no such op", (path, 3))
    assert [source.path for source in report.sources][:2] == [str(run.model_path), path]


def test_a_name_that_nothing_has_is_reported_with_what_there_is(run_code: RunCode) -> None:
    report = open_report(run_code(MODEL, compile=own(QUIET, "loud")))
    assert report.error is not None
    assert report.error.field == "compile.backend"
    assert report.error.message.startswith(
        "compile.backend: no backend `loud`: it is not in the backend's code, which has register_backend, quiet; torch "
    )


@pytest.mark.parametrize(
    ("line", "limit_s", "state", "words"),
    [
        ("time.sleep(100)", 4.0, "timed out", 'backend.py", line 3 in backend\n'),
        ("print('the last word', flush=True); os._exit(3)", 60.0, "crashed", "the last word\n"),
    ],
)
def test_a_backend_that_never_ends_or_leaves_ends_its_run(
    run_code: RunCode, line: str, limit_s: float, state: str, words: str
) -> None:
    run = run_code(MODEL, compile=own(BACKEND.format(line=line)), time_limit_s=limit_s)
    assert run.status().state == state
    assert words in run.output_tail()
    assert open_report(run).steps[-1] == "call 0: compiled"


def test_a_backend_that_misses_something_cannot_run() -> None:
    missing = {entry.name: entry.missing for entry in probe().entries if entry.missing}
    assert missing["dynamo_minifier_backend"] == "the argument `compiler_name`"
    assert "inductor" not in missing
    for name in missing:
        with pytest.raises(Exception, match=r".+"):
            torch.compile(lambda x: x.sin() + 1, backend=name)(torch.ones(2))
