"""A rival: another call of torch.compile, made and timed in this process, of which nothing else tells."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch._logging._internal as torch_logging
from torch._dynamo.utils import counters

from core.job import CompileJob, CompileOptions, Model
from core.report import Alternative, Call

# Torch's own modules warn of each other while they are imported.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
CODE = "import torch\ndef model(x):\n    return x.sin() + 1\ninputs = (torch.ones(4),)\n"
JOB = CompileJob(
    Model("file", "model.py"), compile=CompileOptions(backend="eager"), rival=CompileOptions(backend="aot_eager")
)
MOST_S = 0.05


def rival_of(job: CompileJob, tmp_path: Path) -> tuple[Alternative, list[str]]:
    """What is told of a job's rival after its own calls, and the steps that were told meanwhile."""
    from core.worker.backends.selection import compiled_by
    from core.worker.calls import make_calls
    from core.worker.load import ModelCopy
    from core.worker.measuring.pairs import measure_alternative

    torch._dynamo.reset()
    path = tmp_path / "model.py"
    path.write_text(CODE)
    compiled = ModelCopy(path, job, "rival_test")
    function, own = compiled_by(job, compiled), list[Call]()
    last = make_calls(job, path, ModelCopy(path, job, "rival_eager"), compiled, function, lambda _: None, own.append)
    assert last is not None
    assert [call.how for call in own] == ["compiled"]
    counted, steps = dict(counters["stats"]), list[str]()
    handlers = list(torch_logging.trace_log.handlers)
    found = measure_alternative(job, (path, path), last[1], MOST_S, steps.append)
    assert dict(counters["stats"]) == counted
    assert torch_logging.trace_log.handlers == handlers
    return found, steps


def test_an_alternative_is_compiled_called_compared_and_timed_interleaved(tmp_path: Path) -> None:
    found, steps = rival_of(JOB, tmp_path)
    assert steps == ["compiling the rival", "measuring the rival"]
    assert found.times is not None
    assert (found.options["backend"], found.reason, found.times.threads) == ("aot_eager", "", torch.get_num_threads())
    (call,) = found.calls
    assert (call.how, [item.same for item in call.differences]) == ("compiled", [True])
    assert len(found.times.sides["compiled"]) == len(found.times.sides["alternative"]) > 0


def test_an_alternative_that_cannot_be_compiled_says_why(tmp_path: Path) -> None:
    found, steps = rival_of(replace(JOB, rival=CompileOptions(backend="no_such_backend")), tmp_path)
    assert steps == ["compiling the rival"]
    assert (found.calls, found.times) == ((), None)
    told = "JobError: compile.backend: no backend `no_such_backend`: it is not in the file, which has model; torch has "
    assert found.reason.startswith(told)


def test_an_unknown_backend_is_answered_with_a_similar_one(tmp_path: Path) -> None:
    found, _ = rival_of(replace(JOB, rival=CompileOptions(backend="aot_eagr")), tmp_path)
    assert found.reason.startswith(
        "JobError: compile.backend: no backend `aot_eagr` (did you mean `aot_eager`?): it is not"
    )


def test_an_alternative_of_the_same_name_is_a_backend_of_the_same_code(tmp_path: Path) -> None:
    from core.worker.backends.selection import write_code

    code = "def backend(graph, inputs):\n    return graph.forward\n"
    own = CompileOptions(backend="backend", backend_code=code)
    job = replace(JOB, compile=own, rival=CompileOptions(backend="backend", dynamic=True))
    write_code(job, tmp_path)
    found, _ = rival_of(job, tmp_path)
    assert (tmp_path / "backend.py").read_text() == code
    assert (found.reason, found.options["backend_code"], len(found.calls)) == ("", code, 1)
