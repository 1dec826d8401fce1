"""A profile joined to a log: each kernel slice finds its kernel, and idle time adds up."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Report, build_report
from core.analysis.profile import JoinedProfile, join_profile, sum_area
from core.base.errors import TraceError
from core.report import Compilation, Direction, Frame, Kernel, KernelCall, Payload, Setting
from core.trace import profile as reader
from core.trace.profile import read_profile
from core.views.blocks import Table, flat
from core.views.run_files import perfetto_trace
from core.views.selection import OpId
from core.views.timeline import AREA_COLUMNS, TimelineArea, TimelineView, area_from_text, timeline
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.profiles import PROFILE, profiled_log
from tests.support.tables import table_of, values


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> tuple[JoinedProfile, Report]:
    report = build_report(profiled_log(tmp_path_factory.mktemp("log")))
    return join_profile(read_profile(PROFILE), report), report


def raw_events() -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(gzip.decompress(PROFILE.read_bytes()))["traceEvents"]
    return events


def profile_of(folder: Path, events: Any) -> Path:
    path = folder / "profile.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def slice_of(name: str, kind: str = "cpu_op", start: float = 0.0, length: float = 1.0, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": kind, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": length, "args": args}


def compilation(name: str, *directions: Direction) -> Compilation:
    """A compilation whose codes all call the kernel `cpp_fused_sin_0`, then `mm` of a library."""
    kernels = tuple(
        Kernel(
            f"{name}.{direction}.{kernel}", kernel, direction, "cpp", kernel != "cpp_fused_sin_0", "", "", (), (),
            (1, 2), (KernelCall(line),), (), Payload(0, 0),
        )
        for direction in directions
        for line, kernel in enumerate(("cpp_fused_sin_0", "extern_kernels.mm"), 1)
    )  # fmt: skip
    return Compilation(name, Frame("m.py", 1, "f"), (), 1, "ok", "", (), (), None, (), (), kernels)


def called(start: float) -> list[dict[str, Any]]:
    """The slices of a call of a compiled graph, 10 us long."""
    return [
        slice_of("## Call CompiledFxGraph None ##", start=start, length=10.0),
        slice_of("cpp_fused_sin_0", "user_annotation", start=start + 1),
        slice_of("aten::mm", start=start + 3),
    ]


def kernels_of(folder: Path, compilations: tuple[Compilation, ...], events: Any) -> list[str]:
    report = Report(Setting(), compilations=compilations)
    return [piece.kernel for piece in join_profile(read_profile(profile_of(folder, events)), report).kernels]


def test_a_call_in_two_regions_belongs_to_the_inner_one(tmp_path: Path) -> None:
    regions = [
        slice_of("Torch-Compiled Region: 0/0", length=100.0),
        slice_of("Torch-Compiled Region: 1/0", start=50.0, length=20.0),
    ]
    found = kernels_of(
        tmp_path,
        (compilation("0/0", "inference"), compilation("1/0", "inference")),
        [*regions, *called(10.0), *called(55.0)],
    )
    assert found == [
        *("0/0.inference.cpp_fused_sin_0", "0/0.inference.extern_kernels.mm"),
        *("1/0.inference.cpp_fused_sin_0", "1/0.inference.extern_kernels.mm"),
    ]


def test_a_backward_belongs_to_the_compilation_of_its_forward(tmp_path: Path) -> None:
    number: dict[str, Any] = {"Sequence number": 7}
    events = [
        slice_of("Torch-Compiled Region: 0/1", length=100.0),
        slice_of("CompiledFunction", start=1.0, length=50.0, **number),
        *called(10.0),
        slice_of("CompiledFunctionBackward", start=200.0, length=50.0, **number),
        *called(210.0),
    ]
    both = (compilation("0/0", "forward", "backward"), compilation("0/1", "forward", "backward"))
    assert kernels_of(tmp_path, both, events) == [
        *("0/1.forward.cpp_fused_sin_0", "0/1.forward.extern_kernels.mm"),
        *("0/1.backward.cpp_fused_sin_0", "0/1.backward.extern_kernels.mm"),
    ]


def test_a_call_that_two_compilations_can_have_made_has_no_kernel(tmp_path: Path) -> None:
    one, other = (compilation(name, "inference") for name in ("0/0", "0/1"))
    assert kernels_of(tmp_path, (one, other), called(0.0)) == ["", ""]
    assert kernels_of(tmp_path, (one,), called(0.0)) == [kernel.id for kernel in one.kernels]


def test_a_region_whose_id_torch_gave_twice_has_no_kernel(tmp_path: Path) -> None:
    before, after, third = (compilation(name, "inference") for name in ("0/0", "2:0/0", "0/1"))
    events = [slice_of("Torch-Compiled Region: 0/0", length=100.0), *called(10.0)]
    assert kernels_of(tmp_path, (before, after, third), events) == ["", ""]
    assert kernels_of(tmp_path, (after, third), events) == [kernel.id for kernel in after.kernels]


@pytest.mark.parametrize(
    "name", ["graph_0_cpp_fused_sin_0", "cpp_fused_sin_0"], ids=["enable_kernel_profile", "as it is"]
)
def test_a_generated_kernel_is_known_by_the_names_that_torch_gives_it(tmp_path: Path, name: str) -> None:
    only = compilation("0/0", "inference")
    graph, _, op = called(0.0)
    assert kernels_of(tmp_path, (only,), [graph, slice_of(name, start=1.0), op]) == [k.id for k in only.kernels]


def test_every_kernel_slice_of_a_compiled_graph_finds_its_kernel(joined: tuple[JoinedProfile, Report]) -> None:
    profile, report = joined
    kernels = {kernel.id: kernel for compilation in report.compilations for kernel in compilation.kernels}
    assert len(profile.compiled) > 100
    assert len(profile.joined) / len(profile.compiled) >= 0.95
    for piece in profile.joined:
        kernel, name = kernels[piece.kernel], profile.profile.slices[piece.index].name
        assert (piece.how == "name") == (kernel.name == name)
        assert not name.startswith("triton_") or kernel.name == name


def test_the_slices_are_those_of_the_file(joined: tuple[JoinedProfile, Report]) -> None:
    profile = joined[0].profile
    raw = [event for event in raw_events() if event.get("cat") == "kernel"]
    read = [piece for piece in profile.slices if piece.kind == "kernel"]
    assert sorted((event["name"][:300], round(event["dur"], 3)) for event in raw) == sorted(
        (piece.name, round(piece.length_us, 3)) for piece in read
    )


def test_busy_and_idle_time_add_up_to_the_time_from_the_first_kernel_to_the_last(
    joined: tuple[JoinedProfile, Report],
) -> None:
    device = [event for event in raw_events() if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    first_us, last_us = min(event["ts"] for event in device), max(event["ts"] + event["dur"] for event in device)
    whole_s = joined[0].busy_s + joined[0].idle_s
    # Gaps below a microsecond are not blamed.
    assert whole_s == pytest.approx((last_us - first_us) / 1e6, rel=0.02)


def test_a_profile_is_reported_with_its_numbers(joined: tuple[JoinedProfile, Report]) -> None:
    view = TimelineView(*joined)
    count = len(joined[0].compiled)
    assert view.title.startswith(
        f"{count} of {count} kernel slices of compiled graphs have their kernel; the device was"
    )
    known = {kernel.id: kernel.name for c in joined[1].compilations for kernel in c.kernels}
    page = [*timeline(joined[1], view)]
    kernels = table_of(page, "timeline-kernels")
    assert [known[row.kernel_id] for row in kernels.rows] == [row["kernel"] for row in values(kernels)]
    assert len({row.kernel_id for row in kernels.rows}) == len(kernels.rows)
    assert sum(row["slices"] for row in values(kernels)) == count
    assert {row["joined by"] for row in values(kernels)} == {"name", "op"}
    assert sum(row["share"] for row in values(table_of(page, "idle"))) == pytest.approx(1.0)
    spans = view.spans(50)
    assert len(spans) == 50
    assert all(0 <= span.row < view.rows for span in view.spans(10**6))


def test_an_area_has_the_slices_in_it_cut_off_at_its_edges(tmp_path: Path) -> None:
    events = [
        slice_of("aten::linear", length=100.0),
        slice_of("aten::mm", start=10.0, length=40.0),
        slice_of("aten::mm", start=60.0, length=20.0),
        slice_of("aten::mm", start=200.0, length=20.0),
    ]
    report = Report(Setting())
    view = TimelineView(join_profile(read_profile(profile_of(tmp_path, events)), report), report)
    area = view.area((30.0, 70.0, 0, 1))
    assert [[column.value(row) for column in AREA_COLUMNS[:6]] for row in area.rows] == [
        ["aten::linear", "op", "", 1, pytest.approx(40e-6), pytest.approx(10e-6)],
        ["aten::mm", "op", "", 2, pytest.approx(30e-6), pytest.approx(30e-6)],
    ]
    assert [row.share for row in area.rows] == [pytest.approx(1.0), pytest.approx(0.75)]
    assert [row.name for row in view.area((30.0, 70.0, 1, 1)).rows] == ["aten::mm"]
    assert view.area((120.0, 130.0, 0, 1)).rows == []


def test_the_area_of_the_whole_profile_has_its_sums(joined: tuple[JoinedProfile, Report]) -> None:
    profile = joined[0]
    whole = sum_area(profile, (0.0, profile.profile.length_us), range(len(profile.profile.slices)))
    assert whole.busy_s == pytest.approx(profile.busy_s)
    assert whole.idle == profile.idle
    assert sum(found.slices for found in whole.sums) == len(profile.profile.slices)
    assert sum(found.slices for found in whole.sums if found.kernels) == len(profile.joined)
    kernels_s = sum(piece.length_us for piece in profile.profile.slices if piece.kind == "kernel") / 1e6
    assert sum(found.total_s for found in whole.sums if found.kind == "kernel") == pytest.approx(kernels_s)
    assert 0 < whole.host_s < whole.length_s


def test_two_halves_of_a_profile_have_its_busy_and_idle_time(joined: tuple[JoinedProfile, Report]) -> None:
    profile = joined[0]
    middle, end = profile.profile.length_us / 2, profile.profile.length_us
    halves = [sum_area(profile, within, ()) for within in ((0.0, middle), (middle, end))]
    assert sum(half.busy_s for half in halves) == pytest.approx(profile.busy_s)
    assert sum(half.idle_s for half in halves) == pytest.approx(profile.idle_s, abs=1e-8)


@pytest.mark.parametrize(
    "text",
    [None, "", "[]", "[1,2,3]", "[5,1,0,0]", "[-1,2,0,0]", "[0,1,3,2]", '["a",1,0,0]', "[NaN,1,0,0]", "[0,1,0,0" * 99],
)
def test_what_is_no_area_in_the_url_selects_none(text: str | None) -> None:
    assert area_from_text(text) is None


def test_an_area_is_in_the_url_as_it_is() -> None:
    area = TimelineArea(1.5, 20.0, 0, 3)
    assert (area.text, area_from_text(area.text)) == ("[1.5,20.0,0,3]", area)


@pytest.mark.parametrize(
    "event",
    [
        slice_of("x", start=-1.0),
        slice_of("x", length=-2.0),
        slice_of("x", start=1e300),
        {**slice_of("x"), "ts": "now"},
        {**slice_of("x"), "name": None},
        {**slice_of("x"), "ts": float("nan")},
    ],
)
def test_an_impossible_slice_is_counted_and_left_out(tmp_path: Path, event: dict[str, Any]) -> None:
    profile = read_profile(profile_of(tmp_path, [event, slice_of("aten::add")]))
    assert [piece.name for piece in profile.slices] == ["aten::add"]
    assert profile.problems == {"a slice without a name, a time or a duration": 1}


@pytest.mark.parametrize("text", [b"", b"{}", b'{"traceEvents": 3}', b"[" * 1000, b"\x1f\x8bnot gzip", b"\x00" * 99])
def test_what_is_no_profile_is_an_error_or_empty(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "profile.json"
    path.write_bytes(text)
    try:
        assert read_profile(path).slices == ()
    except TraceError as error:
        assert "no profile" in str(error)


def test_more_slices_than_are_kept_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_OPS", 10)
    profile = read_profile(profile_of(tmp_path, [slice_of("aten::add", start=float(n)) for n in range(25)]))
    assert (len(profile.slices), profile.problems) == (10, {"more slices or tracks than are kept": 15})


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
events = st.fixed_dictionaries(
    {"ph": st.sampled_from(["X", "M", "B", "i"]), "cat": st.sampled_from(["kernel", "cpu_op", "cuda_runtime", 3])},
    optional=dict.fromkeys(("name", "ts", "dur", "pid", "tid", "args"), json_values),
)


@given(st.lists(events | json_values, max_size=8))
def test_whatever_is_in_a_profile_it_is_joined(tmp_path_factory: pytest.TempPathFactory, raw: list[Any]) -> None:
    profile = read_profile(profile_of(tmp_path_factory.mktemp("any"), raw))
    view = TimelineView(join_profile(profile, Report(Setting())), Report(Setting()))
    assert view.title.endswith(".")
    assert view.title.startswith("No slice is a kernel of a compiled graph") == (not view.joined.compiled)
    tables = {table.name: table for table in flat(timeline(Report(Setting()), view)) if isinstance(table, Table)}
    assert sum(len(tables[name].rows) for name in tables if name == "timeline-kernels") <= len(view.joined.compiled)
    assert all(row["idle"] >= 0 for name in tables if name == "idle" for row in values(tables[name]))
    assert len(view.spans(10)) == min(10, len(profile.slices))


@pytest.mark.parametrize("scenario", ["measured", "training_step", "foreign"])
def test_the_trace_for_perfetto_has_the_phases_and_the_kernels(scenario: str) -> None:
    report = recorded_report(TRACES / scenario / "trace.log")
    trace = json.loads(perfetto_trace(report))["traceEvents"]
    slices = [event for event in trace if event["ph"] == "X"]
    phases = [event for event in slices if event["pid"] == 1]
    ended = [phase for phase in report.phases if phase.end_us is not None]
    assert [(event["name"], event["tid"]) for event in phases] == [(phase.name, phase.thread) for phase in ended]
    assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in slices)
    ids = {str(OpId.of_kernel(c, kernel)) for c in report.compilations for kernel in c.kernels}
    assert {event["args"]["op"] for event in slices if event["pid"] == 2} <= ids
    timed = [call.time for c in report.compilations for kernel in c.kernels for call in kernel.calls if call.time]
    assert bool(timed) == any(event["pid"] == 2 for event in slices)
