"""A package's steps, files, runs, times and sizes in words and rows."""

from dataclasses import replace

from core import CompileJob, DynamicDim, Packaging, Report
from core.base.machine import Load
from core.job import Model
from core.report import (
    Export,
    Frame,
    Package,
    PackagedFile,
    PackageRun,
    PackageText,
    PackageTimes,
    Payload,
    RangeTrial,
    Setting,
)
from core.views.aotinductor.package import METADATA_COLUMNS, PackageRunView, PackageView
from core.views.aotinductor.run import AotInductorView, PackageRequest
from tests.support.logs import recorded_report
from tests.support.places import TRACES
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
)
from tests.support.tables import texts

WRAPPER = PackageText("file", f"{FOLDER}.wrapper.cpp", "cpp", Payload(10, 4))
KERNEL = PackageText("file", f"{FOLDER}.kernel.cpp", "cpp", Payload(20, 4))
TEXTS = (
    PackageText("graph", "graph of the program", "python", Payload(0, 4)),
    KERNEL,
    WRAPPER,
    PackageText("runner", "main.cpp", "cpp", Payload(30, 4)),
)


def aoti(
    export: Export = EXPORT,
    package: Package | None = PACKAGE,
    runs: tuple[PackageRun, ...] = (PYTHON, CPP),
    times: PackageTimes | None = TIMES,
    trials: tuple[RangeTrial, ...] = TRIALS,
) -> AotInductorView:
    report = Report(
        Setting(),
        exports=(export,),
        packages=(package,) if package else (),
        package_runs=runs,
        package_times=(times,) if times else (),
        range_trials=trials,
        package_texts=TEXTS,
    )
    return AotInductorView(report)


def package_of(view: AotInductorView) -> PackageView:
    assert view.package is not None
    return view.package


def test_the_title_is_the_result_or_that_there_is_none() -> None:
    assert aoti().title == "A package of 45\\.2 kB, 4 files\\: equal to eager from Python and from C\\+\\+\\."
    none = AotInductorView(Report(Setting()))
    assert (none.title, none.story, none.compiled_for) == ("The model was not packaged.", None, "")
    assert (none.export, none.sizes, none.package, none.python, none.cpp, none.times) == (None,) * 6


def test_a_run_for_another_device_packaged_nothing() -> None:
    target = AotInductorView(recorded_report(TRACES / "target_h100" / "trace.log"))
    assert target.title == "Nothing was run, so nothing was packaged."
    assert target.compiled_for.startswith("The code was ")


def test_each_step_has_its_time_and_its_outcome() -> None:
    steps = [[(box.step.id, box.step.state, box.figure, box.outcome) for box in column] for column in aoti().steps]
    assert steps == [
        [("export", "done", "1.21 s", "2 ops, 1 dynamic dimension")],
        [("package", "done", "9.50 s", "45.2 kB, 4 files")],
        [
            ("python", "done", "12.0 µs a call", "1 output equals eager"),
            ("c++", "done", "10.0 µs a call", "1 output equals eager, bit by bit what Python returned"),
        ],
    ]


def test_the_step_that_failed_opens_first() -> None:
    refused = aoti(NO_EXPORT, None, (), None, ())
    assert (aoti().first_step, aoti().export_failed) == ("package", False)
    assert (refused.first_step, refused.export_failed) == ("export", True)
    assert [aoti().step(name) for name in ("c++", "no step", None)] == ["c++", "package", "package"]


def test_an_export_has_its_signature_and_its_guards() -> None:
    export = aoti(replace(EXPORT, left_out=3)).export
    assert export is not None
    assert texts(export.signature)[::2] == [
        {"name": "p_weight", "kind": "parameter", "value": "f32[8, 8]", "in the model": "weight"},
        {"name": "relu", "kind": "user output", "value": "f32[s77, 8]", "in the model": ""},
    ]
    assert (export.more_values, export.guards) == ("3 more values not shown.", "x.size()[0] <= 128")
    assert export.graph == ("graph of the program", "exported program", "python", Payload(0, 4))
    assert (export.error, export.line) == (None, None)


def test_a_failed_export_names_the_line_that_torch_names() -> None:
    frame = Frame("model.py", 7, "forward", "")
    export = aoti(replace(NO_EXPORT, frames=(frame,)), None, (), None, ()).export
    assert export is not None
    assert export.error is not None
    assert (export.error.type, export.error.message) == ("UserError", "Dynamic control flow is not *here*")
    assert (export.line, export.error.frames) == (7, (frame,))


def test_files_are_a_table_of_a_tree_with_short_digests() -> None:
    package = package_of(aoti(package=replace(PACKAGE, left_out=2)))
    assert [tuple(row.values()) for row in texts(package.tree_table)] == [
        ("model/", "", "44.5 kB"),
        ("↳ version", "metadata", "2 B"),
        ("↳ data/aotinductor/model/", "", "44.5 kB"),
        ("↳ ↳ cabc2222…wrapper.cpp", "C++ wrapper", "12.0 kB"),
        ("↳ ↳ cabc2222…kernel.cpp", "kernels' source", "1.50 kB"),
        ("↳ ↳ cabc2222…wrapper.so", "shared library", "31.0 kB"),
    ]
    assert (package.title, package.more_files) == ("model.pt2", "2 more files not shown.")
    assert [column.text(("AOTI_DEVICE_KEY", "cpu")) for column in METADATA_COLUMNS] == ["AOTI_DEVICE_KEY", "cpu"]
    assert package.constants == f"1 parameter or buffer in it. SHA-256 `{'ab' * 32}`"


def test_the_wrapper_is_the_first_file_to_read() -> None:
    package = package_of(aoti())
    first, library = package.file(None), package.file(f"{FOLDER}.wrapper.so")
    assert first.code == (WRAPPER.name, "cabc2222…wrapper.cpp", "cpp", WRAPPER.text)
    assert package.file("no such file") == first
    assert (library.code, library.title) == (None, "cabc2222…wrapper.so")
    assert library.no_text == "31.0 kB, without a recorded text."


def test_without_a_recorded_text_the_first_file_is_shown() -> None:
    file = PackagedFile("a", "other", 10, 0)
    assert PackageView(replace(PACKAGE, files=(file,)), ()).file(None).file is file


def test_outputs_are_compared_with_eager() -> None:
    run = aoti().cpp
    assert run is not None
    assert (run.failure, run.results) == ("", "1 output equals eager, bit by bit what Python returned\\.")
    assert run.duration == "Loaded in 8.00 ms; the first call took 300 µs, on 2 threads."
    assert texts(run.outputs) == [
        {"output": "output", "against eager": "same", "largest difference": "0", "error": "1.00e-8"},
    ]
    assert run.build == "g\\+\\+ 12\\.2\\.0; built in 41\\.0 s"
    assert PackageRunView("Python", replace(PYTHON, differences=())).results == "0 outputs equal eager\\."


def test_outputs_that_differ_have_a_reason() -> None:
    different = replace(SAME[0], same=False, kind="value", max_abs=0.5, error=None)
    run = PackageRunView("Python", replace(PYTHON, differences=(*SAME, different)))
    assert [(row["against eager"], row["error"], row["told"]) for row in texts(run.outputs)] == [
        ("same", "1.00e-8", ""),
        ("differs", "", "output: off by up to 0.500"),
    ]


def test_a_failure_names_its_stage() -> None:
    stages = ["build", "load", "call", "another"]
    runs = [PackageRunView("Python", replace(PYTHON, problem="no", stage=stage)) for stage in stages]
    assert [run.failure for run in runs] == [
        *("Python was not built\\.", "Python could not load it\\.", "Python could not call it\\."),
        "Python did not run it\\.",
    ]


def test_times_have_a_bar_and_a_row_for_each_side() -> None:
    times = aoti().times
    assert times is not None
    assert [(bar.side, bar.name) for bar in times.bars] == [
        *(("c++", "package, C++"), ("python", "package, Python"), ("compiled", "compiled"), ("eager", "eager")),
    ]
    assert [tuple(row.values()) for row in texts(times.table)[::3]] == [
        ("eager", "20.0 µs", "19.8 µs to 20.3 µs", "", "", ""),
        ("package, C++", "10.0 µs", "9.95 µs to 10.1 µs", "2.00× (1.94–2.06)", "8.00 ms", "300 µs"),
    ]
    assert times.method == (
        "Interleaved, 12 rounds of 100 calls each on 2 threads after 4 rounds of warm-up. The brackets hold the ratio "
        "with 99 % confidence. The same library takes 1.20 times as long from Python (1.20 to 1.20), 2.00 µs more a "
        "call."
    )


def test_no_difference_is_claimed_that_is_not_seen() -> None:
    sides = {**TIMES.sides, "c++": (1.1e-5, 1.3e-5) * 8, "python": (1.2e-5,) * 16, "eager": (1.2e-5,) * 16}
    times = aoti(times=replace(TIMES, sides=sides)).times
    assert times is not None
    assert texts(times.table)[-1]["eager over it"] == "none seen (0.923–1.09×)"
    assert times.method.endswith("no difference is seen (the ratio is between 0.923 and 1.09).")


def test_a_busy_machine_is_named() -> None:
    times = aoti(times=replace(TIMES, load=Load(others=0.9))).times
    assert times is not None
    assert "confidence. The machine was busy while it was measured. The same" in times.method


def test_nothing_timed_has_a_reason() -> None:
    assert (aoti(times=UNMADE).times, aoti(times=None).times) == (None, None)
    assert aoti(times=UNMADE).not_timed == "Not timed\\: the job does not measure\\."
    assert aoti(times=None).not_timed == "Nothing was timed\\."


def test_sizes_are_ranges_and_calls_at_their_ends() -> None:
    sizes = aoti(replace(EXPORT, ranges=("s77: VR[1, 128]", "u0: VR[0, 4]"))).sizes
    assert sizes is not None
    assert sizes.dims == ["`Dim('batch', min=1, max=128)` at `inputs.0.0`, 4 in the example"]
    assert (sizes.ranges, sizes.advice) == ("s77: VR[1, 128]\nu0: VR[0, 4]", [])
    skipped = "not tried: its inputs would take more"
    refusals = "AssertionError: Guard failed: x.size()[0] <= 128", "Error: input_handles[0]: too large"
    assert [tuple(row.values()) for row in texts(sizes.calls)] == [
        ("batch = 128", "within", "equals eager", "equals eager", "runs"),
        ("batch = 129", "outside", refusals[0], "equals eager", refusals[1]),
        ("batch = 0", "outside", skipped, skipped, ""),
    ]
    assert sizes.checks == (
        "Without checks, the package ran outside of its range (129) without an error. A package checks its "
        "inputs if it is loaded with `AOTI_RUNTIME_CHECK_INPUTS=1` in the environment."
    )


def test_a_package_without_dynamic_dimensions_has_fixed_sizes() -> None:
    sizes = aoti(replace(EXPORT, dims=(), ranges=()), trials=()).sizes
    assert sizes is not None
    assert sizes.dims == ["Every size is fixed to that of the example inputs: a call with another one is refused."]
    assert (sizes.ranges, sizes.calls.rows, sizes.checks) == ("", (), "")


def test_the_code_for_python_names_the_package_and_the_program_has_its_sources() -> None:
    assert aoti().python_code.splitlines()[2] == 'model = torch._inductor.aoti_load_package("model.pt2")'
    assert aoti().cpp_sources == [("main.cpp", "main.cpp", "cpp", Payload(30, 4))]


def test_a_training_step_is_packaged_in_inference() -> None:
    before = CompileJob(Model("file", "model.py", "net"), training=True)
    request = PackageRequest(before, {"0.0": (1, 128)})
    assert (request.job.training, request.job.aoti) == (False, Packaging((DynamicDim("0.0", 1, 128),)))
    assert PackageRequest.bounds_of(request.job) == request.bounds
    assert PackageRequest.names(request.job, ["batch", "0.1"]) == ["0.0", "batch", "0.1"]
    assert request.command == "python -m core aoti model.py:net --dim 0.0=1..128 --no-training --out package"
    assert request.caption.startswith("The same job in inference")
    plain = PackageRequest(request.job, {})
    assert (plain.job, plain.command) == (
        replace(request.job, aoti=Packaging()),
        "python -m core aoti model.py:net --out package",
    )


def test_a_side_that_is_not_ours_has_its_own_name_on_one_line() -> None:
    times = aoti(times=PackageTimes({"eager": (4e-6,) * 12, "a\nphone": (2e-6,) * 12})).times
    assert times is not None
    assert [bar.name for bar in times.bars] == ["a phone", "eager"]
    assert [row[""] for row in texts(times.table)] == ["eager", "a phone"]
