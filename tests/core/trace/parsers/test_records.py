"""The records of our own: what the worker writes, as the parsers are given it."""

import ast
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from core import build_report, from_json, to_json
from core.report import (
    SCHEMA,
    Alternative,
    Call,
    Compilation,
    Difference,
    Load,
    PatternMatch,
    Place,
    Report,
    Roofline,
    Setting,
    SideTimes,
)
from core.report.records import RECORDS
from core.trace.parsers.draft import MAX_ITEMS, Values, fields_of
from core.trace.parsers.table import PARSERS
from tests.record import SCENARIOS
from tests.support.homes import line, record
from tests.support.imports import FILES, nodes_of
from tests.support.places import TRACES

COMPILE_ID = {"frame_id": 0, "frame_compile_id": 0}
ASKED_FOR = "it is measured where a job asks for it, and no recorded one does"
NO_SECOND = "no recorded run has caches that another process filled"
NO_BYPASS = "torch bypasses a cache for what no recorded run does"
NO_ACCELERATOR = "no recorded run has the backend `accelerator`, which needs a compiler"
NO_TELLER = "no recorded run has a backend that tells of itself"
NO_PACKAGE = "no recorded run packages its model, which needs a compiler"
NO_FRAME = "no recorded run exports, packages or runs compiled autograd with plain torch"
NOT_RECORDED = {
    "exported_program": NO_FRAME,
    **dict.fromkeys(("expression_created", "guard_added", "propagate_real_tensors_provenance"), NO_FRAME),
    **dict.fromkeys(("missing_fake_kernel", "mismatched_fake_kernel", "guard_on_data_dependent_error"), NO_FRAME),
    "artifact:triton_kernel_info": "torch logs it where Triton runs, and no recorded run has a GPU",
    **dict.fromkeys(("compilation_metrics_runtime", "bwd_compilation_metrics_runtime"), "torch logs them with a GPU"),
    "artifact:inductor_triton_kernel_to_post_grad_nodes": "an older torch's map of kernels to nodes",
    "artifact:inductor_graph_execution": "an older torch's name of graph_execution",
    **dict.fromkeys(
        (
            "artifact:graph_execution",
            "artifact:inductor_collective_schedule",
            "artifact:inductor_runtime_and_tensor_meta",
        ),
        "no recorded run has collectives",
    ),
    "compiled_autograd_graph": NO_FRAME,
    "artifact:compiled_autograd_graph_pre_reordering": NO_FRAME,
    "graph_dump:inductor_aot_code": NO_FRAME,
    "graph_dump:inductor_aot_kernel_code": NO_FRAME,
    "graph_dump:inductor_aot_wrapper_code": NO_FRAME,
    "artifact:after_post_grad_graph": "an older torch's name of inductor_post_grad_graph",
    **dict.fromkeys(
        (
            "artifact:vllm_compile_event",
            "artifact:vllm_compilation_config",
            "artifact:vllm_piecewise_compile_start",
        ),
        "vLLM logs them, and no recorded run is vLLM's",
    ),
    "artifact:backend_table": NO_TELLER,
    "artifact:backend_text": NO_TELLER,
    "artifact:debug_file": "no recorded job asks for torch's debug files",
    "artifact:torch_logs": "no recorded job asks for torch's log",
    "artifact:compileboard_cache_key": "no recorded run has a cache key",
    "artifact:compileboard_bits": "no recorded job compares bit by bit",
    "artifact:compileboard_bisection": "no recorded job looks for a cause",
    "artifact:compileboard_pipeline": NO_ACCELERATOR,
    "artifact:compileboard_crossing": NO_ACCELERATOR,
    "artifact:compileboard_export": NO_PACKAGE,
    "artifact:compileboard_range_trial": NO_PACKAGE,
    "artifact:compileboard_package": NO_PACKAGE,
    "artifact:compileboard_package_run": NO_PACKAGE,
    "artifact:compileboard_package_times": NO_PACKAGE,
    "artifact:aoti_text": NO_PACKAGE,
    "artifact:fx_graph_cache_bypass": NO_BYPASS,
    "artifact:aotautograd_cache_bypass": NO_BYPASS,
    "artifact:compileboard_rival": "no scenario times two calls of torch.compile against each other",
    "artifact:compileboard_filled_caches": NO_SECOND,
    "artifact:compileboard_dynamo_profile": "the recorded runs are of a worker without it",
    "artifact:compileboard_memory": ASKED_FOR,
    "artifact:compileboard_neighbour": ASKED_FOR,
    "artifact:compileboard_call_numerics": ASKED_FOR,
    "artifact:compileboard_graph_numerics": ASKED_FOR,
    "propagate_real_tensors": "torch guesses at what the data tell only where a setting of its asks for it",
}


# No page shows them: they are for readers of `report.json`, and for the suite.
READ_IN_JSON_ALONE = {
    "BinaryRecord.heuristic",
    "Config.hash",
    "Config.local_bytes",
    "Counters.inductor",
    "MemoryRecord.allocations",
    "PackagedFile.crc32",
    "Roofline.measured_s",
}


def test_every_record_of_ours_has_a_parser_but_the_last() -> None:
    """The last says that the log is whole, and nothing else."""
    ours = {
        kind.removeprefix("artifact:compileboard_") for kind in PARSERS if kind.startswith("artifact:compileboard_")
    }
    assert set(RECORDS) - ours == {"end"}
    assert ours - set(RECORDS) == set()


def test_every_kind_that_is_parsed_is_in_a_recorded_log_or_says_why_not() -> None:
    recorded = {kind for name in SCENARIOS for kind in from_json((TRACES / name / "report.json").read_bytes()).kinds}
    assert set(PARSERS) - recorded == set(NOT_RECORDED)


@pytest.mark.parametrize(
    ("what", "data"),
    [
        ("step", {"name": 5}),
        ("step", {}),
        ("kernel", {"name": "triton_0", "handle": 10**30}),
        ("schedule", {"direction": "sideways", "nodes_before": [], "nodes_after": [], "rounds": [], "buffers": {}}),
        ("memory", {"side": "eager", "alive": [{"place": 0, "tensors": 1, "bytes": 4}]}),
        ("memory", {"side": "eager", "curve": {"at_us": [1.0], "live_bytes": [], "places": []}}),
        ("memory", {"side": "eager", "places": [{"op": "aten::sin", "line": 1, "code": 0, "module": ""}]}),
        ("timing", {"eager_s": [float("nan")], "compiled_s": [1.0], "warm_up": 0, "calls_per_sample": 1}),
    ],
)
def test_a_record_of_ours_with_a_field_of_another_type_is_counted_and_skipped(
    tmp_path: Path, what: str, data: dict[str, Any]
) -> None:
    log = tmp_path / "trace.log"
    log.write_bytes(record(f"compileboard_{what}", {"schema": 1, **data}))
    assert [(problem.what, problem.count) for problem in build_report(log).problems] == [
        (f"unreadable artifact:compileboard_{what}", 1)
    ]


def test_a_record_of_an_older_version_lacks_what_was_added_since(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    call = {
        "index": 0,
        "inputs": "f32[2]",
        "eager_s": 1,
        "compiled_s": 2.0,
        "differences": [{"what": "output", "same": True}],
    }
    log.write_bytes(record("compileboard_call", {"schema": 1, **call, "a field that is gone": 1}))
    assert build_report(log, strict=True).calls == (Call(0, "f32[2]", 1.0, 2.0, (Difference("output", True),)),)


LOAD, SAMPLES = {"others": 0.1, "waited": 0.0, "stolen": None}, ([2e-3] * 8, [1e-3] * 8)
SAMPLING = {"warm_up": 2, "calls_per_sample": 5, "stopped": "limit", "spent_s": 9.5, "threads": 4, "clock": "a clock"}
OLD_TIMING = {
    "eager_s": SAMPLES[0],
    "compiled_s": SAMPLES[1],
    "eager_wall_s": SAMPLES[1],
    "compiled_wall_s": SAMPLES[0],
}
OLD_RIVAL = {"options": {"mode": "x"}, "compiled_s": SAMPLES[0], "rival_s": SAMPLES[1], "reason": ""}
EAGER, COMPILED = map(tuple, SAMPLES)
TIMED = SideTimes(
    {"eager": EAGER, "compiled": COMPILED},
    **{**SAMPLING, "load": Load(0.1, 0.0)},  # type: ignore[arg-type]
    walls={"eager": COMPILED, "compiled": EAGER},
)
RIVAL = Alternative({"mode": "x"}, times=replace(TIMED, sides={"compiled": EAGER, "alternative": COMPILED}, walls={}))


def test_times_of_an_older_log_which_has_a_field_for_each_side_are_read(tmp_path: Path) -> None:
    log, more = tmp_path / "trace.log", {"schema": 1, **SAMPLING, "load": LOAD}
    log.write_bytes(
        record("compileboard_timing", {**OLD_TIMING, **more}) + record("compileboard_rival", {**OLD_RIVAL, **more})
    )
    report = build_report(log, strict=True)
    assert (report.timing, report.rival) == (TIMED, RIVAL)


def test_an_alternative_of_an_older_log_that_was_not_timed_has_no_times(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    empty: dict[str, object] = {"compiled_s": [], "rival_s": [], "load": None, "clock": ""}
    log.write_bytes(record("compileboard_rival", {"schema": 1, "options": {}, **empty, "reason": "no"}))
    assert build_report(log, strict=True).rival == Alternative({}, reason="no")


def test_times_of_an_older_stored_report_are_read() -> None:
    more = {**SAMPLING, "load": LOAD}
    stored = {"schema": 5, "setting": {}, "timing": {**OLD_TIMING, **more}, "rival": {**OLD_RIVAL, **more}}
    report = from_json(json.dumps(stored).encode())
    assert (report.timing, report.rival, report.schema) == (TIMED, RIVAL, SCHEMA)
    assert from_json(to_json(report)) == report


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("torch/m.py:7", Place("torch/m.py", 7)),
        ("m.py:999999999", Place("m.py", 999_999_999)),
        ("m.py:1000000000", None),
        ("C:/m.py:7", Place("C:/m.py", 7)),
        ("m.py:", None),
        (":7", None),
        ("m.py", None),
        ("", None),
    ],
)
def test_the_place_of_a_pass_is_a_file_and_a_line_or_none(tmp_path: Path, text: str, place: Place | None) -> None:
    lists = dict.fromkeys(("added", "after", "removed", "rewritten", "order"), ())
    data = {"schema": 1, "stage": "joint", "name": "p", "duration_us": 1.0, "source": text, "text": "", **lists}
    log = tmp_path / "trace.log"
    log.write_bytes(
        line({"dynamo_output_graph": {}, **COMPILE_ID}, "")
        + record("compileboard_pass", {**data, "patterns": [["q", text, 2]]}, **COMPILE_ID)
    )
    (found,) = build_report(log).compilations[0].passes
    assert (found.source, found.patterns) == (place, (PatternMatch("q", place, 2),))


def test_a_record_of_another_schema_is_counted_and_skipped(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    log.write_bytes(record("compileboard_step", {"schema": 2, "name": "measuring"}))
    found = build_report(log)
    assert (found.steps, [problem.what for problem in found.problems]) == (
        (),
        ["record of another Compileboard version"],
    )


@pytest.mark.parametrize("owner", [Report, Compilation])
def test_every_list_of_a_report_is_the_only_one_of_its_type(owner: type) -> None:
    names = {field.name for field in fields(owner) if str(field.type).startswith("tuple[")}
    texts = {"Report": {"steps", "notes", "back_to_back_s"}, "Compilation": {"restart_reasons", "user_contexts"}}
    assert {name for name, is_list in fields_of(owner).values() if is_list} == names - texts[owner.__name__]


def test_a_list_takes_what_is_of_its_type_until_it_is_full() -> None:
    values = Values(Report)
    call = Call(0, "f32[2]", 1.0, 2.0, ())
    for _ in range(MAX_ITEMS):
        values.add(call)
    with pytest.raises(OverflowError):
        values.add(call)
    with pytest.raises(KeyError):
        values.add(Difference("output", True))
    assert {name: len(calls) for name, calls in values.fields().items()} == {"calls": MAX_ITEMS}


def test_of_a_value_that_is_no_list_the_last_counts() -> None:
    values = Values(Report)
    assert values.last(Setting) is None
    for torch in ("2.12", "2.13"):
        values.add(Setting(torch=torch))
    assert values.fields() == {"setting": values.last(Setting)} == {"setting": Setting(torch="2.13")}


def test_older_ceilings_name_a_busy_machine_in_words_alone(tmp_path: Path) -> None:
    data = {"schema": 1, "device": "a CPU", "bandwidths": [], "flops_s": {}, "how": "on a busy machine"}
    log = tmp_path / "trace.log"
    log.write_bytes(record("compileboard_roofline", data))
    expected = Roofline("a CPU", (), {}, "on a busy machine", source="measured", disturbed=True)
    assert build_report(log, strict=True).roofline == expected


def read_names() -> set[str]:
    """The attributes that anything reads which does not write the log."""
    writers = ("core/worker/", "core/accelerator/", "core/samples/")
    nodes = (node for name in FILES if not name.startswith(writers) for node in nodes_of(name))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}


def emitted_types(hint: Any) -> set[type]:
    """The dataclasses in a type, and in their fields."""
    if not hasattr(hint, "__dataclass_fields__"):
        return {kind for part in get_args(hint) for kind in emitted_types(part)}
    return {hint}.union(*map(emitted_types, get_type_hints(hint).values()))


def unread(kinds: Iterable[type]) -> set[str]:
    """The fields of emitted types whose names nothing reads, as `Type.field`."""
    names = read_names()
    types = {kind for kind in kinds for kind in emitted_types(kind)}
    return {f"{kind.__name__}.{field.name}" for kind in types for field in fields(kind) if field.name not in names}


def test_every_field_that_the_worker_emits_is_read() -> None:
    assert unread(RECORDS.values()) == READ_IN_JSON_ALONE


def test_a_field_that_nobody_reads_is_noticed() -> None:
    @dataclass(frozen=True, slots=True)
    class Governed(SideTimes):
        governor: str = ""

    assert unread([Governed]) == {"Governed.governor"}


def printed(*statements: tuple[int, str]) -> str:
    """A graph of Dynamo as torch prints it: statements, each below the comment of its line."""
    body = [
        f"        # File: /m.py:{at} in step, code: …\n        v{index} = {code};"
        for index, (at, code) in enumerate(statements)
    ]
    return (
        "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n" + "\n".join(body) + "\n        return (x,)\n"
    )


SIN, ADD, MEAN = "torch.sin(x)", "x + x", "x.mean()"


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([(7, SIN), (8, ADD)] * 9, (7, 9, 18)),
        ([(7, SIN), (7, ADD), (8, MEAN)] * 9, (7, 9, 27)),
        ([(7, SIN), (7, ADD)] * 8 + [(20, MEAN)], (7, 8, 16)),
        ([(7, SIN), (8, ADD)] * 7, None),
        ([(7, SIN), *[(7, ADD)] * 20], None),
        ([(at, ADD) for at in range(1, 30)], None),
        ([], None),
    ],
    ids=["two lines", "a line of two ops", "one line", "few rounds", "a long sum", "straight code", "nothing"],
)
def test_a_graph_of_dynamo_records_the_line_that_was_traced_most(
    tmp_path: Path, statements: list[tuple[int, str]], expected: tuple[int, int, int] | None
) -> None:
    log = tmp_path / "trace.log"
    log.write_bytes(line({"dynamo_output_graph": {}, **COMPILE_ID}, printed(*statements)))
    (graph,) = build_report(log).compilations[0].graphs
    repeated = graph.repeated
    assert (repeated and (repeated.place.line, repeated.times, repeated.nodes)) == expected


def test_a_graph_of_dynamo_records_the_weights_that_it_converts(tmp_path: Path) -> None:
    text = (
        'class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: "f32[4, 8]", '
        'L_self_parameters_w_: "bf16[3, 8]", L_self_parameters_b_: "f32[12]"):\n'
        "        l_self_parameters_w_ = L_self_parameters_w_\n"
        "        # File: /m.py:7 in forward, code: w = self.w.float()\n"
        '        float_1: "f32[3, 8]" = l_self_parameters_w_.float();  l_self_parameters_w_ = None\n'
        "        return (float_1,)\n"
    )
    log = tmp_path / "trace.log"
    log.write_bytes(line({"dynamo_output_graph": {}, **COMPILE_ID}, text))
    (graph,) = build_report(log).compilations[0].graphs
    assert graph.cast is not None
    assert (graph.cast.place.line, graph.cast.dtypes, graph.cast.share) == (7, "bf16 to f32", 0.5)
