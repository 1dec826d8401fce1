"""Wrong compiled results of every kind are found and named, right ones never blamed."""

import pytest

from core import CompileOptions, open_report
from core.analysis.results import difference_words, results
from core.job import Conditions
from tests.support.sample import one_in
from tests.support.user_code import RunCode

pytestmark = pytest.mark.torch

EAGER = CompileOptions(backend="eager")
# A model whose compiled form can be made to go wrong in one thing.
CODE = """
import torch
def wrong():
    return torch.compiler.is_compiling()
class Wide(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, {})
        self.register_buffer("seen", torch.zeros(3))
        self.calls = 0
    def forward(self, x):
        y = self.linear(x)
        {}
model = Wide()
def calls():
    torch.set_grad_enabled({})
    yield (torch.randn(8, 64),)
"""
COLUMN = "y = torch.cat([y[:, :1] {}, y[:, 1:]], 1)"


def told(
    run_code: RunCode, body: str, training: bool = False, grad: bool = False, width: int = 1_000, **fields: object
) -> list[str]:
    """What a run says of the model with that body: everything that differs or cannot be told."""
    code = CODE.format(width, body.replace("\n", "\n        "), training or grad)
    report = open_report(run_code(code, **{"training": training, "compile": EAGER, **fields}))
    assert (report.error, report.problems) == (None, ())
    found = results(report)
    assert found is not None
    return [difference_words(item) for item in (*found.differing, *found.untold)]


@pytest.mark.parametrize(
    ("body", "training", "words"),
    one_in(
        3,
        [
            ("if wrong(): y = y * 1.01\nreturn y", False, "output: 1.01 times eager's norm"),
            ("return y * 1e-5 * (0 if wrong() else 1)", False, "output: all zeros"),
            (
                "if wrong(): y = y.detach() + (y - y.detach()) * 3\nreturn y",
                True,
                "gradient of `linear.weight`: 3.00 times eager's norm",
            ),
            (
                "if wrong(): y = y.detach() + (y - y.detach()) * 0\nreturn y",
                True,
                "gradient of `linear.weight`: all zeros",
            ),
            ("return y.mean() * (3 if wrong() else 1)", True, "output: 3.00 times eager's norm"),
            (
                f"if wrong(): {COLUMN.format('* float(chr(110) + chr(97) + chr(110))')}\nreturn y",
                False,
                "output: 8 of 8,000 elements are NaN or infinite on one side alone",
            ),
            ("return y.double() if wrong() else y", False, "dtype of output: float32 in eager, float64 in compiled"),
            ("return y[:, 1:] if wrong() else y", False, "shape of output: [8, 1000] in eager, [8, 999] in compiled"),
            (
                "return y.t().contiguous().t() if wrong() else y",
                False,
                "strides of output: [1000, 1] in eager, [1, 8] in compiled",
            ),
            (
                "return x.view(-1).clone() if wrong() else x.view(-1)",
                False,
                "output: memory of input 0 in eager, memory of its own in compiled",
            ),
            (
                "z = y.view(-1)\nreturn y, z.clone() if wrong() else z",
                False,
                "output[1]: memory of output[0] in eager, memory of its own in compiled",
            ),
            ("if not wrong(): x.add_(100)\nreturn y", False, "input 0 was changed by eager and not by compiled"),
            ("if wrong(): x.add_(100)\nreturn y", False, "input 0 was changed by compiled and not by eager"),
            (
                "if not wrong(): self.seen.add_(1)\nreturn y",
                False,
                "buffer `seen` was changed by eager and not by compiled",
            ),
            (
                "if not wrong(): self.calls += 1\nreturn y",
                False,
                "attribute `calls` was changed by eager and not by compiled",
            ),
            (
                "if not wrong(): self.linear.bias.detach().add_(1)\nreturn y",
                False,
                "parameter `linear.bias` was changed by eager and not by compiled",
            ),
            ("return [y, x] if wrong() else (y, x)", False, "output: tuple of 2 in eager, list of 2 in compiled"),
            (
                "return {'z': y} if wrong() else {'a': y}",
                False,
                "output: dict of 'a' in eager, dict of 'z' in compiled",
            ),
            ("return y, 5 if wrong() else 7", False, "output[1]: 7 in eager, 5 in compiled"),
            ("return y, None if wrong() else 'b'", False, "output[1]: 'b' in eager, None in compiled"),
            ("return y.argmax(1) + (1 if wrong() else 0)", False, "output: 8 of 8 elements differ"),
            (
                "return (y * (3 if wrong() else 2)).masked_fill(y > 0, -1e9)",
                False,
                "output: 4,029 of 8,000 elements differ, by up to 0.500 of the magnitude around them",
            ),
            (
                "return (y * (3 if wrong() else 2)).masked_fill(y > 0, torch.finfo(y.dtype).min)",
                False,
                "output: 4,029 of 8,000 elements differ, by up to 0.500 of the magnitude around them",
            ),
            (
                "z = y.clone()\nz[0] = z[0] * (0 if wrong() else 1e-6)\nreturn z",
                False,
                "output: 1 of 8 rows is off by up to 1.00 of its norm",
            ),
        ],
    ),
)
def test_a_wrong_backend_is_found_and_what_is_wrong_is_named(
    run_code: RunCode, body: str, training: bool, words: str
) -> None:
    assert words in told(run_code, body, training)


@pytest.mark.long
def test_one_wrong_column_of_very_many_is_found(run_code: RunCode) -> None:
    body = f"if wrong(): {COLUMN.format('+ 1')}\nreturn y"
    assert told(run_code, body, width=50_000) == ["output: off by 0.00754 of eager's norm"]


def test_a_lost_gradient_is_found_before_any_backward(run_code: RunCode) -> None:
    assert told(run_code, "return y.detach() if wrong() else y", grad=True) == [
        "requires_grad of output: True in eager, False in compiled"
    ]


EVERYTHING = """
self.seen.add_(x.mean())
self.calls += 1
z = x * 2
x.mul_(2)
return {"same": x, "view": y.view(-1), "all": (y, z, None, 3, "a", z.sum().item()), "columns": y.t()}
"""


@pytest.mark.parametrize("backend", one_in(3, ["eager", "aot_eager", "inductor"]))
@pytest.mark.parametrize("training", [False, True])
def test_a_right_backend_is_not_blamed(run_code: RunCode, backend: str, training: bool) -> None:
    body = EVERYTHING if not training else EVERYTHING.replace("x.mul_(2)\n", "")
    assert told(run_code, body, training, compile=CompileOptions(backend=backend)) == []


SUBCLASS = """
import torch
class Own(torch.Tensor):
    pass
def model(x):
    return x * (3 if torch.compiler.is_compiling() else 2) if WRONG else x * 2
inputs = (torch.randn(64, 64).as_subclass(Own),)
"""


@pytest.mark.parametrize(("wrong", "outcome"), [(False, "same"), (True, "differs")])
def test_an_input_may_be_a_subclass_of_the_users_own_file(run_code: RunCode, wrong: bool, outcome: str) -> None:
    report = open_report(run_code(SUBCLASS.replace("WRONG", str(wrong)), compile=EAGER))
    found = results(report)
    assert report.error is None
    assert found is not None
    assert (found.outcome, found.compared) == (outcome, {"input": 1, "output": 1})


def test_a_gradient_that_is_nothing_but_rounding_is_not_blamed(run_code: RunCode) -> None:
    code = "import torch\nmodel = lambda x: x.sin() ** 2 + x.cos() ** 2\ninputs = (torch.randn(64, 64),)"
    found = results(open_report(run_code(code, training=True)))
    assert found is not None
    assert (found.outcome, found.compared) == ("same", {"input": 1, "output": 1, "gradient": 1})


DROPOUT = "return torch.nn.functional.dropout(y)"
DRAWN = (
    "output: the call draws random numbers, and compiled draws others than eager; with Inductor's option "
    "fallback_random=True both "
    "draw the same"
)


def test_random_numbers_of_inductor_are_not_comparable_and_the_reason_is_reported(run_code: RunCode) -> None:
    assert told(run_code, DROPOUT, compile=CompileOptions()) == [DRAWN]


NUMPY_DRAW = "import numpy\nreturn y + torch.from_numpy(numpy.random.randn(1000)).float()"
NUMPY_DRAWN = (
    "output: the call draws NumPy's random numbers, and compiled draws torch's instead; with "
    "torch._dynamo.config.use_numpy_random_stream=True both draw the same"
)


def test_numpy_random_numbers_are_compared_only_if_compiled_draws_from_numpy(run_code: RunCode) -> None:
    for chosen in (EAGER, CompileOptions(options={"fallback_random": True})):
        assert told(run_code, NUMPY_DRAW, compile=chosen) == [NUMPY_DRAWN]
    stream = Conditions(dynamo={"use_numpy_random_stream": True})
    assert told(run_code, NUMPY_DRAW, compile=EAGER, conditions=stream) == []
    wrong = f"y = y * (1.5 if wrong() else 1)\n{NUMPY_DRAW}"
    assert len(told(run_code, wrong, compile=EAGER, conditions=stream)) == 1


def test_random_numbers_are_compared_where_both_draw_the_same(run_code: RunCode) -> None:
    same = CompileOptions(options={"fallback_random": True})
    assert told(run_code, DROPOUT, compile=same) == []
    assert told(run_code, f"y = y * (1.5 if wrong() else 1)\n{DROPOUT}", compile=same) == [
        "output: 1.50 times eager's norm"
    ]


def test_an_eager_model_that_gives_another_result_each_time_is_not_comparable(run_code: RunCode) -> None:
    code = (
        "import os\nimport torch\ndef model(x):\n    return x * int.from_bytes(os.urandom(4), 'big')\ninputs = "
        "(torch.ones(4),)"
    )
    found = results(open_report(run_code(code, compile=EAGER)))
    assert found is not None
    assert [difference_words(item) for item in found.untold] == ["output: eager, too, gives another result each time"]


def test_weights_that_are_others_at_each_load_are_reported(run_code: RunCode) -> None:
    code = "import os\nimport torch\nmodel = torch.nn.Linear(4, 4)\nmodel.weight.data.fill_(os.urandom(1)[0])\n"
    found = results(open_report(run_code(code + "inputs = (torch.ones(4),)", compile=EAGER)))
    assert found is not None
    assert [difference_words(item) for item in found.untold] == [
        "output: the file makes another parameter `weight` each time it is loaded"
    ]


def test_numpys_and_pythons_random_numbers_are_the_same_for_both_copies(run_code: RunCode) -> None:
    code = "import random\nimport numpy\nimport torch\nweight = random.random() + numpy.random.rand()\n"
    found = results(
        open_report(run_code(code + "model = lambda x: x * weight\ninputs = (torch.ones(4),)", compile=EAGER))
    )
    assert found is not None
    assert found.outcome == "same"


@pytest.mark.parametrize("mode", ["no_grad()", "inference_mode()", "set_grad_enabled(False)"])
def test_a_call_runs_in_the_grad_mode_that_the_users_calls_set(run_code: RunCode, mode: str) -> None:
    code = (
        "import torch\nmodel = torch.nn.Linear(4, 4)\ndef calls():\n    yield torch.ones(2, 4)\n"
        f"    with torch.{mode}:\n        yield torch.ones(2, 4)\n    yield torch.ones(2, 4)\n"
    )
    report = open_report(run_code(code, compile=EAGER))
    assert [item.call for item in report.recompiles] == [1]
    assert "grad_mode" in report.recompiles[0].reason.lower()
    assert [item.same for call in report.calls for item in call.differences] == [True, True, True]


def test_a_calls_function_that_sets_no_mode_may_train_between_inferences(run_code: RunCode) -> None:
    code = (
        "import torch\nmodel = torch.nn.Linear(4, 4)\ndef calls():\n    for _ in range(2):\n"
        "        model(torch.ones(2, 4)).sum().backward()\n        yield torch.ones(2, 4)\n"
    )
    report = open_report(run_code(code, compile=EAGER))
    assert (report.error, report.recompiles) == (None, ())


BACKEND = """
import torch
from torch._dynamo import register_backend
@register_backend
def mine(graph, inputs):
    print("mine was called")
    return graph.forward
model = torch.sin
inputs = (torch.ones(4),)
"""


@pytest.mark.parametrize("backend", ["eager", "mine"])
def test_a_file_may_register_a_backend_and_it_can_be_chosen(run_code: RunCode, backend: str) -> None:
    run = run_code(BACKEND, compile=CompileOptions(backend=backend))
    assert (run.status().state, run.output_tail()) == ("done", "mine was called\n" if backend == "mine" else "")


@pytest.mark.parametrize("model", ["torch.compile(torch.sin, backend='aot_eager')", "torch.compile(torch.nn.ReLU())"])
def test_a_model_that_the_file_compiles_itself_is_reported(run_code: RunCode, model: str) -> None:
    run = run_code(f"import torch\nmodel = {model}\ninputs = (torch.ones(4),)", compile=EAGER)
    assert open_report(run).notes == (
        "The file calls torch.compile itself. The run used the backend, mode and options that it passes. "
        "Those of the job were not used: backend='eager'.",
    )
