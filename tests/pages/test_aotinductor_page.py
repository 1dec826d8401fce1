"""The page AOTInductor: the way to a package, what is in it, what ran it, and how a model is packaged."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import CompileJob, DynamicDim, Packaging
from core.report import Frame, PackagedFile, RangeTrial
from pages import menu
from tests.support.apps import assert_sound, code_of, component, downloads, keys, opened, titles, words
from tests.support.homes import IMAGE, add_run, job_of, measured_log
from tests.support.reports.packaged import (
    CPP,
    EXPORT,
    FOLDER,
    NO_EXPORT,
    PACKAGE,
    PYTHON,
    SAME,
    TIMES,
    TRIALS,
    UNMADE,
    packaged_log,
)

TOO_MUCH = "not tried: its inputs would take more"
JOB = job_of("transformer_block")
PAGE = menu.AOTINDUCTOR.script
TITLE = "A package of 45.2 kB, 4 files: equal to eager from Python and from C++"


def run_of(home: Path, log: bytes) -> str:
    return add_run(home, "packaged", log, job=job_of("transformer_block")).id


def unescaped(app: AppTest) -> str:
    """All text of the page with one kind of spaces, without the marks that keep it from being Markdown."""
    return words(app).replace("\\", "").replace("\N{NO-BREAK SPACE}", " ")


def stages(app: AppTest) -> list[list[tuple[str, str, str, str]]]:
    """The boxes of the way, column by column: their names, states, figures and words."""
    columns = component(app, "package-way")["columns"]
    return [[(one["id"], one["state"], one["figure"], one["told"]) for one in column] for column in columns]


def code_text(app: AppTest, start: str) -> str:
    return "\n".join("".join(text for _, text in line[2]) for line in code_of(app, start)["lines"])


def test_the_way_to_a_package_its_times_and_its_sizes_are_shown(empty_home: Path) -> None:
    app = opened(PAGE, run_of(empty_home, packaged_log()))

    assert_sound(app)
    assert unescaped(app).startswith(TITLE)
    bits = "1 output equals eager"
    assert stages(app) == [
        [("export", "done", "1.21 s", "2 ops, 1 dynamic dimension")],
        [("package", "done", "9.50 s", "45.2 kB, 4 files")],
        [
            ("python", "done", "12.0 µs a call", bits),
            ("c++", "done", "10.0 µs a call", f"{bits}, bit by bit what Python returned"),
        ],
    ]
    times, trials = app.dataframe[0].value, app.dataframe[1].value
    assert times[""].tolist() == ["eager", "compiled", "package, Python", "package, C++"]
    assert times["a call"].tolist() == pytest.approx([2e-5, 3e-5, 1.2e-5, 1e-5])
    assert times["eager over it"].tolist()[1:] == [
        *("0.667× (0.655–0.677)", "1.67× (1.61–1.72)", "2.00× (1.94–2.06)"),
    ]
    assert "The same library takes 1.20 times as long from Python (1.20 to 1.20), 2.00 µs more a call." in unescaped(
        app
    )
    assert "`Dim('batch', min=1, max=128)` at `inputs.0.0`, 4 in the example" in unescaped(app)
    assert [item.value for item in app.code][:1] == ["s77: VR[1, 128]"]
    assert "Without checks, the package ran outside of its range (129) without an error." in unescaped(app)
    assert trials.pop("size").tolist() == ["batch = 128", "batch = 129", "batch = 0"]
    assert trials.values.tolist() == [
        ["within", "equals eager", "equals eager", "runs"],
        [
            *("outside", "AssertionError: Guard failed: x.size()[0] <= 128", "equals eager"),
            "Error: input_handles[0]: too large",
        ],
        ["outside", TOO_MUCH, TOO_MUCH, ""],
    ]


def test_a_range_that_the_packages_own_check_refuses_comes_with_what_to_write(empty_home: Path) -> None:
    refused = "Error: input_handles[0]: unmatched dim value at 0, expected it to be >= 2, but got: 1"
    low = RangeTrial("batch", 1, True, "f32[1, 8]", checked=refused, program_same=True, package_same=True)
    app = opened(PAGE, run_of(empty_home, packaged_log(trials=(low, *TRIALS))))

    assert_sound(app)
    advice = unescaped(app)
    assert "The package's own check begins at batch = 2, above the range's 1: give" in advice
    assert "`batch=2..128`" in advice


def test_the_files_of_a_package_are_a_tree_whose_texts_are_read(empty_home: Path) -> None:
    run = run_of(empty_home, packaged_log())
    (empty_home / "runs" / run / "aoti").mkdir()
    (empty_home / "runs" / run / "aoti" / "model.pt2").write_bytes(b"PK")
    app = opened(PAGE, run)

    assert_sound(app)
    tree = app.dataframe[2].value
    assert tree["file"].tolist() == [
        "model/",
        "↳ version",
        "↳ data/aotinductor/model/",
        "↳ ↳ cabc2222…wrapper.cpp",
        "↳ ↳ cabc2222…kernel.cpp",
        "↳ ↳ cabc2222…wrapper.so",
    ]
    assert tree["size"].tolist()[:2] == [44_502, 2]
    assert tree["kind"].tolist()[3:] == ["C++ wrapper", "kernels' source", "shared library"]
    assert "AOTInductorModel::run_impl" in code_text(app, "package-model")
    assert app.dataframe[3].value.values.tolist() == [["AOTI_DEVICE_KEY", "cpu"]]
    assert "Package" in downloads(app)
    other = opened(PAGE, run, step="package", file=f"{FOLDER}.kernel.cpp")
    assert "cpp_fused_relu_0" in code_text(other, "package-model")
    library = opened(PAGE, run, file=f"{FOLDER}.wrapper.so")
    assert "31.0 kB, without a recorded text." in unescaped(library)


@pytest.mark.parametrize(
    ("step", "key", "text"),
    [
        ("export", "exported", "torch.ops.aten.relu.default(x)"),
        ("python", "from-python", 'aoti_load_package("model.pt2")'),
        ("c++", "runner-main", "int main()"),
        ("c++", "runner-CMakeLists", "find_package(Torch"),
    ],
)
def test_each_step_of_the_way_opens_with_its_code(empty_home: Path, step: str, key: str, text: str) -> None:
    app = opened(PAGE, run_of(empty_home, packaged_log()), step=step)

    assert_sound(app)
    assert (component(app, "package-way")["chosen"], app.query_params["step"]) == (step, step)
    assert text in code_text(app, key)


def test_how_the_program_in_c_was_built_and_what_it_printed_is_beside_it(empty_home: Path) -> None:
    app = opened(PAGE, run_of(empty_home, packaged_log()), step="c++")

    said = unescaped(app)
    assert "1 output equals eager, bit by bit what Python returned." in said
    assert "Loaded in 8.00 ms; the first call took 300 µs, on 2 threads." in said
    assert "g++ 12.2.0; built in 41.0 s" in said
    assert [item.value for item in app.code][1:3] == [CPP.command, CPP.output]


FAILURES = {
    "export": (
        packaged_log(
            replace(NO_EXPORT, frames=(Frame("/compileboard/run/model.py", 7, "forward", ""),)), None, (), None, ()
        ),
        "torch.export did not export the model: UserError: Dynamic control flow is not *here*",
        ["failed", "not reached", "not reached", "not reached"],
        NO_EXPORT.problem,
    ),
    "package": (
        packaged_log(
            package=replace(PACKAGE, file="", files=(), problem="CppCompileError: no g++"), runs=(), times=None
        ),
        "AOTInductor made no package: CppCompileError: no g++",
        ["done", "failed", "not reached", "not reached"],
        "CppCompileError: no g++",
    ),
    "c++": (
        packaged_log(runs=(PYTHON, replace(CPP, differences=(), problem="cmake is not here", stage="build"))),
        "A package of 45.2 kB, 4 files: equal to eager from Python, C++ did not run it (build)",
        ["done", "done", "done", "failed"],
        "cmake is not here",
    ),
}


@pytest.mark.parametrize("step", FAILURES)
def test_what_failed_is_the_headline_and_is_open_with_torchs_words(empty_home: Path, step: str) -> None:
    log, title, states, said = FAILURES[step]
    app = opened(PAGE, run_of(empty_home, log))

    assert_sound(app)
    assert unescaped(app).startswith(title)
    assert [state for column in stages(app) for _, state, _, _ in column] == states
    assert component(app, "package-way")["chosen"] == step
    assert said in [item.value for item in app.code]


def test_the_line_that_could_not_be_exported_is_marked(empty_home: Path) -> None:
    app = opened(PAGE, run_of(empty_home, FAILURES["export"][0]))
    marked = [line for line in code_of(app, "not-exported")["lines"] if line[5]]
    assert [(line[0], line[5], line[6]) for line in marked] == [
        (7, "break", "UserError: Dynamic control flow is not *here*")
    ]


def test_results_that_differ_are_no_success(empty_home: Path) -> None:
    wrong = replace(PYTHON, differences=(replace(SAME[0], same=False, max_abs=0.5),))
    app = opened(PAGE, run_of(empty_home, packaged_log(runs=(wrong, CPP))), step="python")

    assert "results from Python differ from eager's" in unescaped(app)
    assert [state for column in stages(app) for _, state, _, _ in column] == ["done", "done", "failed", "done"]
    assert "Output: off by up to 0.500." in unescaped(app)


@pytest.mark.parametrize(
    ("times", "says"), [(UNMADE, "Not timed: the job does not measure."), (None, "Nothing was timed.")]
)
def test_what_was_not_timed_is_reported(empty_home: Path, times: object, says: str) -> None:
    app = opened(PAGE, run_of(empty_home, packaged_log(times=times)))  # type: ignore[arg-type]
    assert_sound(app)
    assert says in unescaped(app)
    assert not app.get("plotly_chart")


def test_times_without_a_difference_between_python_and_c_claim_none(empty_home: Path) -> None:
    sides = {**TIMES.sides, "c++": (1.1e-5, 1.3e-5) * 8, "python": (1.2e-5, 1.2e-5) * 8, "eager": (1.2e-5, 1.2e-5) * 8}
    app = opened(PAGE, run_of(empty_home, packaged_log(times=replace(TIMES, sides=sides))))
    assert app.dataframe[0].value["eager over it"].tolist()[3] == "none seen (0.923–1.09×)"
    assert "Between Python and C++ no difference is seen (the ratio is between 0.923 and 1.09)." in unescaped(app)


def test_a_model_is_packaged_with_dynamic_dimensions_and_their_bounds(
    submitted: list[CompileJob], empty_home: Path
) -> None:
    run = add_run(empty_home, "plain", measured_log(), job=JOB)
    app = opened(PAGE, run.id)
    assert_sound(app)
    assert titles(app) == ["The model was not packaged"]
    assert app.multiselect(key="package-dims").options == [
        *("batch (now 8)", "0.0 (now 8)", "0.1 (now 64)", "0.2 (now 256)"),
    ]
    app.multiselect(key="package-dims").set_value(["0.0"]).run()
    app.number_input(key="package-at least-0.0").set_value(1)
    app.number_input(key="package-at most-0.0").set_value(128).run()
    assert "python -m core aoti transformer_block --dim 0.0=1..128 --out package" in [item.value for item in app.code]
    app.button(key="package-model").click().run()
    assert [job.aoti for job in submitted] == [Packaging((DynamicDim("0.0", 1, 128),))]


def test_a_package_can_be_made_again_with_its_dimensions_to_begin_with(
    submitted: list[CompileJob], empty_home: Path
) -> None:
    dims = {"dims": [{"at": "0.1", "least": 2, "most": None}]}
    app = opened(PAGE, add_run(empty_home, "packaged", packaged_log(), job={**JOB, "aoti": dims}).id)
    assert_sound(app)
    app.button(key="package-model").click().run()
    assert [job.aoti for job in submitted] == [Packaging((DynamicDim("0.1", 2, None),))]


def test_a_training_step_is_packaged_as_its_forward(submitted: list[CompileJob], empty_home: Path) -> None:
    app = opened(PAGE, add_run(empty_home, "trained", measured_log(), job={**JOB, "training": True}).id)
    assert "The same job in inference" in words(app)
    assert "python -m core aoti transformer_block --no-training --out package" in [item.value for item in app.code]
    app.button(key="package-model").click().run()
    assert [(job.training, job.aoti) for job in submitted] == [(False, Packaging())]


def test_a_visitor_packages_no_code_of_the_owners(closed_pages: Path) -> None:
    job = {**JOB, "model": {"kind": "code", "value": "model = abs", "name": "model"}}
    app = opened(PAGE, add_run(closed_pages, "mine", packaged_log(), job=job).id)
    assert_sound(app)
    assert "package-model" not in [button.key for button in app.button]


def test_a_log_that_names_another_file_gives_none(empty_home: Path) -> None:
    app = opened(PAGE, run_of(empty_home, packaged_log(package=replace(PACKAGE, file="../job.json"))))
    assert_sound(app)
    assert "Package" not in downloads(app)


def test_names_that_mean_harm_are_shown_as_text(empty_home: Path) -> None:
    deep = PackagedFile("/".join([IMAGE] * 5_000), "other", 1, 1)
    log = packaged_log(
        replace(EXPORT, ranges=(IMAGE,), guards=(IMAGE,), dims=(replace(EXPORT.dims[0], text=IMAGE, at=(IMAGE,)),)),
        replace(PACKAGE, files=(*PACKAGE.files, deep), metadata={IMAGE: IMAGE}, sha256=IMAGE),
        (PYTHON, replace(CPP, problem=IMAGE, stage=IMAGE, output=IMAGE, command=IMAGE, compiler=IMAGE)),
        replace(TIMES, clock=IMAGE),
    )
    run = run_of(empty_home, log)
    for step in ("export", "package", "python", "c++"):
        app = opened(PAGE, run, step=step, file=deep.name)
        assert_sound(app)
        plain = [item.value for kind in (app.title, app.markdown, app.caption, app.error) for item in kind]
        assert [text for text in plain if IMAGE in re.sub("`[^`]*`", "", text)] == []
        assert len([key for key in keys(app) if key == "package-way"]) == 1
