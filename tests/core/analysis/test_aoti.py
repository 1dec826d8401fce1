"""What AOTInductor made of a model, in words."""

from dataclasses import replace

from core.analysis.aoti import (
    CHECKED,
    aoti_story,
    same_as_eager,
    side_times,
)
from core.report import (
    Difference,
    Export,
    ExportedDim,
    Load,
    Package,
    PackagedFile,
    PackageRun,
    PackageTimes,
    RangeTrial,
    Report,
    Setting,
)
from core.report.places import Frame
from core.views.aotinductor.package import narrower_ranges, results_of_run, trial_words
from core.views.aotinductor.run import aoti_lines, aoti_sentence

SAME = (Difference("output", True),)
DIM = ExportedDim("batch", ("batch",), "Dim('batch', min=1, max=128)", 8, 1, 128)
EXPORT = Export(
    "torch.export.export(model, args, dynamic_shapes={'x': {0: Dim('batch', min=1, max=128)}})",
    0.5,
    (DIM,),
    2,
    {"aten.linear.default": 1, "aten.relu.default": 1},
    ranges=("s77: VR[1, 128]",),
    guards=("x.size()[0] <= 128",),
)
FILES = (
    PackagedFile("model/data/aotinductor/model/c.wrapper.cpp", "wrapper", 40_000, 1),
    PackagedFile("model/data/aotinductor/model/c.wrapper.so", "library", 3_000_000, 2),
)
PACKAGE = Package(12.0, "model.pt2", 3_040_000, "ab", FILES, 3, {"AOTI_DEVICE_KEY": "cpu"}, 2)
PYTHON = PackageRun("python", 0.02, 0.001, SAME)
CPP = PackageRun("c++", 0.01, 0.001, SAME, True, "g++ 12", "g++ main.cpp", 9.0, 2)
TIMES = PackageTimes({"c++": (1e-6,) * 12, "eager": (4e-6,) * 12, "python": (2e-6,) * 12}, clock="the wall clock")
OUTSIDE = RangeTrial(
    *("batch", 129, False, "f32[129, 64]", "AssertionError: Guard failed: x.size()[0] <= 128", ""),
    checked="input_handles[0]: dim value is too large at 0, expected to be <= 128, but got: 129",
    package_same=True,
)
REPORT = Report(
    Setting(),
    exports=(EXPORT,),
    range_trials=(RangeTrial("batch", 1, True, "f32[1, 64]", program_same=True, package_same=True), OUTSIDE),
    packages=(PACKAGE,),
    package_runs=(PYTHON, CPP),
    package_times=(TIMES,),
)


def test_a_package_is_reported_in_a_sentence() -> None:
    made = "A package of 3.04 MB, 5 files"
    assert aoti_sentence(REPORT) == f"{made}: equal to eager from Python and from C++."
    wrong = replace(CPP, differences=(Difference("output", False, actual="all zeros"),))
    differs = f"{made}: equal to eager from Python, results from C++ differ from eager's."
    assert aoti_sentence(replace(REPORT, package_runs=(PYTHON, wrong))) == differs
    unbuilt = PackageRun("c++", stage="build", problem="there is no compiler")
    missing = f"{made}: equal to eager from Python, C++ did not run it (build)."
    assert aoti_sentence(replace(REPORT, package_runs=(PYTHON, unbuilt))) == missing
    assert aoti_sentence(replace(REPORT, package_runs=())) == f"{made}: not run."


def test_what_torch_refuses_is_the_sentence() -> None:
    refused = replace(EXPORT, problem="UserError: no\nmore of it", frames=(Frame("m.py", 7, "forward", "if x:"),))
    report = Report(Setting(), exports=(refused,))
    assert aoti_sentence(report) == "torch.export did not export the model: UserError: no"
    assert list(aoti_lines(report)) == [
        EXPORT.call,
        "  UserError: no",
        "  more of it",
        "  at m.py:7 in forward: if x:",
    ]
    broken = Package(1.0, problem="CppCompileError: g++ failed")
    assert (
        aoti_sentence(replace(REPORT, packages=(broken,))) == "AOTInductor made no package: CppCompileError: g++ failed"
    )
    assert aoti_sentence(replace(REPORT, packages=())) == "The model was exported, and the log ends before its package."


def test_the_first_problem_names_its_stage() -> None:
    unbuilt = PackageRun("c++", stage="build", problem="there is no compiler")
    stages = {
        "": REPORT,
        "export": Report(Setting(), exports=(replace(EXPORT, problem="no"),)),
        "compile": replace(REPORT, packages=(Package(1.0, problem="no"),)),
        "build": replace(REPORT, package_runs=(PYTHON, unbuilt)),
    }
    found = {stage: aoti_story(report) for stage, report in stages.items()}
    assert {stage: story.problem for stage, story in found.items() if story} == {stage: stage for stage in stages}


def test_a_run_without_it_shows_nothing() -> None:
    assert (aoti_story(Report(Setting())), aoti_sentence(Report(Setting()))) == (None, "")
    assert list(aoti_lines(Report(Setting()))) == []


def test_a_size_outside_of_the_range_is_reported_with_what_each_says() -> None:
    assert trial_words(OUTSIDE) == (
        "batch = 129, outside of its range: "
        "the exported program says AssertionError: Guard failed: x.size()[0] <= 128; the package equals eager; "
        "with AOTI_RUNTIME_CHECK_INPUTS=1 it says "
        "input_handles[0]: dim value is too large at 0, expected to be <= 128, but got: 129"
    )
    left = RangeTrial("batch", 129, False, skipped="not tried: too large")
    assert trial_words(left) == "batch = 129, outside of its range: not tried: too large"


def test_a_check_that_begins_above_the_range_is_reported_with_the_range_to_give() -> None:
    refused = "Error: input_handles[0]: dimension 0 of it is 1, expected it to be >= 2"
    low, high = RangeTrial("batch", 1, True, checked=refused), RangeTrial("batch", 16, True, checked="")
    assert list(narrower_ranges((low, high, RangeTrial("batch", 0, False, checked=refused)))) == [
        f"The package's own check begins at batch = 2, above the range's 1: give `batch=2..16`, or leave {CHECKED} off"
    ]
    assert list(narrower_ranges((high,))) == []


def test_sides_are_timed_against_eager_and_reported_in_one_order() -> None:
    found = side_times(TIMES)
    assert [(side.side, side.median_s, side.quartiles_s, side.samples) for side in found] == [
        ("eager", 4e-6, (4e-6, 4e-6), 12),
        ("python", 2e-6, (2e-6, 2e-6), 12),
        ("c++", 1e-6, (1e-6, 1e-6), 12),
    ]
    assert [side.faster and round(side.faster.middle, 6) for side in found] == [None, 2.0, 4.0]
    assert side_times(PackageTimes()) == ()


def test_results_are_equal_differ_or_stay_undecided() -> None:
    differs = replace(CPP, differences=(*SAME, Difference("output[1]", False, actual="all zeros")), same_bits=False)
    untold = replace(CPP, differences=(Difference("output", None, reason="random"),))
    assert [same_as_eager(run) for run in (CPP, differs, untold, None)] == [True, False, None, None]
    assert results_of_run(CPP) == "1 output equals eager, bit by bit what Python returned"
    assert results_of_run(differs) == "output[1]: all zeros, not bit by bit what Python returned"


def test_all_that_was_recorded_is_reported_line_by_line() -> None:
    assert list(aoti_lines(REPORT)) == [
        EXPORT.call,
        "  2 ops in 500 ms",
        "  Dim('batch', min=1, max=128) at inputs.batch, 8 in the example",
        "  s77: VR[1, 128]",
        "  x.size()[0] <= 128",
        "  batch = 1, within its range: the exported program equals eager; the package equals eager",
        f"  {trial_words(OUTSIDE)}",
        "model.pt2: 3.04 MB, compiled in 12.0 s",
        "     40.0 kB  C++ wrapper      model/data/aotinductor/model/c.wrapper.cpp",
        "     3.00 MB  shared library   model/data/aotinductor/model/c.wrapper.so",
        "  and 3 more files",
        "the package from Python: loaded in 20.0 ms, first call 1.00 ms",
        "  1 output equals eager",
        "the package from C++: loaded in 10.0 ms, first call 1.00 ms, built in 9.00 s",
        "  1 output equals eager, bit by bit what Python returned",
        "  eager: 4.00 µs (4.00 µs–4.00 µs)",
        "  the package from Python: 2.00 µs (2.00 µs–2.00 µs), 2.00× as fast as eager (2.00–2.00)",
        "  the package from C++: 1.00 µs (1.00 µs–1.00 µs), 4.00× as fast as eager (4.00–4.00)",
    ]


def test_where_no_difference_from_eager_is_seen_no_ratio_is_reported() -> None:
    eager = (4e-6,) * 12
    times = PackageTimes({"eager": eager, "python": (3.9e-6, 4.1e-6) * 6, "c++": eager[:3]})
    assert list(aoti_lines(replace(REPORT, package_times=(times,))))[-3:] == [
        "  eager: 4.00 µs (4.00 µs–4.00 µs)",
        "  the package from Python: 4.00 µs (3.90 µs–4.10 µs), no difference from eager seen (0.976–1.03×)",
        "  the package from C++: 4.00 µs (4.00 µs–4.00 µs)",
    ]


def test_lines_of_a_busy_machine_say_so_and_show_no_ratio_of_a_decade() -> None:
    times = PackageTimes({"eager": (1e-3, 8e-3) * 6, "python": (8e-3, 1e-3) * 6}, load=Load(0.9, 0.5))
    assert list(aoti_lines(replace(REPORT, package_times=(times,))))[-3:] == [
        "  the machine was busy while it was measured",
        "  eager: 4.50 ms (1.00 ms–8.00 ms)",
        "  the package from Python: 4.50 ms (1.00 ms–8.00 ms), against eager not measurable",
    ]


def test_a_side_that_is_not_ours_has_its_own_name() -> None:
    times = PackageTimes({"eager": (4e-6,) * 12, "a phone": (2e-6,) * 12})
    assert list(aoti_lines(replace(REPORT, package_times=(times,))))[-1] == (
        "  a phone: 2.00 µs (2.00 µs–2.00 µs), 2.00× as fast as eager (2.00–2.00)"
    )
