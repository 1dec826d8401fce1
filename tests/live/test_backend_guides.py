"""The guides to backends are carried out: a backend of one's own is called, and an op is added to the accelerator."""

import re
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, Model
from core.job.prepared import prepared
from tests.support.copy import Copy
from tests.support.documents import blocks, inline
from tests.support.places import ROOT
from tests.support.user_code import RunCode, records

pytestmark = pytest.mark.torch
GUIDES = {name: f"docs/{name}.md" for name in ("adding-a-backend", "adding-an-op")}
UNITS = sorted(
    path.stem for path in (ROOT / "core" / "accelerator" / "runtime").glob("*.cpp") if not path.stem.startswith("cb_")
)
DEFINED = re.compile(r"^(?:constexpr )?[\w:]+ [*&]?(\w+)(?:\(| =)", re.M)


def code(guide: str, language: str = "python") -> list[str]:
    return blocks(GUIDES[guide], language)


def test_a_backend_of_the_models_file_is_called_as_the_file_says(run_code: RunCode) -> None:
    model, *_ = code("adding-a-backend")
    asked, _ = prepared(CompileJob(Model("code", model)))
    assert asked.compile == CompileOptions(backend="counting")
    assert run_code(model, compile=asked.compile).output_tail() == "6 nodes, 3 inputs\n"


def test_a_backend_of_a_separate_file_is_called_and_its_output_is_shown(run_code: RunCode) -> None:
    model, backend, aten, _ = code("adding-a-backend")
    report = records(run_code(model, compile=CompileOptions(backend="counted", backend_code=backend)))
    (table,) = report.told_tables
    assert (table.compilation, table.title, table.columns) == ("0/0", "Users", ("node", "users"))
    assert [count for _, count in table.rows] == [1, 1, 1, 1, 1, 0]
    assert [(text.title, text.language) for text in report.told_texts] == [("As it came", "python")]
    run = run_code(model, compile=CompileOptions(backend_code=aten, backend="backend"), training=True)
    ops = [
        "aten.t.default aten.addmm.default aten.relu.default",
        "aten.detach.default",
        "aten.threshold_backward.default",
    ]
    assert [op for op in ops if op not in run.output_tail()] == []


def test_where_sizes_change_a_backend_is_given_sizes_among_the_inputs_as_the_page_prints_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    import torch

    *_, sizes = code("adding-a-backend")
    (printed,) = code("adding-a-backend", "text")
    names: dict[str, object] = {}
    exec(sizes, names)
    torch._dynamo.reset()
    model = torch.compile(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()), backend=names["sizes_too"])
    for rows in (4, 6, 8):
        model(torch.randn(rows, 8))
    assert capsys.readouterr().out.splitlines() == printed.splitlines()


def whole(runtime: Path) -> str:
    """All units of the runtime as one, which is compiled in a third of the time; names that two have are told apart."""
    texts = {unit: (runtime / f"{unit}.cpp").read_text(encoding="utf-8") for unit in UNITS}
    found = Counter(name for text in texts.values() for name in set(DEFINED.findall(text)))
    twice = [name for name, count in found.items() if count > 1]

    def part(unit: str) -> list[str]:
        renamed = [f"#define {name} {name}_of_{unit}" for name in twice]
        return [*renamed, f'#include "{unit}.cpp"', *(f"#undef {name}" for name in twice)]

    return "\n".join(line for unit in UNITS for line in part(unit))


RUN = """
import os
from pathlib import Path
import torch
from torch.nn.functional import softplus
from core.accelerator import library
from core.accelerator.register import accelerating

os.environ["COMPILEBOARD_CACHE"] = str(Path("cache").absolute())
library.LIBRARY, library.ONCE = ("whole",), ("-O0",)
records, x = [], torch.linspace(-30, 30, 601)
with accelerating(records.append, Path("programs")):
    difference = torch.compile(softplus, backend="accelerator")(x) - softplus(x)
(segment,) = records[0].segments
refused = [refusal.op for refusal in records[0].refusals]
print(difference.abs().max().item() < 1e-6, refused, "log1p(" in segment.passes[0].text)
"""


@pytest.mark.long
def test_an_op_that_is_added_in_four_places_is_built_and_runs_equal_to_eager(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    (number,), op = code("adding-an-op"), inline(GUIDES["adding-an-op"], "aten.log1p.default")
    copy.put("core/accelerator/program/program.py", textwrap.indent(number, " " * 4), before="\n\nclass StorageKind")
    copy.add("core/accelerator/runtime/steps.def", *code("adding-an-op", "c"))
    (kernel,) = code("adding-an-op", "cpp")
    kernels = "core/accelerator/runtime/elementwise.cpp"
    copy.put(kernels, textwrap.indent(kernel, " " * 4), before="    case StepOp::WHERE:")
    copy.put("core/accelerator/lowering.py", f"    {op},\n", before="    aten.sqrt.default")
    copy.write("core/accelerator/runtime/whole.cpp", whole(tmp_path / "core" / "accelerator" / "runtime"))
    assert copy.run(RUN) == "True [] True\n"
