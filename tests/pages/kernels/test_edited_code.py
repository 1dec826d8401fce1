"""*Edit and run* on the page of kernels: the generated code as a backend, run against Inductor's own."""

from pathlib import Path

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from core import CompileJob, CompileOptions
from core.views.run_files import edited_backend
from tests.support.apps import assert_sound, opened
from tests.support.homes import add_run, job_of
from tests.support.places import TRACES

NAME = "transformer_block"
OUTPUT_CODE = "call = 1\n\nif __name__ == '__main__':\n    print(call)\n"
RUNNABLE = "import os\nos.environ['A'] = '1'\ntorch._inductor.config.cpp.simdlen = 1\nclass Repro: pass\n"


def page(home: Path) -> AppTest:
    run = add_run(home, NAME, (TRACES / NAME / "trace.log").read_bytes(), job=job_of(NAME))
    app = opened("graphs/kernels.py", run.id)
    assert_sound(app)
    return app


def test_the_output_code_is_run_as_a_backend_against_the_run_s_own(
    empty_home: Path, submitted: list[CompileJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "1")
    app = page(empty_home)
    app.toggle("edit-generated").set_value(True).run()
    assert_sound(app)
    app.button("run-edited").click().run()
    (job,) = submitted
    own = msgspec.convert(job_of(NAME), CompileJob)
    assert (job.model, job.rival, job.measure) == (own.model, own.compile, True)
    assert job.compile == CompileOptions(backend="backend", backend_code=job.compile.backend_code)
    assert job.compile.backend_code.startswith('"""output_code.py of graph 0 of this run as a backend')
    assert "async_compile.wait(globals())" in job.compile.backend_code


def test_it_is_not_offered_where_no_code_may_be_brought(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    assert "edit-generated" not in [toggle.key for toggle in page(empty_home).toggle]


def test_what_sets_the_process_up_is_left_out() -> None:
    called = edited_backend("output_code.py", OUTPUT_CODE, 3)
    assert "__main__" not in called
    assert "if next(graphs) != 3:" in called
    lowered = edited_backend("fx_graph_runnable.py", RUNNABLE, 0)
    assert "os.environ" not in lowered
    assert "simdlen" not in lowered
    assert "class Repro: pass" in lowered
    for code in (called, lowered):
        compile(code, "backend.py", "exec")


def test_the_changes_are_shown(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "1")
    app = page(empty_home)
    app.toggle("edit-generated").set_value(True).run()
    assert "Your changes" not in [expander.label for expander in app.expander]
