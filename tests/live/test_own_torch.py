"""A script sees its own torch, and may change it: its output and its end are plain Python's."""

import subprocess
import sys
from pathlib import Path

import pytest

from core import CompileJob, Model, Run, Runner, open_report
from core.analysis.verdict import graph_count
from core.report import Report
from core.views.progress import ScriptView
from tests.support.sample import one_in

pytestmark = pytest.mark.torch
MISSING = "later records of torch are missing"
COMPILES = "f = torch.compile(lambda x: x + 1, backend='eager')\nprint(f(torch.ones(2)))\n"
TRACE = "import logging, logging.config\nimport torch\nlog = logging.getLogger('torch.__trace')\n"
REMOVES = "for handler in log.handlers[:]:\n    log.removeHandler(handler)\n"
OWN = (
    f"{REMOVES}    handler.close()\nclass Own(logging.Handler):\n    def emit(self, record):\n"
    "        if 'dynamo_output_graph' in record.metadata:\n            print('graph')\nlog.addHandler(Own())\n"
)
DISABLES = "logging.config.dictConfig({'version': 1, 'disable_existing_loggers': True})\n"
LOOKS = """import os
import sys
os.environ["TORCH_LOGS"] = "graph_breaks"
os.environ["TORCH_COMPILE_DEBUG"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
print("torch" in sys.modules)
import inspect
import torch
import torch._dynamo
import torch._inductor.config
print(torch._dynamo.list_backends(), torch._dynamo.list_backends(None))
print(inspect.getsourcefile(torch.compile) == torch.__file__, hasattr(torch.compile, "__wrapped__"))
print(torch._inductor.config.trace.enabled, torch.get_num_threads())


@torch._dynamo.register_backend
def inspect(gm, example_inputs):
    print("own backend")
    return gm.forward


def broken(x):
    torch._dynamo.graph_break()
    return x + 1


print(torch.compile(broken, backend="inspect")(torch.ones(2)))
print("inspect" in torch._dynamo.list_backends())
"""


def run_of(runner: Runner, path: Path, **job: object) -> tuple[Run, Report]:
    run = runner.wait(runner.submit(CompileJob(Model("file", str(path)), **job)))  # type: ignore[arg-type]
    return run, open_report(run)


def plain(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, path], cwd=path.parent, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("change", one_in(3, [REMOVES, OWN, DISABLES]), ids=["removes", "own", "disables"])
@pytest.mark.parametrize("end", one_in(2, ["", "raise ValueError('its own error')\n"]), ids=["done", "fails"])
def test_a_script_that_changes_torchs_trace_ends_as_in_python(
    runner: Runner, tmp_path: Path, change: str, end: str
) -> None:
    path = tmp_path / "traces.py"
    path.write_text(TRACE + change + COMPILES + end)
    alone = plain(path)
    run, report = run_of(runner, path)
    assert run.status().state == ("failed" if end else "done"), run.status()
    assert report.script is not None
    assert (report.script.exit_code, report.script.calls) == (alone.returncode, (1,))
    assert run.output_tail() == alone.stdout
    assert (report.error.message if report.error else "") == ("its own error" if end else "")
    assert [note for note in report.notes if note.endswith(f"{MISSING}.")]


def test_a_script_sees_the_torch_that_it_imports(runner: Runner, tmp_path: Path) -> None:
    path = tmp_path / "looks.py"
    path.write_text(LOOKS)
    alone = plain(path)
    run, _ = run_of(runner, path)
    lines = run.output_tail(100_000).splitlines()
    assert [line for line in lines if line in alone.stdout.splitlines()] == alone.stdout.splitlines(), run.output_tail()
    assert any("[__graph_breaks] Graph break in user code" in line for line in lines)
    assert any("[__graph_breaks] Graph break in user code" in line for line in alone.stderr.splitlines())
    assert alone.stdout.splitlines()[-1] == "True"


LIBRARY = """import torch

def prepare(model):
    return torch.compile(model, backend="eager")

class Trainer:
    def fit(self, compiled, x):
        step = compiled.dynamo_ctx(compiled._orig_mod.forward)
        return step(x)
"""


def test_code_that_a_library_compiles_has_the_users_line_and_the_librarys(runner: Runner, tmp_path: Path) -> None:
    library = tmp_path / "site-packages" / "speed.py"
    library.parent.mkdir()
    library.write_text(LIBRARY)
    path = tmp_path / "trains.py"
    path.write_text(
        f"import sys\nsys.path.insert(0, {str(library.parent)!r})\nimport speed\nimport torch\n"
        "net = speed.prepare(torch.nn.Identity())\nprint(speed.Trainer().fit(net, torch.ones(2)))\n"
    )
    run, report = run_of(runner, path)
    assert run.status().state == "done", run.output_tail()
    script = report.script
    assert script is not None
    assert [(entry.name, entry.place.short, entry.library and entry.library.short) for entry in script.entries] == [
        ("Identity", "trains.py:5", "speed.py:4"),
        ("Identity", "trains.py:6", "speed.py:8"),
    ]
    assert script.calls == (0, 1)
    view = ScriptView.of(report)
    assert view is not None
    assert view.title.endswith(": 2 compiled callables, 1 call.")


AUTOGRAD = """import torch
from torch._dynamo.utils import counters

torch._dynamo.config.compiled_autograd = True
net = torch.nn.Linear(4, 4)


@torch.compile(backend="aot_eager")
def train(x):
    (net(x) ** 2).sum().backward()


for _ in range(3):
    net.zero_grad()
    train(torch.randn(2, 4))
print(counters["stats"]["unique_graphs"], sum(counters["graph_break"].values()))
"""


@pytest.mark.long
def test_nothing_of_ours_is_traced_where_compiled_autograd_compiles_in_a_call(runner: Runner, tmp_path: Path) -> None:
    path = tmp_path / "trains.py"
    path.write_text(AUTOGRAD)
    run, report = run_of(runner, path)
    assert run.output_tail().split() == plain(path).stdout.split() == ["2", "1"]
    assert (graph_count(report), len(report.graph_breaks)) == (2, 1)
    assert [compilation.frame.name for compilation in report.compilations if compilation.graphs] == [
        *("train", "compiled autograd !0", "forward")
    ]
    assert len(report.compilations) == 3


@pytest.mark.long
def test_a_training_loop_over_inputs_runs_once(runner: Runner, tmp_path: Path) -> None:
    path = tmp_path / "loop.py"
    path.write_text(
        "import torch\ntorch.manual_seed(0)\nmodel = torch.nn.Linear(2, 1)\n"
        "step = torch.compile(model, backend='eager')\n"
        "inputs = None\nfor inputs, labels in [(torch.ones(1, 2), 0), (torch.zeros(1, 2), 1)]:\n"
        "    loss = (step(inputs) - labels).square().sum()\n    loss.backward()\n    print(f'{loss.item():.6f}')\n"
    )
    run, report = run_of(runner, path)
    assert (run.status().state, run.output_tail()) == ("done", plain(path).stdout)
    assert (len(report.calls), report.recompiles) == (2, ())


READS = """import torch
scale = float(open("scale.txt").read())
open("seen.txt", "w").write("by the model")
model = lambda x: x * scale
inputs = (torch.ones(2),)
torch_compile = {"backend": "eager"}
"""


def test_a_models_file_runs_in_its_own_directory(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "scale.txt").write_text("2.0")
    path = tmp_path / "reads.py"
    path.write_text(READS)
    run, _ = run_of(runner, path, measure=False)
    assert run.status().state == "done", run.output_tail()
    assert (tmp_path / "seen.txt").read_text() == "by the model"
    pasted = Model("code", READS.replace('float(open("scale.txt").read())', "2.0"))
    run = runner.wait(runner.submit(CompileJob(pasted, measure=False)))
    assert (run.path / "script" / "seen.txt").read_text() == "by the model"


PLANTED = """import torch

def planted(graph):
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default):
        node.target = torch.ops.aten.cos.default

model = lambda x: x.sin()
inputs = (torch.ones(4),)
passes = {"post_grad_custom_post_pass": planted}
torch_compile = {"options": passes}
"""


def test_a_setting_that_is_no_literal_is_used_or_refused_with_its_line(runner: Runner, tmp_path: Path) -> None:
    path = tmp_path / "planted.py"
    path.write_text(PLANTED)
    _, report = run_of(runner, path, measure=False)
    (difference,) = (one for one in report.calls[0].differences if not one.same)
    assert difference.what == "output"
    assert (
        "`torch_compile` in line 10 is no literal. The run used its executed value: "
        "options={'post_grad_custom_post_pass': planted}." in report.notes
    )
    path.write_text("model = abs\ninputs = (1,)\ntraining = bool(inputs)\ntorch_compile = {'backend': 'eager'}\n")
    _, report = run_of(runner, path, measure=False)
    assert report.error is not None
    assert "`training` in line 3 is no literal, and its value is True" in report.error.message


def test_a_place_in_a_notebook_names_the_cell(runner: Runner, tmp_path: Path) -> None:
    import json

    cells = [
        "import torch",
        "%%time\nf = torch.compile(torch.sin, backend='eager')\ny = f(torch.zeros(2))",
        "t = %timeit -o -q -n 2 -r 1 f(y)\nt.loops",
        "!ls\nraise KeyError('gone')",
    ]
    path = tmp_path / "notes.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": text} for text in cells]}))
    run, report = run_of(runner, path)
    assert run.status().state == "failed"
    assert report.error is not None
    assert report.error.frames[-1].short == "cell 4, line 2"
    assert report.script is not None
    assert [
        (entry.place.short, calls) for entry, calls in zip(report.script.entries, report.script.calls, strict=True)
    ] == [("cell 2, line 2", 3)]
    assert run.output_tail().splitlines()[-1] == "2"
    assert [source.path.rpartition("/")[2] for source in report.sources][:3] == ["model.py", "cell 1.py", "cell 2.py"]
