"""An error of each phase names the phase, the line and what eager does, on models that no rule was written for."""

import pytest

from core.analysis.dynamo.failures import Phase, failed_phase, failures
from core.analysis.verdict import verdict
from core.runs.stored import open_report
from core.views.verdict import sentence
from tests.support.user_code import RunCode

pytestmark = pytest.mark.torch

LOWERED = """
from torch._inductor.lowering import register_lowering
def lower(x):
    raise NotImplementedError("no code for erfinv")
register_lowering(torch.ops.aten.erfinv.default)(lower)
def model(x):
    y = x * 0.5
    return torch.erfinv(y) + 1
inputs = (torch.ones(4),)
"""
NOT_FUNCTIONAL = """
lib = torch.library.Library("phases", "FRAGMENT")
if not hasattr(torch.ops.phases, "leak"):
    def refuse(x):
        raise RuntimeError("leak has no functional form")
    lib.define("leak(Tensor x) -> Tensor")
    lib.impl("leak", torch.clone, "CPU")
    lib.impl("leak", torch.empty_like, "Meta")
    lib.impl("leak", refuse, "Functionalize")
def model(x):
    y = x + 1
    return torch.ops.phases.leak(y) * 2
inputs = (torch.ones(4),)
"""
OTHER_DTYPES = """
def model(x):
    return torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.to(torch.float64), (x,))
inputs = (torch.ones(4),)
"""
WRONG_FAKE = """
@torch.library.custom_op("phases::turn", mutates_args=())
def turn(x: torch.Tensor) -> torch.Tensor:
    return x.t().clone(memory_format=torch.preserve_format)
@turn.register_fake
def _(x):
    return x.new_empty(x.shape[1], x.shape[0])
def model(x):
    return turn(x.cos()) + 1
inputs = (torch.ones(3, 4),)
"""
EAGER_FAILS = "def model(x):\n    return x @ torch.ones(3)\ninputs = (torch.ones(4),)\n"


@pytest.mark.parametrize(
    ("code", "phase", "line", "raises"),
    [
        (LOWERED, "Inductor", 9, False),
        (NOT_FUNCTIONAL, "AOTAutograd", 13, False),
        (OTHER_DTYPES, "capture", 4, True),
        (WRONG_FAKE, "run time", None, False),
        (EAGER_FAILS, "eager", 3, None),
    ],
    ids=["lowering", "functionalization", "cond compiles itself", "wrong fake kernel", "eager"],
)
def test_an_error_has_its_phase_and_its_line(
    run_code: RunCode, code: str, phase: Phase, line: int | None, raises: bool | None
) -> None:
    report = open_report(run_code(f"import torch\n{code}", measure=False))
    assert report.error is not None
    assert (failed_phase(report), report.error.eager_raises) == (phase, raises)
    assert (report.error.frames[-1].line if report.error.frames else None) == line
    assert all(failure.place.line == line for failure in failures(report))
    assert (f"failed on line {line} of your code: " in sentence(verdict(report))) is (line is not None)
