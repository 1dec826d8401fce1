"""`torch.compile(backend="accelerator")` in runs, and `python -m core pipeline`."""

import json
import subprocess
from pathlib import Path

import pytest

from core import CompileOptions
from core.accelerator import library
from core.accelerator.library import checksum
from core.accelerator.program.file import read_program
from core.accelerator.program.program import Opcode
from core.analysis.pipeline import pipelines
from core.analysis.results import results
from core.base.words import bytes_
from tests.support.homes import CACHE
from tests.support.plain_reader import plain_facts
from tests.support.user_code import RunCode, ended, records

pytestmark = pytest.mark.torch
ACCELERATOR = CompileOptions(backend="accelerator")
CODE = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)
    def forward(self, x):
        return self.down(self.up(x).relu().cumsum(-1)).softmax(-1)
model = Model()
calls = [torch.randn(n, 8) for n in (4, 5, 6)]
"""


@pytest.mark.long
def test_a_training_run_with_several_batches_is_recorded_and_equal_to_eager(run_code: RunCode) -> None:
    run = run_code(CODE, compile=ACCELERATOR, training=True, measure=False)
    assert ended(run)[0] == "done", run.output_tail()
    report = records(run)
    found = results(report)
    assert found is not None
    assert found.outcome == "same"
    (_, forward), (_, backward) = pipelines(report)[:2]
    assert (forward.direction, backward.direction) == ("forward", "backward")
    assert forward.order == ("segment_0", "cumsum", "segment_1")
    assert {(item.node, item.reason) for item in forward.refusals} >= {
        ("cumsum", "no kernel for aten.cumsum.default"),
    }
    dynamic = [item for _, item in pipelines(report) if any(segment.dynamic for segment in item.segments)]
    assert {item.direction for item in dynamic} == {"forward", "backward"}
    assert [dict(item.fallbacks) for item in report.crossings] == [{}] * len(report.crossings)
    assert {item.calls for item in report.crossings} == {1, 2}
    for _, item in pipelines(report):
        for segment in item.segments:
            file = (run.path / "programs" / segment.file).read_bytes()
            program = read_program(file, checksum)
            assert (segment.file_bytes, len(segment.entries)) == (len(file), len(program.instructions))
            assert segment.arena_bytes == program.arena_bytes


@pytest.mark.usefixtures("commands_here")
def test_a_file_of_the_command_line_runs_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.commands.main import main
    from tests.support.homes import link_cache

    link_cache(tmp_path / "home", CACHE)
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    out = tmp_path / "mlp.cbp"
    with (tmp_path / "told.json").open("w") as told, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", told)
        assert main(["pipeline", "mlp", "--no-measure", "--out", str(out), "--json"]) == 0
    said = json.loads((tmp_path / "told.json").read_text())
    (segment,) = said["pipelines"][0]["segments"]
    assert said["sentence"].startswith("8 of 8 ops in 1 segment on the accelerator: 5 program entries, 1.60 MB")
    assert said["pipelines"][0]["frozen"] == 6
    assert (segment["input_bytes"], segment["output_bytes"]) == (64 * 256 * 4, 64 * 10 * 4)
    program = read_program(out.read_bytes(), checksum)
    assert [item.op.name for item in program.instructions] == ["ARGUMENT", *["PRODUCT"] * 3, "RESULT"]
    facts = plain_facts(out.read_bytes())
    assert (facts.bytes, len(facts.ops), facts.inputs) == (len(out.read_bytes()), len(segment["entries"]), 1)
    assert (facts.arena_bytes, facts.constant_bytes) == (segment["arena_bytes"], segment["constant_bytes"])
    assert f"{len(facts.ops)} program entries, {bytes_(facts.bytes)}, equal to eager" in said["sentence"]
    assert [entry["op"] for entry in segment["entries"]] == [item.op.name.lower() for item in program.instructions]
    assert Opcode.VIEW not in {item.op for item in program.instructions}
    command = [str(library.program("cb_run")), str(out), f"{out}.inputs", "--expect", f"{out}.expected"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("as expected")) == (0, 1)
