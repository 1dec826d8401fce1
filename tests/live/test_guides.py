"""Each guide's example is carried out: its own code, put where the guide says, does what the guide says."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from core import (
    CompileJob,
    CompileOptions,
    JobError,
    Model,
    build_report,
    from_json,
)
from core.runs.permission import allowed
from core.trace.parsers import dynamo
from core.trace.parsers.table import PARSERS
from tests.support.copy import Copy
from tests.support.documents import blocks, inline
from tests.support.places import ROOT, TRACES

GUIDES = {path.stem: f"docs/{path.name}" for path in (ROOT / "docs").glob("adding-*.md")}


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """The project, to be changed."""
    return Copy(tmp_path)


def code(guide: str, language: str = "python") -> list[str]:
    return blocks(GUIDES[guide], language)


def said(guide: str, start: str) -> str:
    return inline(GUIDES[guide], start)


def executed(block: str, known: dict[str, Any]) -> dict[str, Any]:
    """The names of a file with a block at its end."""
    names = dict(known)
    exec(compile(block, "a guide's example", "exec"), names)
    return names


def test_every_guide_is_carried_out_here_and_named_where_contributors_look() -> None:
    # A law carries the guide of engines out: its table is that of the protocol's methods.
    files = (*Path(__file__).parent.glob("test_*guides.py"), ROOT / "tests" / "house" / "test_engine.py")
    here = "".join(path.read_text(encoding="utf-8") for path in files)
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert {
        guide for guide in GUIDES if not re.search(rf'["/]{guide}', here) or GUIDES[guide] not in contributing
    } == set()


RECORD = """
from pathlib import Path
from core import build_report, from_json, to_json
from core.trace.parsers import table, worker
from core.worker.record import emit, start_trace
from core.report import ResidentMemory
from docs.make import report_schema, trace_records

start_trace(Path("trace"))
for index, size in enumerate((4096, 0)):
    {emit}
(log,) = Path("trace").glob("*.log")
report = build_report(log, strict=True)
assert from_json(to_json(report)) == report
print(report.resident_memory)
table.PARSERS["artifact:compileboard_resident_memory"] = table.typed_parser(ResidentMemory, worker.resident_memory)
print(build_report(log, strict=True).resident_memory)
print("compileboard_resident_memory" in trace_records.tables(), "`resident_memory`" in report_schema.tables())
"""


@pytest.mark.torch
def test_a_record_goes_from_the_worker_to_the_report(copy: Copy) -> None:
    value, parser = code("adding-a-record")
    copy.add("core/report/run.py", value)
    copy.put(
        "core/report/__init__.py", "from core.report.run import ResidentMemory\n", before="from core.report.run import"
    )
    copy.put(
        "core/report/model.py", "from core.report.run import ResidentMemory\n", before="from core.report.run import"
    )
    field = said("adding-a-record", "resident_memory: tuple")
    copy.put("core/report/model.py", f"    {field}\n", before="    counters: Counters | None")
    copy.put(
        "core/report/records/__init__.py",
        "from core.report import ResidentMemory\n",
        before="from core.report.places import",
    )
    line = said("adding-a-record", '"resident_memory": Resident')
    copy.put("core/report/records/__init__.py", f"    {line},\n", before='    "timing": ')
    copy.add("core/trace/parsers/worker.py", f"from core.report import ResidentMemory\n{parser}")
    assert copy.run(RECORD.format(emit=said("adding-a-record", "emit("))).splitlines() == [
        "(ResidentMemory(call=0, resident_bytes=4096), ResidentMemory(call=1, resident_bytes=0))",
        "(ResidentMemory(call=0, resident_bytes=4096),)",
        "True True",
    ]


def test_a_parser_reads_its_kind_of_record(monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = code("adding-a-parser")
    monkeypatch.setitem(PARSERS, "dynamo_start", executed(example, vars(dynamo))["dynamo_start"])
    folder = TRACES / "recompile_zoo"
    stacks = [found.stack for found in build_report(folder / "trace.log", strict=True).compilations]
    assert all(stacks)
    assert stacks == [found.stack for found in from_json((folder / "report.json").read_bytes()).compilations]


PAGE = """
import os
from pathlib import Path
from pages import menu
from tests.support.apps import assert_sound, component, keys, opened, titles
from tests.support.homes import add_scenario

home = Path(os.environ["COMPILEBOARD_HOME"])

"""
SYMBOLS = """
from core.commands.main import main as command_main
for name in ("dynamic_batch", "transformer_block"):
    app = opened(menu.SYMBOLS.script, add_scenario(home, name))
    assert_sound(app)
    print(titles(app), [list(found.value) for found in app.dataframe])
    print(command_main(["report", app.query_params["run"], "--page", "symbols"]))
"""


# The laws that a new page can break.
LAWS = tuple(f"test_{law}.py" for law in ("layers", "screen_layers", "length", "fields"))


@pytest.mark.long
def test_a_page_opens_once_it_is_in_the_menu(copy: Copy) -> None:
    view, script = code("adding-a-page")
    copy.write("core/views/symbols.py", view)
    copy.write("pages/dynamo/symbols.py", script)
    line = said("adding-a-page", '"symbols": ')
    copy.put("core/commands/report.py", f"    {line},\n", before='    "vllm": ')
    copy.put("pages/menu.py", said("adding-a-page", "SYMBOLS = ") + "\n", before="COMPILE_TIME = ")
    copy.put("pages/menu.py", "SYMBOLS, ", before="DYNAMIC_SHAPES)),")
    assert copy.run(PAGE + SYMBOLS).splitlines() == [
        "['1 dynamic size'] [['symbol', 'range']]",
        *("1 dynamic size", "", "symbol    range", "--------  -----------", "s33       [2, int_oo]", "", "0"),
        "['No dynamic size was recorded for this compilation'] []",
        *("No dynamic size was recorded for this compilation", "0"),
    ]
    command = said("adding-a-page", "make screens")
    assert command == 'make screens ARGS="dynamo/symbols.py"'
    copy.write("pyproject.toml", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    copy.module("tests.screens", "dynamo/symbols.py")
    files = (*(f"tests/house/{law}" for law in LAWS), "tests/pages/test_pages.py")
    copy.module("pytest", "-q", "-n0", "-k", " or ".join(("symbols.py", *LAWS)), *files)
    copy.module("pytest", "-q", "-n0", "-k", "symbols-", "tests/pages/test_block_pages.py")


SAMPLE = """
from pathlib import Path
from core import CompileJob, Model, samples
from core.worker.load import ModelCopy

found = next(one for one in samples() if one.name == "softplus")
print(found.title, found.group, sep=", ")
twin = ModelCopy(found.path, CompileJob(Model("sample", "softplus")), "softplus")
for args, kwargs in twin.calls():
    print(tuple(twin.model(*args, **kwargs).shape))
"""


@pytest.mark.torch
def test_a_sample_is_in_the_gallery_and_can_be_called(copy: Copy) -> None:
    (sample,) = code("adding-a-sample")
    copy.write("core/samples/softplus.py", sample)
    copy.put("core/job/gallery.toml", '  "softplus",\n', before='  "attention_by_hand",')
    assert copy.run(SAMPLE).splitlines() == ["Softplus by hand, Fusion", "(512, 512)"]


EXERCISE = """
from core.commands.main import main

for file in ("core/samples/exercises/python_maximum.py", "solved.py"):
    print(main(["exercises", "python_maximum", file]))
"""


@pytest.mark.long
@pytest.mark.torch
def test_an_exercise_fails_as_it_is_and_its_solution_passes(copy: Copy) -> None:
    (file,), (row,) = code("adding-an-exercise"), code("adding-an-exercise", "toml")
    copy.write("core/samples/exercises/python_maximum.py", file)
    copy.put("core/job/gallery.toml", f"{row}\n", before='[[exercises]]\nname = "print_inside"')
    copy.write("solved.py", file.replace("max(y.tolist())", "y.amax()"))
    lines = copy.run(EXERCISE).splitlines()
    assert lines[0] == "Not yet: 1 of 3 checks failed."
    assert [line.split("  ")[0] for line in lines[1:4]] == ["passed", "passed", "failed"]
    assert lines[3].startswith("failed  1 graph break. The first at line 12: ")
    assert lines[-6:-4] == ["4", "Solved."]
    assert lines[-1] == "0"


TARGET = """
from core import CompileJob, Model, job_from_json, job_to_json
from docs.make.targets import table

job = CompileJob(Model("sample", "mlp"), target="h20")
assert job_from_json(job_to_json(job)) == job
print("| `h20` | NVIDIA H20 | `cuda:sm_90` | 78 |" in table())
"""


def test_a_target_is_in_the_table_and_a_job_may_name_it(copy: Copy) -> None:
    (entry,) = code("adding-a-target", "toml")
    copy.put("core/job/targets.toml", f"{entry}\n", before="[targets.a100]")
    assert copy.run(TARGET) == "True\n"


OVERLAY = """
app = opened(menu.FX_GRAPH.script, add_scenario(home, "transformer_block"))
assert_sound(app)
(graph,) = (component(app, key) for key in keys(app) if "overlays" in component(app, key))
(found,) = (one for one in graph["overlays"] if one["name"] == "rank")
print(found["title"], sorted(one["name"] for one in found["categories"]))
"""


def test_an_overlay_is_sent_with_every_graph(copy: Copy) -> None:
    field, line = code("adding-an-overlay")
    copy.put("core/graph/modules.py", textwrap.indent(field, " " * 4), before="\n\ndef line_words")
    filled = said("adding-an-overlay", "rank=")
    copy.put("core/graph/fx.py", f", {filled}", before=")\n\n    def _node(")
    copy.put("core/graph/overlays.py", f"        {line.strip()},\n", before='        number("bytes"')
    assert copy.run(PAGE + OVERLAY) == "dimensions ['3-D', '4-D', '5-D']\n"


TOOL = """
from dataclasses import replace
from core import Run, open_report
from core.base.errors import ToolError
from core.runs.tools.tasks import Traffic
from core.runs.tools.tasks import create, read_task, result, task_for, tool_run
from core.worker.kernel_tools import run_tool

for name in ("target_h100", "transformer_block"):
    run = Run("run", home / "runs" / add_scenario(home, name))
    compilation = open_report(run).compilations[0]
    request = Traffic(next(kernel.id for kernel in compilation.kernels if not kernel.extern))
    try:
        assert create(run, task_for(run, request))
    except ToolError as error:
        print(str(error).partition("is no")[2])
        continue
    tool = tool_run(run, request)
    run_tool(tool, read_task(tool))
    tool.write_status(replace(tool.status(), state="done", handle=""))
    print(result(run, request))
"""


@pytest.mark.long
@pytest.mark.torch
def test_a_tool_is_asked_and_answers(copy: Copy) -> None:
    question, answer, tool = code("adding-a-tool")
    copy.put("core/runs/tools/tasks.py", question, before="\nRequest = ")
    copy.put("core/runs/tools/tasks.py", " | Traffic", before="\n\n\ndef digest")
    copy.put("core/runs/tools/tasks.py", answer, before="\nAnswer = ")
    copy.add("core/runs/tools/tasks.py", "Answer |= TrafficAnswer\n")
    copy.put("core/runs/tools/tasks.py", ", Traffic", before=')) and kernel.language != "triton"')
    copy.write("core/worker/kernel_tools/traffic.py", tool)
    names = "from core.runs.tools.tasks import Traffic\nfrom core.worker.kernel_tools.traffic import traffic\n"
    copy.put("core/worker/kernel_tools/__init__.py", names, before="from core.worker.run ")
    line = said("adding-a-tool", "Traffic: traffic")
    copy.put("core/worker/kernel_tools/__init__.py", f"    {line},\n", before="    Ladder: ladder")
    assert copy.run(PAGE + TOOL).splitlines() == [
        "TrafficAnswer(loads=3, stores=3)",
        " Triton kernel, so it has no such rungs; see its assembly",
    ]


COMPONENT = """
from streamlit.testing.v1 import AppTest
from docs.make import wire_types
from tests.support.apps import assert_sound, component, picked_in

wire_types.main()
print("export interface NamesData {" in wire_types.FILE.read_text())
app = AppTest.from_string(
    "from functools import partial\\n"
    "import streamlit as st\\n"
    "from pages.components.names.view import names\\n"
    "from pages.session.url import press, taken\\n"
    "names(('relu', 'mul'), key='names', on_pick=partial(press, 'names'))\\n"
    "st.text(taken('names'))"
).run()
for picked in (None, "mul", "div"):
    assert_sound(picked_in(app, "names", "picked", picked))
    print(component(app, "names"), app.text[0].value)
"""


def test_a_component_is_sent_its_message_and_gives_the_choice(copy: Copy) -> None:
    for name, language in (("view.py", "python"), ("view.js", "js"), ("view.css", "css")):
        (text,) = code("adding-a-component", language)
        copy.write(f"pages/components/names/{name}", text)
    names = "from pages.components.names.view import NamesData\n"
    copy.put("docs/make/wire_types.py", names, before="from pages.components.progress")
    copy.put("docs/make/wire_types.py", "    NamesData,\n", before="    ProgressData,")
    sent = "{'names': ['relu', 'mul']}"
    assert copy.run(COMPONENT).splitlines() == ["True", f"{sent} None", f"{sent} mul", f"{sent} None"]


@pytest.mark.parametrize("target", ["", "h100"])
def test_a_backend_of_ones_own_is_not_for_visitors_and_not_for_targets(target: str) -> None:
    job = CompileJob(Model("sample", "mlp"), compile=CompileOptions(backend="counting"), target=target)
    with pytest.raises(JobError) as error:
        allowed(job)
    assert error.value.field == "compile.backend"
