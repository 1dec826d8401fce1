"""Code without a model is a script, and a notebook is one, too."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, Conditions, JobError, Model
from core.job import validated
from core.job.notebook import script_of
from core.job.prepared import is_script, measured_again, prepared

SCRIPT = "import torch\n\n@torch.compile\ndef f(x):\n    return x + 1\n\nprint(f(torch.ones(2)))\n"


@pytest.mark.parametrize(
    "code",
    [
        SCRIPT,
        "def build():\n    model = 1\n    return model\n",
        "[model for model in (1, 2)]\nprint(lambda inputs: inputs)\n",
        "import torch.nn as nn\nif True:\n    net = nn.Linear(2, 2)\n",
        "",
    ],
)
def test_code_that_binds_no_model_is_a_script(code: str) -> None:
    assert is_script(code)


@pytest.mark.parametrize(
    "code",
    [
        "model = 1\n",
        "class model: ...\n",
        "def model(x):\n    return x\n",
        "from a import model\n",
        "import a.b as model\n",
        "from models import *\n",
        "if True:\n    inputs = (1,)\n",
        "for calls in (1,):\n    pass\n",
        "with open('x') as model:\n    pass\n",
        "print(model := 1)\n",
        "def build():\n    global model\n    model = 1\n",
        "training = True\n",
        "def f(:\n",
    ],
)
def test_code_that_may_bind_a_model_or_its_inputs_is_none(code: str) -> None:
    assert not is_script(code)


@pytest.mark.parametrize(
    "compiling", ["opt = torch.compile(model)", "model.compile()", "@torch.compile\ndef f(x): ..."]
)
def test_a_script_may_have_a_model_that_it_compiles_itself(compiling: str) -> None:
    code = f"import torch\nmodel = torch.nn.Linear(2, 2)\n{compiling}\n"
    assert is_script(code)
    assert not is_script(code, has_calls=True), "the job gives the model its inputs"
    assert not is_script(f"{code}inputs = (torch.ones(2, 2),)\n")
    assert not is_script("import re\nmodel = re.compile('x')\n")


def test_a_scripts_job_makes_no_calls_of_its_own(tmp_path: Path) -> None:
    job, code = prepared(CompileJob(Model("code", SCRIPT), arguments=("--epochs", "2")))
    assert (job.model.is_script, job.arguments, job.measure, code) == (True, ("--epochs", "2"), False, SCRIPT)
    assert prepared(job) == (job, code)
    assert job.title() == "pasted script"
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    assert prepared(CompileJob(Model("file", str(path))))[0].title() == "train.py"
    named = prepared(CompileJob(Model("file", str(path), "f")))[0]
    assert (named.model.is_script, named.title()) == (False, "train.py:f")


@pytest.mark.parametrize(
    ("job", "field"),
    [
        (CompileJob(Model("code", SCRIPT), calls=("f32[2]",)), "calls"),
        (CompileJob(Model("code", SCRIPT), compile=CompileOptions(mode="lite")), "compile"),
        (CompileJob(Model("code", SCRIPT), target="h100"), "target"),
        (CompileJob(Model("code", SCRIPT), numerics="results"), "numerics"),
        (CompileJob(Model("code", SCRIPT), conditions=Conditions(stance="force_eager")), "conditions.stance"),
        (CompileJob(Model("sample", "mlp"), arguments=("1",)), "arguments"),
        (CompileJob(Model("sample", "mlp", "")), "model.name"),
    ],
)
def test_settings_of_a_model_are_refused_for_a_script(job: CompileJob, field: str) -> None:
    with pytest.raises(JobError) as error:
        prepared(job)
    assert error.value.field == field


def test_threads_and_dynamos_settings_apply_to_a_script_and_nothing_is_measured_again() -> None:
    conditions = Conditions(threads=1, dynamo={"recompile_limit": 2}, caches="cold")
    job, _ = prepared(CompileJob(Model("code", SCRIPT), conditions=conditions, logs=("guards",)))
    assert (job.conditions, job.logs) == (conditions, ("guards",))
    with pytest.raises(JobError, match="run as it is"):
        measured_again(job)


def notebook(*cells: object) -> bytes:
    return json.dumps({"cells": [*cells], "nbformat": 4, "metadata": {}}).encode()


def cell(source: object, kind: str = "code") -> dict[str, object]:
    return {"cell_type": kind, "source": source, "outputs": [{"data": "x"}], "metadata": {}}


def test_a_notebooks_cells_are_a_script_that_prints_the_value_of_each_last_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = notebook(
        cell(["%matplotlib inline\n", "x = 1\n", "x +\\\n", "  1"]),
        cell("# Words", "markdown"),
        cell("!pip install torch\nfor i in range(2):\n    %timeit i\nx * 3;"),
        cell("%%bash\nls"),
        cell("text = (3\n  % 2)\nprint('''\n!kept\n%d''' % text)"),
        cell("'é', None"),
        cell("None"),
        cell("def f(:"),
        cell(""),
    )
    text = script_of(data)
    assert [line for line in text.splitlines() if line.startswith("# %%")] == [f"# %% cell {n}" for n in range(1, 9)]
    assert "pass  # !pip install torch" in text
    exec(compile(text.replace("def f(:", ""), "notebook", "exec"), {})
    assert capsys.readouterr().out == "2\n\n!kept\n1\n('é', None)\n"


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"cells": [1]}', b'{"cells": [{"cell_type": "code"}]}'])
def test_what_is_no_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(JobError, match="this is no notebook"):
        script_of(data)


def test_a_script_and_code_for_a_target_have_no_profile() -> None:
    script, target = CompileJob(Model("file", "run.py", "")), CompileJob(Model("sample", "mlp"), target="h100")
    with pytest.raises(JobError, match="use torch.profiler in it"):
        validated(replace(script, profile=True))
    with pytest.raises(JobError, match="does not run, so it has no profile"):
        validated(replace(target, profile=True))
