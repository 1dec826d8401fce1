"""The page New run: while torch starts and once it has, what it offers, and what it refuses."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from core import AccessError, CompileJob, CompileOptions, Environment, Model, Run, Store, open_summary, samples
from pages import menu
from pages.parts.run import launch, submit
from pages.parts.run.own_backend import IN_FILE, OWN, BackendChoice
from pages.session import actions, server
from tests.support.apps import A_LOG, OWN_CODE, assert_sound, component, elements, keys, opened, titles, words
from tests.support.homes import NOT_LOGS, add_run, job_of, measured_log
from tests.support.places import TRACES


def test_the_tabs_stay_where_they_are_when_torch_has_started(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = []
    states = (None, Environment(torch="2.13.0"), Environment(problem="it is broken"))
    for environment in states:
        monkeypatch.setattr(server, "environment", lambda environment=environment: environment)
        children = opened(menu.NEW_RUN.script).main.children
        places.append([place for place, child in children.items() if child.type == "tab_container"])
    assert len(places[0]) == 1
    assert places == [places[0]] * 3


@pytest.fixture
def torch_alone(runs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch has said what it can do, and no compiler is in reach."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))


def test_recordings_are_a_table_of_samples_by_their_titles(torch_alone: None) -> None:
    app = opened(menu.NEW_RUN.script, held={"new-run-tabs": "Recorded on NVIDIA H200"})

    assert_sound(app)
    table = app.dataframe[0].value
    assert set(table["model"]) <= {sample.title for sample in samples()}
    all_alike = any(caption.value.startswith("All of them: ") for caption in app.caption)
    assert ("recorded" in table) is not all_alike
    block = table[(table["model"] == "Transformer block") & (table["shows"] == "mode max-autotune")]
    assert block["what torch.compile made of it"].str.contains("faster").tolist() == [True]


def test_new_run_offers_every_sample_and_says_that_the_compiler_is_missing(torch_alone: None) -> None:
    app = opened(menu.NEW_RUN.script)

    assert_sound(app)
    assert titles(app) == ["What does torch.compile do to your model?"]
    assert "There is no C++ compiler here (no g++ on PATH)" in app.error[0].value.replace("\\", "")
    compile_buttons = [button for button in app.button if (button.key or "").startswith("compile-")]
    assert len(compile_buttons) > 20
    keys_of_buttons = {button.key for button in compile_buttons}
    offered = [sample.teaches for sample in samples() if f"compile-{sample.name}" in keys_of_buttons]
    assert len(offered) == len(compile_buttons)
    assert set(offered) <= {caption.value for caption in app.caption}
    assert [tab.label for tab in app.tabs] == ["Samples", "Your code", "A trace log", "Recorded on NVIDIA H200"]


def test_an_editor_that_appears_again_gets_the_text_of_last(empty_home: Path) -> None:
    app = opened(menu.NEW_RUN.script, held={launch.TABS: launch.CODE})
    for text in (launch.TEMPLATE, "inputs = ()"):
        app.session_state["pasted-code"] = {"text": text}
        assert component(app.run(), "pasted-code")["text"] == text


def test_where_there_is_a_compiler_none_is_missed(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", sys.executable)
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))
    app = opened(menu.NEW_RUN.script)
    assert_sound(app)
    assert list(app.error) == []


def test_a_sample_has_its_picture_and_says_what_its_last_run_gave(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))
    monkeypatch.setattr("pages.session.runs.MADE_WITHIN_S", 60)
    job = job_of("transformer_block")
    unmeasured = (TRACES / "transformer_block" / "trace.log").read_bytes()
    for name, log in (("transformer_block", measured_log()), ("mlp", b""), ("sin_cos", unmeasured)):
        add_run(empty_home, name, log, job=job)
    app = opened(menu.NEW_RUN.script)
    assert_sound(app)
    links = [link.proto for link in elements(app, "page_link")]
    assert {link.label for link in links if link.icon == ":material/history:"} == {
        "26 → 6 kernels · 2.00×",
        "26 → 6 kernels",
        "last run",
    }
    shown = [item for item in samples() if not item.name.endswith("_repaired")]
    assert len(app.get("image")) == len(shown)


def test_a_cell_of_a_sweep_is_no_last_run_of_its_sample(empty_home: Path) -> None:
    job = job_of("transformer_block")
    alone = add_run(empty_home, "transformer_block", measured_log(), job=job)
    add_run(empty_home, "transformer_block", measured_log(), job=job | {"sweep": "20260101-000000-sweep-0000"})
    links = [link.proto for link in opened(menu.NEW_RUN.script).get("page_link")]
    assert [link.query_string for link in links if link.icon == ":material/history:"] == [f"run={alone.id}"]


def test_the_gallery_reads_stored_verdicts_and_opens_no_report(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))
    run = add_run(empty_home, "transformer_block", measured_log(), job=job_of("transformer_block"))
    assert open_summary(run)
    run.report_path.unlink()
    app = opened(menu.NEW_RUN.script)
    links = [link.proto for link in elements(app, "page_link")]
    assert [link.label for link in links if link.icon == ":material/history:"] == ["26 → 6 kernels · 2.00×"]
    assert not run.report_path.exists()


def test_a_log_is_opened_by_its_path_once_that_is_asked_for(
    empty_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))
    shown: list[str] = []
    monkeypatch.setattr(launch, "show_run", shown.append)
    log = tmp_path / "elsewhere.log"
    log.write_bytes(NOT_LOGS["one record"])
    app = opened(menu.NEW_RUN.script, held=A_LOG)
    assert "upload" in keys(app)
    path = next(item for item in app.text_input if "path on this machine" in item.label)
    assert "open-path" not in [button.key for button in app.button]
    path.set_value(str(log)).run()
    assert shown == []
    app.button(key="open-path").click().run()
    assert_sound(app)
    assert shown == [run.id for run, _ in Store(empty_home).list()]
    next(item for item in app.text_input if "path on this machine" in item.label).set_value(str(tmp_path / "no")).run()
    app.button(key="open-path").click().run()
    assert len(shown) == 1
    assert "no" in app.error[-1].value


@pytest.mark.parametrize(
    ("typed", "model"),
    [
        ("/home/me/model.py", Model("file", "/home/me/model.py")),
        ("/home/me/model.py:net", Model("file", "/home/me/model.py", "net")),
        (None, Model("code", launch.TEMPLATE)),
    ],
)
def test_code_is_pasted_or_named_by_its_file(submitted: list[CompileJob], typed: str | None, model: Model) -> None:
    app = opened(menu.NEW_RUN.script, held=OWN_CODE)
    if typed is not None:
        (way,) = (group for group in elements(app, "button_group") if group.label == "Where is it?")
        way.select("File on this machine").run()
        next(item for item in app.text_input if item.label == "File").set_value(typed).run()
    app.button(key=f"compile-{model.kind}").click().run()
    assert_sound(app)
    assert [job.model for job in submitted] == [model]


def test_a_job_that_is_refused_leads_nowhere(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))
    answers: list[Run | Exception] = [AccessError("the queue is full"), Store(empty_home).create(SIN_COS)]
    shown: list[str] = []

    def answer(_: CompileJob) -> Run:
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(actions, "submit", answer)
    monkeypatch.setattr(submit, "show_run", lambda run, page: shown.append(run))
    app = opened(menu.NEW_RUN.script)
    app.button(key="compile-sin_cos").click().run()
    assert "the queue is full" in app.error[-1].value
    assert shown == []
    app.button(key="compile-sin_cos").click().run()
    assert len(shown) == 1


def test_why_a_form_was_refused_stays_until_the_form_changes(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch, torch_alone: None
) -> None:
    def refuse(_: CompileJob) -> Run:
        raise AccessError("the queue is full")

    def full() -> bool:
        return any("the queue is full" in error.value for error in app.error)

    monkeypatch.setattr(actions, "submit", refuse)
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    assert not full()
    app.button(key="compile-sample").click().run()
    assert full()
    app.run()
    assert full()
    field = app.text_input(key="options-sample-sin_cos-inductor")
    field.set_value("max_autotune=True").run()
    assert not full()
    field.set_value("").run()
    app.button(key="compile-sample").click().run()
    assert full()
    monkeypatch.setattr(actions, "submit", lambda _: Store(empty_home).create(SIN_COS))
    monkeypatch.setattr(submit, "show_run", lambda run, page: None)
    app.button(key="compile-sample").click().run()
    assert not full()


def test_a_chosen_sample_shows_its_code_and_the_call(torch_alone: None) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")

    assert_sound(app)
    (drawer,) = app.get("dialog")
    assert drawer.proto.dialog.title == "Sine and cosine"
    shown = "".join(piece[-1] for line in component(app, "sample-sin_cos")["lines"] for piece in line[2])
    assert "torch.sin" in shown
    assert app.expander[0].label == "`torch.compile(model)`"


def test_a_wrong_option_is_named_at_once(torch_alone: None) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    app.text_input(key="options-sample-sin_cos-inductor").set_value("max_autotune").run()

    assert_sound(app)
    assert app.error[1].value.replace("\\", "") == "compile.options: `max_autotune`: write name=value"


def test_a_wrong_call_is_named_before_anything_runs(torch_alone: None) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    app.text_area(key="options-sample-sin_cos-calls").set_value("f32[8, oops]").run()
    app.button(key="compile-sample").click().run()

    assert_sound(app)
    assert (
        app.error[1].value.replace("\\", "") == "calls[0]: `oops` is neither a tensor such as f32[8, 64] nor a literal"
    )


def test_code_from_visitors_is_refused_where_the_owner_says_so(
    torch_alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    app = opened(menu.NEW_RUN.script, held=OWN_CODE)

    assert_sound(app)
    assert "This server does not run visitors' code, because" in words(app)
    assert not [item for item in app.text_area if item.key == "pasted-code"]


def test_where_no_code_may_be_brought_backends_that_are_open_are_offered(
    submitted: list[CompileJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    offered = app.selectbox(key="options-sample-sin_cos-backend").options
    assert offered == [
        "inductor (file)",
        "inductor",
        "aot_eager",
        "template",
        "inspect",
        "registry",
        "aot",
        "pattern",
    ]


def test_a_backend_of_the_models_file_is_named(submitted: list[CompileJob]) -> None:
    app = opened(menu.NEW_RUN.script, held=OWN_CODE)
    app.selectbox(key="options-code--backend").set_value(OWN).run()
    (way,) = (group for group in elements(app, "button_group") if group.label == "Where is the backend?")
    way.select(IN_FILE).run()
    app.text_input(key="options-code--own-name").set_value("mine").run()
    assert_sound(app)
    app.button(key="compile-code").click().run()
    assert [job.compile for job in submitted] == [CompileOptions(backend="mine")]


SIN_COS = CompileJob(Model("sample", "sin_cos"))
# The fields of an option that are no list of choices.
WIDGETS = {
    "seed": "number_input",
    "time": "number_input",
    "memory": "number_input",
    "calls": "text_area",
    "inductor": "text_input",
    "measure": "toggle",
}


@pytest.mark.parametrize(
    ("fields", "job"),
    [
        ({"backend": "aot_eager"}, replace(SIN_COS, compile=CompileOptions(backend="aot_eager"))),
        ({"backend": "inspect"}, replace(SIN_COS, compile=CompileOptions(backend="inspect"))),
        (
            {"backend": OWN},
            replace(SIN_COS, compile=CompileOptions(backend="backend", backend_code=BackendChoice("template").text)),
        ),
        ({"mode": "default", "training": "off"}, SIN_COS.with_settings(mode=None, training=False)),
        ({"inductor": "none", "calls": ""}, SIN_COS.with_settings(options=None)),
        (
            {"device": "h100", "inductor": "epilogue_fusion=False"},
            replace(SIN_COS, target="h100", compile=CompileOptions(options={"epilogue_fusion": False})),
        ),
        (
            {
                "mode": "max-autotune",
                "dynamic": "always",
                "fullgraph": "on",
                "dtype": "bfloat16",
                "device": "cuda",
                "seed": 7,
                "training": "on",
                "measure": False,
                "calls": " f32[8] \n\nf32[9], 2.0\n",
                "time": 30,
                "memory": 1.5,
            },
            CompileJob(
                Model("sample", "sin_cos"),
                compile=CompileOptions(mode="max-autotune", dynamic=True, fullgraph=True),
                dtype="bfloat16",
                device="cuda",
                seed=7,
                training=True,
                measure=False,
                calls=("f32[8]", "f32[9], 2.0"),
                time_limit_s=30.0,
                memory_limit_bytes=3 * 2**29,
            ),
        ),
    ],
)
def test_every_option_reaches_the_job(
    submitted: list[CompileJob], fields: Mapping[str, object], job: CompileJob
) -> None:
    app = opened(menu.NEW_RUN.script, sample="sin_cos")
    for name, value in fields.items():
        getattr(app, WIDGETS.get(name, "selectbox"))(key=f"options-sample-sin_cos-{name}").set_value(value)
    app.run()
    assert_sound(app)
    app.button(key="compile-sample").click().run()
    assert submitted == [job]
