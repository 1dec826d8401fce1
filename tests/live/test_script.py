"""A script is run as it is: what torch.compile returned is recorded call by call, and the script sees none of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core import CompileJob, Model, Run, Runner, open_report
from core.report import Report
from core.views.progress import ScriptView
from tests.support.places import TRACES

pytestmark = pytest.mark.torch
ENTRIES = """import copy
import pickle
import sys
import threading

import torch
from torch import compile as compiled_by_torch


@torch.compile(mode="reduce-overhead", dynamic=True)
def inner(x):
    return x.sin() + 1


@torch.compile
def outer(x):
    y = inner(x) * 2
    print("break", x.shape)
    return y


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).relu()


def mine(gm, example_inputs):
    print("backend", len(gm.graph.nodes))
    return gm.forward


class Pickled:
    pass


net = Net()
net.compile(fullgraph=True)
print(net(torch.ones(2, 4)).shape)
outer(torch.ones(3))
outer(torch.ones(3))
opt = compiled_by_torch(Net())
print(type(opt).__name__, sorted(opt.state_dict()), len(list(opt.parameters())))
opt(torch.ones(2, 4)).sum().backward()
with torch.compiler.set_stance("force_eager"):
    inner(torch.ones(5))
own = torch.compile(lambda x: x * 3, backend=mine)
own(torch.ones(5))
own(torch.ones(5))
try:
    with torch.compiler.set_stance("fail_on_recompile"):
        own(torch.ones(7, 7))
except RuntimeError as error:
    print("refused", type(error).__name__)
thread = threading.Thread(target=own, args=(torch.ones(5),))
thread.start()
thread.join()
torch.cond(torch.tensor(True), torch.sin, torch.cos, (torch.ones(2),))
pickle.loads(pickle.dumps(Pickled()))
copy.deepcopy(opt)
print(inner.__name__, __name__, sys.argv[1:], torch.compiler.is_compiling())
"""

DECORATED_CLASSES = """import torch


@torch.compile(backend="eager")
class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x.sin() * self.factor


@torch.compile(backend="eager")
class Net(torch.nn.Module):
    def forward(self, x):
        return x.relu()


scale, net = Scale(2.0), Net()
scale(torch.ones(3))
net(torch.ones(3))
print(isinstance(scale, Scale), isinstance(net, Net))
"""


def run_of(runner: Runner, code: str | Path, *arguments: str) -> tuple[Run, Report]:
    model = Model("file", str(code)) if isinstance(code, Path) else Model("code", code)
    run = runner.wait(runner.submit(CompileJob(model, arguments=arguments)))
    return run, open_report(run)


@pytest.mark.long
def test_each_call_of_each_entry_point_is_recorded_and_the_script_prints_what_it_prints_alone(
    runner: Runner, tmp_path: Path
) -> None:
    path = tmp_path / "entries.py"
    path.write_text(ENTRIES)
    run, report = run_of(runner, path, "--epochs", "2")
    alone = subprocess.run([sys.executable, path, "--epochs", "2"], capture_output=True, text=True, check=True)
    assert run.status().state == "done", run.output_tail()
    assert run.output_tail() == alone.stdout
    script = report.script
    assert script is not None
    assert [(entry.name, entry.place.line, entry.backend, entry.options) for entry in script.entries] == [
        ("inner", 10, "inductor", "dynamic=True, mode='reduce-overhead'"),
        ("outer", 15, "inductor", ""),
        ("Net", 41, "inductor", "fullgraph=True"),
        ("Net", 45, "inductor", ""),
        ("<lambda>", 50, "mine", ""),
    ]
    assert (script.exit_code, script.arguments, script.calls) == (0, ("--epochs", "2"), (1, 2, 1, 1, 4))
    assert [(call.entry, call.inputs, call.how, call.stance) for call in report.calls] == [
        (2, "f32[2, 4]", "compiled", ""),
        (1, "f32[3]", "compiled", ""),
        (1, "f32[3]", "reused", ""),
        (3, "f32[2, 4]", "reused", ""),
        (0, "f32[5]", "eager", "force_eager"),
        (4, "f32[5]", "compiled", ""),
        (4, "f32[5]", "reused", ""),
        (4, "f32[7, 7]", "raised", "fail_on_recompile"),
        (4, "f32[5]", "reused", ""),
    ]
    assert "Detected recompile" in report.calls[7].raised
    (invocation,) = (made for item in report.compilations for made in item.invocations if made.backend == "mine")
    assert len(invocation.nodes) == 3
    assert {item.call for item in report.compilations} >= {0, 1, 5}
    view = ScriptView.of(report)
    assert view is not None
    assert view.title.endswith("5 compiled callables, 9 calls.")


def test_the_exit_code_and_the_line_of_an_exception_are_the_scripts(runner: Runner) -> None:
    run, report = run_of(runner, "import sys\nprint('before')\nsys.exit(3)\n")
    assert (run.status().state, report.script.exit_code if report.script else None) == ("failed", 3)
    assert report.error is not None
    assert (report.error.type, report.error.frames[-1].line) == ("SystemExit", 3)
    assert "before" in run.output_tail()
    run, report = run_of(runner, "import torch\ntorch.compile(torch.sin)(torch.ones(2))\nraise KeyError('gone')\n")
    assert report.error is not None
    assert (report.error.type, report.error.frames[-1].line, len(report.calls)) == ("KeyError", 3, 1)
    assert report.script is not None
    assert report.script.exit_code == 1
    for ends_well in ("import sys\nsys.exit()\n", "raise SystemExit(0)\n", "print(1)\n"):
        run, report = run_of(runner, ends_well)
        assert (run.status().state, report.script.exit_code if report.script else None) == ("done", 0)
        view = ScriptView.of(report)
        assert view is not None
        assert "compiled nothing" in view.note


def test_a_script_ends_as_python_ends_it(runner: Runner, tmp_path: Path) -> None:
    code = (
        "import atexit, sys, threading, time\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "atexit.register(print, 'at exit', 1)\natexit.register(lambda: 1 / 0)\n"
        "pool = ThreadPoolExecutor(1)\npool.submit(lambda: (time.sleep(0.3), print('pool')))\n"
        "threading.Thread(target=lambda: (time.sleep(0.6), print('thread'))).start()\nprint('main', flush=True)\n"
        "sys.exit(4)\n"
    )
    path = tmp_path / "ends.py"
    path.write_text(code)
    run, report = run_of(runner, path)
    alone = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    lines = [line for line in run.output_tail().splitlines() if not line.startswith((" ", "Traceback", "Zero"))]
    assert lines == alone.stdout.splitlines() == ["main", "pool", "thread", "at exit 1"]
    assert "ZeroDivisionError" in run.output_tail()
    assert report.script is not None
    assert report.script.exit_code == alone.returncode == 4


def test_a_script_runs_in_its_own_directory_and_pasted_code_in_one_of_its_own(runner: Runner, tmp_path: Path) -> None:
    path = tmp_path / "writes.py"
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    path.write_text("import beside\nopen('out.txt', 'w').write(str(beside.VALUE))\n")
    run, _ = run_of(runner, path)
    assert run.status().state == "done", run.output_tail()
    assert (tmp_path / "out.txt").read_text() == "7"
    run, _ = run_of(runner, "open('job.json', 'w').write('mine')\n")
    assert (run.path / "script" / "job.json").read_text() == "mine"
    assert run.job() is not None


def test_a_training_loop_is_recorded_up_to_a_bound_and_counted_beyond(runner: Runner) -> None:
    code = "import torch\nf = torch.compile(torch.neg, backend='eager')\nfor _ in range(2100):\n    f(torch.ones(2))\n"
    run, report = run_of(runner, code)
    assert run.status().state == "done"
    assert report.script is not None
    assert (report.script.calls, len(report.calls)) == ((2100,), 2000)
    view = ScriptView.of(report)
    assert view is not None
    assert view.left_out.startswith("100 calls more")


def test_a_users_triton_kernel_runs_by_tritons_interpreter(runner: Runner) -> None:
    code = (TRACES.parent / "support" / "vector_add.py").read_text()
    run, report = run_of(runner, code)
    assert run.status().state == "done", run.output_tail()
    assert "equal True" in run.output_tail()
    assert any("interpreter" in note for note in report.notes)


def test_a_notebook_runs_cell_by_cell(runner: Runner, tmp_path: Path) -> None:
    cells = ["import torch\nf = torch.compile(torch.sin, backend='eager')", "f(torch.zeros(2))", "1 / 0"]
    path = tmp_path / "notes.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": [text]} for text in cells]}))
    run, report = run_of(runner, path)
    assert run.status().state == "failed"
    assert run.output_tail().startswith("tensor([0., 0.])\n")
    assert report.error is not None
    assert (report.error.type, report.error.frames[-1].text) == ("ZeroDivisionError", "_show_value((1 / 0))")
    assert len(report.calls) == 1


@pytest.mark.parametrize("fullgraph", [False, True])
def test_a_first_call_is_compiled_whatever_fullgraph_is(runner: Runner, fullgraph: bool) -> None:
    code = (
        f"import torch\nf = torch.compile(torch.neg, fullgraph={fullgraph})\nfor _ in range(2):\n    f(torch.ones(2))\n"
    )
    _, report = run_of(runner, code)
    assert [(call.how, call.compilations) for call in report.calls] == [("compiled", 1), ("reused", 0)]


def test_a_decorated_class_stays_a_class_and_the_calls_of_its_objects_are_recorded(runner: Runner) -> None:
    run, report = run_of(runner, DECORATED_CLASSES)
    assert report.script is not None
    assert run.output_tail().split() == ["True", "True"]
    assert [entry.name for entry in report.script.entries] == ["Scale", "Net"]
    assert report.script.calls == (1, 1)
    assert len(report.compilations) == 2
