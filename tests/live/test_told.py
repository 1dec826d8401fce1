"""What a run tells of errors in the user's code, of jobs that do not fit, and of results that differ."""

import pytest

from core import CompileOptions
from core.report import Frame
from tests.support.user_code import EAGER, INPUTS, RunCode, calling, ended, records

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("code", "type_", "stage", "frame"),
    [
        ("x = 1\ndef model(:\n", "SyntaxError", "loading the model", (2, "", "def model(:")),
        ("x = (\n", "SyntaxError", "loading the model", (1, "", "x = (")),
        ("import torch\nmodel = 1 / 0\n", "ZeroDivisionError", "loading the model", (2, "<module>", "model = 1 / 0")),
        (
            "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        raise KeyError('no')\nmodel = Model()\n",
            "KeyError", "loading the model", (5, "__init__", "raise KeyError('no')"),
        ),
        (calling("raise ValueError('no')"), "ValueError", "call 0: eager", (4, "model", "raise ValueError('no')")),
        (calling("sys.exit(0)"), "SystemExit", "call 0: eager", (4, "model", "sys.exit(0)")),
        (
            "import torch\nmodel = torch.nn.Linear(8, 8)\ndef calls():\n    yield torch.ones(2, 8)\n    raise "
            "OSError('gone')\n",
            "OSError", "making the inputs of call 1", (5, "calls", "raise OSError('gone')"),
        ),
    ],
)  # fmt: skip
def test_exception_is_reported_with_the_users_line(
    run_code: RunCode, code: str, type_: str, stage: str, frame: tuple[int, str, str]
) -> None:
    run = run_code(code, compile=EAGER)
    assert ended(run) == ("failed", "the run ended with an error")
    error = records(run).error
    assert error is not None
    assert (error.type, error.stage) == (type_, stage)
    line, name, text = frame
    assert error.frames[-1] == Frame(str(run.model_path), line, name, text)


@pytest.mark.parametrize(
    ("code", "fields", "field", "message"),
    [
        ("import torch\nnet = abs\ninputs = (1,)", {}, "model.name", "`model` is not defined in the file; it has net"),
        ("model = 3\ninputs = (1,)", {}, "model.name", "`model` is not callable in the file"),
        ("model = abs", {}, "model", "the file defines neither `inputs` nor `calls`"),
        (
            "model = abs\ninputs = (1,)",
            {"compile": CompileOptions(backend="fast")},
            "compile.backend",
            "no backend `fast`",
        ),
        ("model = abs\ninputs = (1,)", {"device": "xpu:7"}, "device", "`xpu:7` is not here; this machine has cpu"),
        (
            "import torch\nmodel = torch.sign\ninputs = (torch.ones(2, dtype=torch.int64),)",
            {"training": True},
            "training",
            "no output",
        ),
    ],
)
def test_job_that_does_not_fit_names_the_field(
    run_code: RunCode, code: str, fields: dict[str, object], field: str, message: str
) -> None:
    run = run_code(code, **{"compile": EAGER, **fields})
    error = records(run).error
    assert error is not None
    assert (run.status().state, error.type, error.field) == ("failed", "JobError", field)
    assert message in error.message


def test_inputs_that_do_not_fit_fail_with_torchs_own_words(run_code: RunCode) -> None:
    run = run_code("import torch\nmodel = torch.nn.Linear(8, 8)\n", compile=EAGER, calls=("f32[2, 8]", "f32[2, 9]"))
    report = records(run)
    assert report.error is not None
    assert (run.status().state, report.error.stage, len(report.calls)) == ("failed", "call 1: eager", 1)
    assert "mat1 and mat2 shapes cannot be multiplied" in report.error.message


def test_closed_standard_output_fails_in_torch_and_is_reported(run_code: RunCode) -> None:
    error = records(run_code(calling("sys.stdout.close()"), compile=EAGER)).error
    assert error is not None
    assert (error.stage, error.type, error.frames[-1].text) == (
        "call 0: compiled", "InternalTorchDynamoError", "sys.stdout.close()",
    )  # fmt: skip


def test_results_that_differ_are_reported(run_code: RunCode) -> None:
    code = "import torch\ndef model(x):\n    return x + (1 if torch.compiler.is_compiling() else 0)\n" + INPUTS
    call = records(run_code(code, compile=EAGER)).calls[0]
    assert [(item.what, item.same, item.max_abs) for item in call.differences] == [("output", False, 1.0)]
