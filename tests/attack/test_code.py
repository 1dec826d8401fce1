"""Native code on a server that does not run visitors' code: the ways that were found, and their neighbours."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from core import CompileboardError, CompileJob, CompileOptions, Model, Runner, Store, job_from_json, job_to_json
from core.runs.tools.tasks import Interpret
from pages import menu
from tests.support.browser import Server, go, settle
from tests.support.homes import add_scenario
from tests.support.places import APP, TRACES

SAMPLE = CompileJob(Model("sample", "mlp"))
FLAGS = "-include /data/runs/20260101-000000-x-0000/trace/opened.log"
EXPLOITS: dict[str, Any] = {
    "cpp.enable_floating_point_contract_flag": FLAGS,
    "cpp.cxx": ["sh", "/tmp/x.sh"],
    "cpp.march": f"native {FLAGS}",
    "cpp.descriptive_names": "x); system(1); (",
    "aot_inductor.custom_ops_to_c_shims": {"x": ["int f(){system(0);}"]},
    "aot_inductor.model_name_for_generated_files": "../../x",
    "cuda.cuda_cxx": "/tmp/nvcc",
    "halide.scheduler_cpu": "/tmp/x",
    "trace.debug_dir": "/any/path",
    "trace.enabled": True,
    "trace.upload_tar": "os.system",
    "profile_bandwidth_output": "/any/path",
    "worker_log_path": "/any/path",
    "post_grad_custom_pass": "os.system",
    "pre_grad_fusion_options": {"x": {}},
    "external_matmul": ["os.system"],
    "save_args": True,
    "global_cache_dir": "/any/path",
}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(Store(tmp_path), code_allowed=lambda: False)


@pytest.mark.attack("breach 1", "permission 4", "options of samples that carry flags, paths, functions")
@pytest.mark.parametrize("name", EXPLOITS)
def test_no_option_carries_flags_paths_or_functions(runner: Runner, name: str) -> None:
    value = EXPLOITS[name]
    with pytest.raises(CompileboardError):
        runner.submit(replace(SAMPLE, compile=CompileOptions(options={name: value})))
    assert list(runner.store.runs_dir.iterdir()) == []


@pytest.mark.promise("code")
@pytest.mark.attack("breach 1", "permission 4", "the same in a job as JSON")
@pytest.mark.parametrize("name", [name for name, value in EXPLOITS.items() if isinstance(value, (str, bool))])
def test_no_job_as_json_brings_it_either(runner: Runner, name: str) -> None:
    """Jobs are checked where they are submitted, so a job as JSON cannot carry compiler flags."""
    job = job_from_json(job_to_json(replace(SAMPLE, compile=CompileOptions(options={name: EXPLOITS[name]}))))
    with pytest.raises(CompileboardError):
        runner.submit(job)
    assert list(runner.store.runs_dir.iterdir()) == []


@pytest.mark.promise("code")
@pytest.mark.attack("breach 1", "permission 1", "`Generate for…` on a stored job with pasted code")
def test_a_stored_job_of_the_owners_gives_a_visitor_nothing(runner: Runner) -> None:
    """A visitor cannot run the code of the owner's stored job through `Generate for…`.

    `Generate for…` takes the job of a stored run: what its owner might do, a visitor may not.
    """
    mine = Runner(Store(runner.store.home)).store.create(replace(SAMPLE, model=Model("code", "import os\nmodel = abs")))
    job = mine.job()
    assert job is not None
    with pytest.raises(CompileboardError):
        runner.submit(replace(job, target="h100"))


@pytest.mark.promise("code")
@pytest.mark.attack("request 10", "request 12", "the tools on an uploaded log")
def test_the_tools_run_nothing_of_an_uploaded_log(runner: Runner) -> None:
    """Kernel tools execute nothing from an uploaded log where code is not allowed."""
    with (TRACES / "foreign" / "trace.log").open("rb") as file:
        run = runner.store.add_log("x.log", file)
    for request in (Interpret("k"), Interpret(code="import os")):
        with pytest.raises(CompileboardError):
            runner.start_tool(run, request)
    assert not (run.path / "tools").exists()


@pytest.mark.promise("code")
@pytest.mark.attack("permission 1", "permission 2", "states of widgets that are not drawn")
def test_forged_states_of_widgets_that_are_not_drawn_do_nothing(closed_pages: Path) -> None:
    """Forged states of widgets that are not on the page run no code and start no run."""
    run = add_scenario(closed_pages, "foreign")
    app = AppTest.from_file(APP, default_timeout=240)
    app.session_state["pasted-code"] = "import os"
    app.session_state["compile-code"] = True
    app.session_state["trust-" + run] = True
    app.session_state["interpret"] = "your code"
    app.session_state["interpret-code"] = "import os"
    app.query_params["run"] = run
    app.run()
    app.switch_page(menu.KERNEL.script).run()
    assert len(list((closed_pages / "runs").iterdir())) == 1
    assert not (closed_pages / "runs" / run / "tools").exists()


@pytest.mark.promise("code")
@pytest.mark.attack("breach 1", "permission 4", "the exploit typed into the options, in a browser")
@pytest.mark.browser
def test_the_exploit_typed_into_the_options_starts_nothing(closed: Server, page: Page) -> None:
    """Compiler flags typed into the options of a sample are refused, and no run starts."""
    before = set((closed.home / "runs").iterdir())
    go(page, closed.link("", sample="sin_cos"))
    page.get_by_role("dialog").locator("[data-testid='stExpander'] summary").first.click()
    field = page.get_by_label("options", exact=True)
    field.fill(f"cpp.enable_floating_point_contract_flag={FLAGS}")
    field.press("Enter")
    settle(page)
    page.locator(".st-key-compile-sample button").click()
    expect(page.get_by_text("this option is not open to visitors")).to_be_visible()
    assert set((closed.home / "runs").iterdir()) == before
