"""Other compilers and runtimes on models of runs, each in a process of its own; what is not installed says so."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from core import CompileJob, Conditions, Model, Report, Runner, open_report
from core.commands.main import main
from core.report import Neighbour
from core.views.neighbours import mlx_recording
from tests.support.homes import CACHE, link_cache
from tests.support.user_code import ended

pytestmark = pytest.mark.torch
TRACED, SCRIPTED = "TorchScript, traced", "TorchScript, scripted"
INSTALLED = ("ONNX Runtime", "OpenVINO", *(["TVM"] if find_spec("tvm") else []))
SAMPLES = ("sin_cos", "mlp", "matmul_relu_softmax", "gelu_layernorm_residual", "transformer_block", "small_resnet")
# A dictionary of outputs, a keyword argument, state that each call changes, and a branch.
COUNTING = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, *, scale):
        self.calls += 1
        return {"scaled": self.linear(x) * scale, "calls": self.calls.clone()}

model = Model()
calls = lambda: ({"x": torch.ones(size, 8), "scale": torch.full((), 2.0)} for size in (2, 4))
"""
RANDOM = """
import torch

def model(x):
    return torch.nn.functional.dropout(x, 0.5)

inputs = (torch.ones(64),)
"""


def neighbours(runner: Runner, model: Model, **fields: object) -> tuple[Report, dict[str, Neighbour]]:
    run = runner.wait(runner.submit(CompileJob(model, neighbours=True, **fields)))  # type: ignore[arg-type]
    report = open_report(run)
    assert ended(run)[0] == "done", (report.error, run.output_tail())
    return report, {neighbour.name: neighbour for neighbour in report.neighbours}


def standing(neighbour: Neighbour) -> tuple[str, str, list[bool | None]]:
    return neighbour.stage, neighbour.problem, [difference.same for difference in neighbour.differences]


@pytest.mark.long
def test_torchscript_runs_the_model_and_what_is_not_installed_says_so(runner: Runner) -> None:
    report, found = neighbours(runner, Model("sample", "mlp"), conditions=Conditions(threads=1))
    assert list(found) == [
        *(TRACED, SCRIPTED, "ONNX Runtime", "OpenVINO", "OpenXLA, the compiler of JAX", "TVM", "TensorRT", "MLX")
    ]
    for name in (TRACED, SCRIPTED):
        assert standing(found[name]) == ("", "", [True])
        assert found[name].inputs == report.calls[-1].inputs
        times = found[name].times
        assert times is not None
        assert set(times.sides) == {"eager", "compiled", "neighbour"}
        assert len({len(seconds) for seconds in times.sides.values()}) == 1
    for name, module in (("ONNX Runtime", "onnxruntime"), ("OpenVINO", "openvino"), ("TVM", "tvm"), ("MLX", "mlx")):
        missing = find_spec(module) is None
        assert (module in found[name].missing, bool(found[name].version)) == (missing, not missing)
    ported = found["MLX"].ported
    assert all(difference.same for function in ported for difference in function.differences)
    assert len(ported) == (4 if find_spec("mlx") else 0)
    assert found["TensorRT"].problem == "it runs here on cuda, and this run is on cpu"


@pytest.mark.long
def test_a_model_with_state_is_converted_as_it_was_before_the_last_call(runner: Runner) -> None:
    report, found = neighbours(runner, Model("code", COUNTING), measure=False)
    assert len(report.calls) == 2
    assert standing(found[SCRIPTED]) == ("", "", [True, True])
    assert found[SCRIPTED].inputs == "x=f32[4, 8], scale=f32[]"
    assert found[SCRIPTED].times is None


def test_a_call_that_draws_random_numbers_is_not_comparable(runner: Runner) -> None:
    _, found = neighbours(runner, Model("code", RANDOM), measure=False)
    (difference,) = found[TRACED].differences
    assert (difference.same, difference.reason) in [
        (True, ""),
        (None, "the call draws random numbers, and another program draws others than eager"),
    ]


@pytest.mark.long
def test_a_run_that_trains_says_that_neighbours_run_the_forward_alone(runner: Runner) -> None:
    _, found = neighbours(runner, Model("sample", "mlp"), training=True, measure=False)
    assert standing(found[TRACED]) == ("start", "it runs only the forward, and this run trains", [])


@pytest.mark.usefixtures("commands_here")
def test_the_command_prints_a_line_for_each_neighbour_and_json_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    link_cache(tmp_path, CACHE)
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    assert main(["neighbours", "sin_cos", "--no-measure"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("2 neighbours ran this model")
    rules = [number for number, line in enumerate(lines) if line.startswith("-----")]
    neighbours, functions = (lines[start + 1 : lines.index("", start)] for start in rules[:2])
    assert [line.startswith("TorchScript") for line in neighbours] == [True] * 2 + [False] * 6
    assert [function.mlx in line for function, line in zip(mlx_recording().functions, functions, strict=True)] == [
        True
    ] * 4
    assert main(["neighbours", "no_such_model.py", "--json"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, "no_such_model.py" in printed.err) == ("", True)


@pytest.mark.skipif(not (find_spec("onnxruntime") and find_spec("openvino")), reason="make extra EXTRA=neighbours")
@pytest.mark.parametrize("sample", SAMPLES)
def test_onnx_runtime_and_openvino_run_samples_as_eager_does(runner: Runner, sample: str) -> None:
    _, found = neighbours(runner, Model("sample", sample), measure=False)
    for name in INSTALLED:
        assert standing(found[name]) == ("", "", [True]), found[name]
        assert found[name].convert_s
        assert found[name].call_s
