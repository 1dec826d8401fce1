"""A file is a script if it calls compiled code or runs a backward, whatever names it binds."""

from pathlib import Path

import pytest

from core.job.gallery import EXERCISES, samples
from core.job.kind import file_kind
from tests.support.places import ROOT

NET = "import torch\nmodel = torch.nn.Linear(2, 2)\ninputs = (torch.ones(2, 2),)\n"
SCRIPTS = [
    "",
    "def build():\n    model = 1\n    return model\n",
    "training = True\ncalls = 0\nprint(calls)\n",
    "model = build()\nfor epoch in range(2):\n    train(model)\n",
    "with open('x') as model:\n    pass\nprint(model)\n",
    "import torch\nmodel = torch.compile(net)\nfor inputs, labels in loader:\n    model(inputs)\n",
    "import torch\nwith torch.no_grad():\n    inputs = torch.ones(2)\nf = torch.compile(lambda x: x)\nf(inputs)\n",
    "import torch\nfrom torch import *\nf = torch.compile(sin)\nf(ones(2))\n",
    "from helper import inputs\nfrom torch import compile as fast\nfast(net)(inputs)\n",
    "import torch\nif __name__ == '__main__':\n    model, inputs = build()\n    print(torch.compile(model)(inputs))\n",
    "import torch\ninputs = tokens('hi')\nmodel = torch.compile(load())\nout = model(**inputs)\n",
    "import torch._dynamo as dynamo\n@dynamo.optimize('eager')\ndef model(x): ...\ninputs = 1\nmodel(inputs)\n",
    "from speed import jit\ninputs = (1,)\n@jit\ndef model(x): return x\nprint(model(1))\n",
    "import torch\ndef fast(f): return torch.compile(f)\ninputs = 1\n@fast\ndef model(x): ...\nprint(model(1))\n",
    "import accelerate\nmodel = net()\ninputs = 1\nmodel = accelerate.Accelerator().prepare(model)\nmodel(inputs)\n",
    "import lightning as L\nmodel = net()\ninputs = 1\nL.Trainer(max_epochs=1).fit(model)\n",
    f"{NET}class Task:\n    def fit(self):\n        self.loop.fit(model)\nTask().fit()\n",
    f"{NET}class Task:\n    def fit(self):\n        model(*inputs).sum().backward()\ntask = Task()\ntask.fit()\n",
    f"{NET}def fit():\n    loop.fit(model)\nfit()\n",
    f"{NET}model(*inputs).sum().backward()\n",
    f"{NET}torch.autograd.grad(model(*inputs).sum(), [model.weight])\n",
    f"{NET}model.compile(fullgraph=True)\nout = model(*inputs)\n",
    f"{NET}for block in model.children():\n    block.compile()\nwith torch.no_grad():\n    model(*inputs)\n",
    f"{NET}model.forward = torch.compile(model.forward)\nmodel.generate(inputs)\n",
    f"{NET}steps = {{'a': torch.compile(model)}}\nfor name, step in steps.items():\n    step(*inputs)\n",
    f"{NET}def timed(fn, x):\n    return fn(*x)\n\nprint(timed(torch.compile(model), inputs))\n",
    f"{NET}opt = torch.compile(model)\nprint(timeit.timeit(lambda: opt(*inputs), number=3))\n",
    f"{NET}opt = torch.compile(model)\nprint(benchmark.Timer('opt(x)', globals=globals()).timeit(3))\n",
    f"{NET}class Task:\n    def run(self):\n        self.go = torch.compile(model)\n        self.go(1)\nTask().run()\n",
]
MODELS = [
    NET,
    f"{NET}class Fitted:\n    def fit(self):\n        return 1\nfitted = Fitted()\nfitted.fit()\n",
    f"{NET}class Fitted:\n    def __init__(self):\n        self.fit(4)\n    def fit(self, n): ...\nFitted()\n",
    "from models import *\n",
    "from a import model, inputs\n",
    "model, inputs = build()\n",
    "def f(:\n",
    "model = net()\n",
    "inputs = 1\ndef net(x): ...\n",
    f"{NET}print(model(*inputs))\n",
    f"{NET}if __name__ == '__main__':\n    print(model(*inputs))\n",
    f"{NET}import re\nword = re.compile('x')\nprint(word.match('x'), model(*inputs))\n",
    f"{NET}model = torch.compile(model)\nmodel.eval()\n",
    f"{NET}model.block = torch.compile(model.block)\n",
    "import torch\n@torch.compile\ndef model(x): ...\ninputs = (1,)\n",
    "import torch\ng = torch.compile(h)\nmodel = lambda x: g(x)\ninputs = (1,)\n",
    "import torch\ndef wrap(m):\n    return lambda x: m(x)\n\nmodel = wrap(torch.compile(f))\ninputs = (1,)\n",
    "import torch\n@torch.compile\ndef model(x): ...\ndef calls():\n    model(1).backward()\n    yield (1,)\n",
    "if large:\n    inputs = 1\nelse:\n    inputs = 2\ndef model(x): ...\n",
    "import triton\n@triton.jit\ndef k(x): ...\ndef model(x):\n    k[(1,)](x)\ninputs = (1,)\nprint(model(1))\n",
]


@pytest.mark.parametrize("code", SCRIPTS)
def test_a_file_that_calls_what_it_compiles_is_a_script(code: str) -> None:
    assert file_kind(code).is_script


@pytest.mark.parametrize("code", MODELS)
def test_a_file_that_only_defines_a_model_and_its_inputs_is_a_models(code: str) -> None:
    assert not file_kind(code).is_script


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (NET, "`model` in line 2 and `inputs` in line 3 are a model and its inputs"),
        (f"{NET}opt = torch.compile(model)\nopt(1)\n", "`opt(1)` in line 5 calls compiled code"),
        (f"{NET}\nloss(1).backward()\n", "`loss(1).backward()` in line 5 runs a backward"),
        ("model = 1\n", "`model` in line 1 belongs to a model, and the file does nothing else"),
        ("print(1)\n", "it defines no `model` by a plain statement at module level"),
    ],
)
def test_the_reason_names_the_line_that_decided(code: str, reason: str) -> None:
    assert file_kind(code).reason == reason


def test_a_model_whose_job_has_the_inputs_is_no_script() -> None:
    code = "import torch\nmodel = torch.compile(net)\nmodel(1).backward()\n"
    assert (file_kind(code).is_script, file_kind(code, has_calls=True).is_script) == (True, False)


def test_each_sample_and_each_exercise_is_a_models_file() -> None:
    paths = [sample.path for sample in samples()] + [
        ROOT / "docs/seeds/simple_model.py",
        ROOT / "docs/seeds/mlp_phases.py",
    ]
    codes = {path.name: path.read_text(encoding="utf-8") for path in map(Path, paths)}
    codes |= {exercise.name: exercise.code for exercise in EXERCISES}
    assert [name for name, code in codes.items() if file_kind(code).is_script] == []
