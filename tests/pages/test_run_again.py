"""From a run back to its form: what was asked stands there again, to be edited; a draft is not lost."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from core import CompileJob, CompileOptions, Conditions, Model
from core.job import FILE_SETTINGS, options_as_text, options_from_text
from core.job.prepared import prepared
from pages import menu
from pages.parts.run.launch import TEMPLATE
from tests.support.apps import OWN_CODE, assert_sound, component, elements, opened, words
from tests.support.homes import NOT_LOGS, add_run

CODE = "import torch\n\nmodel = torch.sin\ninputs = (torch.ones(3),)\n"
SAMPLE = CompileJob(
    Model("sample", "mlp"),
    calls=("f32[8, 64]", "f32[9, 64]"),
    training=True,
    compile=CompileOptions(dynamic=True, options={"max_autotune": True, "max_autotune_gemm_backends": "CPP,ATEN"}),
    dtype="bfloat16",
    seed=7,
    measure=False,
    time_limit_s=90.0,
    memory_limit_bytes=3 * 2**30,
)
JOBS = [
    SAMPLE,
    replace(SAMPLE, target="h100", compile=CompileOptions(mode="max-autotune", fullgraph=True)),
    CompileJob(Model("code", CODE, "net"), training=False, device="cuda"),
    replace(
        SAMPLE,
        conditions=Conditions(1, "fail_on_recompile", "", True, {"recompile_limit": 2, "verbose": True}, "warm"),
        sizes={"batch": 64, "mask.1": 3},
        marks=("0.0", "batch"),
        rival=CompileOptions(mode="max-autotune", fullgraph=True),
        memory=True,
        numerics="nodes",
    ),
    replace(SAMPLE, conditions=Conditions(force_backend="eager", caches="cold"), rival=CompileOptions()),
    replace(
        SAMPLE, compile=CompileOptions(backend="mine", backend_code="def mine(gm, example_inputs):\n    return gm\n")
    ),
    CompileJob(Model("file", "/home/me/model.py", "net"), training=False, compile=CompileOptions(backend="aot_eager")),
]


@pytest.fixture
def stored(empty_home: Path) -> Callable[[CompileJob], str]:
    def store(job: CompileJob) -> str:
        return add_run(empty_home, "run", NOT_LOGS["one record"], job=msgspec.to_builtins(job), kind="run").id

    return store


@pytest.mark.parametrize("job", JOBS)
def test_the_form_holds_what_the_run_was_asked(
    submitted: list[CompileJob], stored: Callable[[CompileJob], str], job: CompileJob
) -> None:
    app = opened(menu.NEW_RUN.script, again=stored(job))
    assert_sound(app)
    app.button(key=f"compile-{job.model.kind}").click().run()
    assert_sound(app)
    assert submitted == [job]


def test_what_is_edited_alone_differs(submitted: list[CompileJob], stored: Callable[[CompileJob], str]) -> None:
    run = stored(JOBS[2])
    app = opened(menu.NEW_RUN.script, again=run)
    app.session_state[f"pasted-code-{run}"] = {"text": CODE.replace("sin", "cos")}
    app.run()
    app.button(key="compile-code").click().run()
    assert submitted == [replace(JOBS[2], model=Model("code", CODE.replace("sin", "cos"), "net"))]


def test_a_run_leads_back_to_its_form_and_a_log_from_elsewhere_does_not(
    empty_home: Path, stored: Callable[[CompileJob], str]
) -> None:
    def back(run: str) -> list[str]:
        links = [link.proto for link in opened(menu.OVERVIEW.script, run).get("page_link")]
        return [link.query_string for link in links if link.label == "Edit and run again"]

    run = stored(SAMPLE)
    assert back(run) == [f"again={run}"]
    assert back(add_run(empty_home, "log", NOT_LOGS["one record"], kind="log").id) == []


def test_code_of_ones_own_is_not_offered_where_it_may_not_run(
    empty_home: Path, stored: Callable[[CompileJob], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    links = [link.proto.label for link in opened(menu.OVERVIEW.script, stored(JOBS[2])).get("page_link")]
    assert "Edit and run again" not in links


@pytest.mark.parametrize("run", ["20260101-000000-nothing-0000", "../../etc", ""])
def test_a_run_that_is_not_there_is_an_empty_form(submitted: list[CompileJob], run: str) -> None:
    app = opened(menu.NEW_RUN.script, again=run, held=OWN_CODE)
    assert_sound(app)
    assert component(app, "pasted-code")["text"].startswith("import torch")


NAMES = st.from_regex(r"[a-z_]+(\.[a-z_]+)?", fullmatch=True)
VALUES = st.one_of(
    st.booleans(), st.integers(-(2**53), 2**53), st.none(), st.from_regex(r"[A-Za-z][A-Za-z,_-]{0,12}", fullmatch=True)
)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=5))
def test_options_are_typed_as_they_are_read(options: dict[str, Any]) -> None:
    assert options_from_text(options_as_text(options)) == options


def test_another_target_is_offered_for_samples_and_for_code_that_may_run_here(
    empty_home: Path, stored: Callable[[CompileJob], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def offered(run: str) -> bool:
        return "retarget-h100" in [button.key for button in opened(menu.OVERVIEW.script, run).button]

    sample, code = stored(SAMPLE), stored(JOBS[2])
    assert (offered(sample), offered(code)) == (True, True)
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    assert (offered(sample), offered(code)) == (True, False)


def test_what_was_left_to_the_file_is_left_to_it_again(
    submitted: list[CompileJob], stored: Callable[[CompileJob], str]
) -> None:
    asked = CompileJob(Model("code", f"training = True\ntorch_compile = {{'mode': 'lite'}}\n{CODE}"))
    for job in (asked, asked.with_settings(training=False, mode=None), asked.with_settings(training=True)):
        app = opened(menu.NEW_RUN.script, again=stored(prepared(job)[0]))
        app.button(key="compile-code").click().run()
        assert_sound(app)
    chosen = [("mode", "training"), ("training",)]
    left = [FILE_SETTINGS, *(tuple(name for name in FILE_SETTINGS if name not in names) for names in chosen)]
    assert [job.as_file_says() for job in submitted] == left
    assert [prepared(job)[0].training for job in submitted] == [True, False, True]


OF_THE_FILE = "training = True\ntorch_compile = {'fullgraph': True, 'mode': 'max-autotune'}\n" + TEMPLATE


def _chosen(app: AppTest, key: str) -> dict[str, str]:
    """What the form shows for each setting that a file may have."""
    names = ("backend", "mode", "dynamic", "fullgraph", "training")
    boxes = {name: app.selectbox(key=f"{key}-{name}") for name in names}
    return {name: box.options[box.index or 0] for name, box in boxes.items()}


def _typed_path(path: Path) -> AppTest:
    app = opened(menu.NEW_RUN.script, held=OWN_CODE)
    (way,) = (group for group in elements(app, "button_group") if group.label == "Where is it?")
    way.select("File on this machine").run()
    return next(item for item in app.text_input if item.label == "File").set_value(str(path)).run()


def test_a_form_shows_what_the_file_says_and_leaves_it_to_the_file(submitted: list[CompileJob], tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OF_THE_FILE, encoding="utf-8")
    app = _typed_path(path)
    assert _chosen(app, "options-file-") == {
        "backend": "inductor (file)",
        "mode": "max-autotune (file)",
        "dynamic": "automatic (file)",
        "fullgraph": "on (file)",
        "training": "on (file)",
    }
    assert app.expander[0].label == "`torch.compile(model, fullgraph=True, mode='max-autotune')`"
    app.button(key="compile-file").click().run()
    assert_sound(app)
    (job,) = submitted
    found, _ = prepared(job)
    assert (found.training, found.compile) == (True, CompileOptions(fullgraph=True, mode="max-autotune"))
    assert found.differences() == ("training", "fullgraph=True, mode='max-autotune'")


def test_pasted_code_is_obeyed_unless_the_form_says_otherwise(submitted: list[CompileJob]) -> None:
    app = opened(menu.NEW_RUN.script, held=OWN_CODE)
    app.session_state["pasted-code"] = {"text": OF_THE_FILE}
    app.run()
    app.button(key="compile-code").click().run()
    app.selectbox(key="options-code--training").set_value("off").run()
    app.selectbox(key="options-code--mode").set_value("default").run()
    app.button(key="compile-code").click().run()
    assert_sound(app)
    found = [prepared(job)[0] for job in submitted]
    assert [(job.training, job.compile.fullgraph, job.compile.mode) for job in found] == [
        (True, True, "max-autotune"),
        (False, True, None),
    ]


def test_a_setting_that_is_no_literal_is_reported_to_be_unread(submitted: list[CompileJob]) -> None:
    app = opened(menu.NEW_RUN.script, held=OWN_CODE)
    app.session_state["pasted-code"] = {"text": "import os\ntraining = bool(os.environ)\n" + TEMPLATE}
    app.run()
    assert_sound(app)
    assert "`training` in the file is no literal: choose it here, as the file has it." in words(app)


def test_pasted_code_runs_as_a_script_or_as_a_model_on_request(submitted: list[CompileJob]) -> None:
    app = opened(menu.NEW_RUN.script, held=OWN_CODE)
    app.session_state["pasted-code"] = {"text": f"{TEMPLATE}print(torch.compile(model)(*inputs))\n"}
    app.run()
    app.button(key="compile-code").click().run()
    for kind in ("Script", "Model"):
        control = next(item for item in app.button_group if item.label == "Run as")
        control.select(kind).run()
        app.button(key="compile-code").click().run()
    assert_sound(app)
    assert [(job.model.name, job.model.as_model, prepared(job)[0].model.is_script) for job in submitted] == [
        ("model", False, True),
        ("", False, True),
        ("model", True, False),
    ]
