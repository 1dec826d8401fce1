"""A repaired run compiles the repaired code, and is held against the code as it was, run eagerly."""

from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, LocalEngine, Model, Run, Runner, Store, open_report
from core.analysis.results import results, results_words

pytestmark = pytest.mark.torch

EAGER = CompileOptions(backend="eager")
HEAD = "import torch\nfrom neighbour import SCALE\n\n\ndef model(x):\n"
REST = "\n\ninputs = (torch.ones(4, 8),)\n"


def repaired(engine: LocalEngine, home: Path, body: str, repair: str) -> Run:
    """A run of a file on the disk, which imports what lies beside it, with one repair."""
    (home / "neighbour.py").write_text("SCALE = 2\n")
    (home / "mine.py").write_text(HEAD + body + REST)
    runner = Runner(Store(home / "runs"), engine)
    model = Model("file", str(home / "mine.py"))
    return runner.wait(runner.submit(CompileJob(model, measure=False, compile=EAGER, repairs=((repair,),))))


def test_a_repair_with_the_same_results_is_reported_to_have_them(engine: LocalEngine, tmp_path: Path) -> None:
    run = repaired(engine, tmp_path, "    return x / (x.max().item() + SCALE)\n", "keep_tensor:6")
    report = open_report(run)
    assert (report.error, report.graph_breaks) == (None, ())
    found = results(report)
    assert found is not None
    assert found.outcome == "same"
    assert report.sources[0].path == str(run.model_path)


def test_a_repair_with_other_results_differs_from_the_code_as_it_was(engine: LocalEngine, tmp_path: Path) -> None:
    run = repaired(engine, tmp_path, "    return x, x.sum().item() // 1 * SCALE\n", "keep_tensor:6")
    assert run.status().state == "done"
    found = results(open_report(run))
    assert found is not None
    # Run eagerly, the repaired code would give the same as compiled.
    assert (found.outcome, results_words(found)) == ("differs", "output[1]: 64.0 in eager, a tensor in compiled")


COUNTER = (
    "class Block(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.seen = 0\n\n"
    "    def forward(self, x):\n        self.seen += 1\n        return x * self.seen\n\n\nmodel = Block()\n"
    "calls = [(torch.ones(4),), (torch.ones(4),)]\n"
)


def test_a_count_in_a_buffer_is_compared_with_the_attribute_that_it_was(engine: LocalEngine, tmp_path: Path) -> None:
    runner = Runner(Store(tmp_path), engine)
    model = Model("code", f"import torch\n{COUNTER}")
    job = CompileJob(model, measure=False, compile=EAGER, repairs=(("buffer_attribute:seen",),))
    report = open_report(runner.wait(runner.submit(job)))
    assert report.recompiles == ()
    rows = [(item.what, item.same) for call in report.calls for item in call.differences if "seen" in item.what]
    assert rows == [("attribute `seen`", True)] * 2
