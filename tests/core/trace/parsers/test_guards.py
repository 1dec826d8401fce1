"""Guards: the printed tree on literal texts, and against torch's own tree on models that are rich in guards."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core import build_report
from core.report import Frame, Guard, GuardCosts, GuardFilter, Place, Recompile
from core.trace.parsers.dynamo import GuardText, grouped_guards, parse_guard, parse_guards, traceback_frames
from pages import menu
from tests.support.apps import assert_sound, opened, words
from tests.support.homes import add_run, line, record
from tests.support.screen import plain

GUARDED = {"frame_id": 0, "frame_compile_id": 0}
AGAIN = {"frame_id": 0, "frame_compile_id": 1}
MARKS = "DIMENSION_DYNAMIC_MARKING_GUARD"
TREE = """
TREE_GUARD_MANAGER:
+- RootGuardManager
| +- GLOBAL_STATE: ___check_global_state()
| +- DictGuardManager: source=L['d'], accessed_by=FrameLocalsGuardAccessor(key='d', framelocals_idx=1), type=<class 'dict'>, tag_safe=(False, False)
| | +- DICT_LENGTH: len(L['d']) == 1
| | +- DICT_CONTAINS: dict.__contains__(L['d'], 'a')
| | +- DICT_CONTAINS: not dict.__contains__(L['d'], 'b')
| | +- KeyValueManager pair at index=0
| | | +- KeyManager: GuardManager: source=list(dict.keys(L['d']))[0], type=<class 'str'>, tag_safe=(True, False)
| | | | +- EQUALS_MATCH: list(dict.keys(L['d']))[0] == 'a'
| | | +- ValueManager: GuardManager: source=L['d']['a'], type=<class 'torch.Tensor'>, tag_safe=(True, False)
| | | | +- TENSOR_MATCH: check_tensor(L['d']['a'], Tensor, size=[8])  # y = d["a"]  # not a comment  # m.py:7 in forward (HINT: type dict)
| | | | +- NO_TENSOR_ALIASING: check_no_aliasing(L['d']['a'], L['x'])
| | | | +- DIMENSION_DYNAMIC_MARKING_GUARD: hasattr(L['d']['a'], '_dynamo_dynamic_indices') == False
| | | | +- DIMENSION_DYNAMIC_MARKING_GUARD: hasattr(L['d']['a'], '_dynamo_static_indices') == False
| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(key='x', framelocals_idx=0), type=<class 'torch.Tensor'>, tag_safe=(True, False)
| | +- NO_TENSOR_ALIASING
| | +- DIMENSION_DYNAMIC_MARKING_GUARD: hasattr(L['x'], '_dynamo_dynamic_indices') == False
+- LAMBDA_GUARD: 2 <= L['x'].size()[0]  # m.py:8 in forward (user code shown is first use of this value)
+- LAMBDA_GUARD: L['x'].size()[0] <= 9

Guard latency = 1.23 us
"""
LEAVES = (
    Guard("GLOBAL_STATE", "", "___check_global_state()", 1),
    Guard("DICT_LENGTH", "L['d']", "len(L['d']) == 1", 2),
    Guard("DICT_CONTAINS", "L['d']", "dict.__contains__(L['d'], 'a')", 2),
    Guard("DICT_CONTAINS", "L['d']", "not dict.__contains__(L['d'], 'b')", 2),
    Guard("EQUALS_MATCH", "list(dict.keys(L['d']))[0]", "list(dict.keys(L['d']))[0] == 'a'", 4),
    Guard(
        "TENSOR_MATCH",
        "L['d']['a']",
        "check_tensor(L['d']['a'], Tensor, size=[8])",
        4,
        'y = d["a"] # not a comment',
        Place("m.py", 7, "forward"),
        "type dict",
    ),
    Guard("NO_TENSOR_ALIASING", "L['d']['a']", "check_no_aliasing(L['d']['a'], L['x'])", 4),
    Guard(
        MARKS,
        "L['d']['a']",
        "hasattr(L['d']['a'], '_dynamo_dynamic_indices') == False\nhasattr(L['d']['a'], '_dynamo_static_indices') == False",
        4,
    ),
    Guard("NO_TENSOR_ALIASING", "L['x']", "", 2),
    Guard(MARKS, "L['x']", "hasattr(L['x'], '_dynamo_dynamic_indices') == False", 2),
)
EPILOGUE = (
    Guard("LAMBDA_GUARD", "", "2 <= L['x'].size()[0]", 0, "", Place("m.py", 8, "forward"), "user code shown is first use of this value"),
    Guard("LAMBDA_GUARD", "", "L['x'].size()[0] <= 9", 0),
)  # fmt: skip


def test_a_traceback_is_its_frames_with_their_lines_and_without_its_marks() -> None:
    text = (
        'Traceback (most recent call last):\n  File "m.py", line 7, in forward\n    ^~ ^\n    y = x[0]\n        ~^^^\n'
        '  File "n.py", line 9, in inner\n    raise ValueError\nValueError: y = x[0]'
    )
    assert traceback_frames(text) == (
        Frame("m.py", 7, "forward", "y = x[0]"),
        Frame("n.py", 9, "inner", "raise ValueError"),
    )


def test_guards_are_the_leaves_of_the_tree() -> None:
    assert parse_guards(TREE) == (*LEAVES, *EPILOGUE)


def test_parts_that_only_the_tree_knows_to_be_one_guard_are_one() -> None:
    lambdas = Guard(
        "LAMBDA_GUARD",
        "",
        "2 <= L['x'].size()[0]\nL['x'].size()[0] <= 9",
        0,
        "",
        Place("m.py", 8, "forward"),
        EPILOGUE[0].hint,
    )
    assert grouped_guards(TREE, [1] * 7 + [2, 1, 1, 2]) == (*LEAVES, lambdas)


def test_the_time_of_a_check_is_reported_for_each_guard_and_for_all(tmp_path: Path) -> None:
    checks = [0.1 * number for number in range(11)] + [None]
    data = {
        "schema": 1,
        "parts": [1] * 7 + [2, 1, 1, 1, 1],
        "warm_us": 2.0,
        "copy_us": 3.0,
        "families_us": {"tensor": 1.5, "shape": 0.5},
        "filters": [{"name": "skip_guard_on_globals_unsafe", "kept": 3, "guards": 5, "check_us": 2.5}],
        "checks_us": checks,
    }
    log = tmp_path / "guards.log"
    log.write_bytes(
        line({"dynamo_cpp_guards_str": {}, **GUARDED}, TREE) + record("compileboard_guards", data, **GUARDED)
    )
    (found,) = build_report(log, strict=True).compilations
    assert [guard.check_us for guard in found.guards] == checks
    assert found.guard_costs == GuardCosts(
        3.0, {"tensor": 1.5, "shape": 0.5}, (GuardFilter("skip_guard_on_globals_unsafe", 3, 5, 2.5),)
    )


@pytest.mark.parametrize("parts", [[], [1], [14], [0, 13], [-1, 14]])
def test_parts_of_another_tree_are_none(parts: list[int]) -> None:
    assert grouped_guards(TREE, parts) is None


def test_a_log_whose_records_of_guards_disagree_says_so(tmp_path: Path) -> None:
    log = tmp_path / "guards.log"
    tree = line({"dynamo_cpp_guards_str": {}}, TREE)
    log.write_bytes(tree + record("compileboard_guards", {"schema": 1, "parts": [1, 1], "warm_us": 2.0}))
    assert [problem.what for problem in build_report(log, strict=True).problems] == [
        "guards whose parts are not those of the printed tree"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "L['self'].scale == 2                          # return x*self.scale  # mp/r_modattr.py:6 in forward (HINT: torch.compile considers integer attributes of the nn.Module to be static.)",
            GuardText("L['self'].scale == 2", "return x*self.scale", Place("mp/r_modattr.py", 6, "forward"), "torch.compile considers integer attributes of the nn.Module to be static."),
        ),
        (
            'L[\'f\'].__closure__[0].cell_contents == 2  # return x * n  # mp/r_cell.py:6 in g (HINT: guard on "n") (HINT: second)',
            GuardText("L['f'].__closure__[0].cell_contents == 2", "return x * n", Place("mp/r_cell.py", 6, "g"), 'guard on "n"; second'),
        ),
        (
            "___check_type_id(L['n'], 1234), type=<class 'int'>  # return x + n  # mp/r_type.py:6 in f (HINT: type int)",
            GuardText("___check_type_id(L['n'], 1234), type=<class 'int'>", "return x + n", Place("mp/r_type.py", 6, "f"), "type int"),
        ),
        (
            "2 <= L['x'].size()[0]  # return x  # mp/r_size.py:6 in <lambda> (user code shown is first use of this value--the guard itself is not due user code)",
            GuardText("2 <= L['x'].size()[0]", "return x", Place("mp/r_size.py", 6, "<lambda>"), "user code shown is first use of this value--the guard itself is not due user code"),
        ),
        (
            "L['n'] == f(1)  # y = n # (HINT: mine)  # m.py:6 in f\nUser stack trace:\n  File \"/whole/m.py\", line 6, in f\n    y = n",
            GuardText("L['n'] == f(1)", "y = n # (HINT: mine)", Place("/whole/m.py", 6, "f")),
        ),
        ("len(L['d']) != 1 (HINT: no line)", GuardText("len(L['d']) != 1", hint="no line")),
        ("tensor 'x' size mismatch at index 0. expected 8, actual 16", GuardText("tensor 'x' size mismatch at index 0. expected 8, actual 16")),
        ("", GuardText("")),
    ],
)  # fmt: skip
def test_a_guards_text_is_read_in_its_parts(text: str, expected: GuardText) -> None:
    assert parse_guard(text) == expected


def test_a_recompiles_hint_is_apart_from_its_line_and_its_value(empty_home: Path) -> None:
    reason = "0/0: L['self'].scale == 2  # return x*self.scale  # mp/m.py:6 in forward (HINT: make it a tensor.)"
    log = line({"dynamo_start": {"stack": []}, **GUARDED}, "") + line(
        {"artifact": {"name": "recompile_reasons", "encoding": "json"}, **AGAIN}, json.dumps([reason])
    )
    run = add_run(empty_home, "log", log, kind="log")
    (found,) = build_report(run.log_path() or Path()).recompiles
    app = opened(menu.RECOMPILES.script, run.id)

    assert found == Recompile(
        "0/1",
        "0/0",
        "L['self'].scale == 2",
        "== 2",
        "",
        "return x*self.scale",
        Place("mp/m.py", 6, "forward"),
        None,
        "make it a tensor.",
    )
    assert_sound(app)
    assert "expected `2` · the new value was not recorded · `return x*self.scale` at `m.py:6`" in words(app)
    assert "torch's hint\\: make it a tensor\\." in {item.value for item in app.caption}


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([], "Checking all guards took 1.23 µs with a cold cache; the time with a warm cache was not recorded. Counted in the printed tree"),
        ([{"parts": [1] * 7 + [2, 1, 1, 2], "warm_us": 0.5}], "Checking all guards took 1.23 µs with a cold cache, and 500 ns with a warm one."),
        ([{"parts": [1], "warm_us": None}], "The tree has 1 guard: Compileboard does not know this print format of torch."),
    ],
)  # fmt: skip
def test_the_page_says_what_a_check_costs_and_how_sure_the_count_is(
    empty_home: Path, records: list[dict[str, object]], told: str
) -> None:
    log = line({"dynamo_start": {"stack": []}, **GUARDED}, "") + line({"dynamo_cpp_guards_str": {}, **GUARDED}, TREE)
    log += b"".join(record("compileboard_guards", {"schema": 1, **data}, **GUARDED) for data in records)
    app = opened(menu.GUARDS.script, add_run(empty_home, "log", log, kind="log").id)

    assert_sound(app)
    assert told in plain(app.caption[0].value)


@pytest.mark.long
@pytest.mark.torch
def test_recorded_guards_are_the_leaves_of_torchs_own_tree(tmp_path: Path) -> None:
    script = [sys.executable, "-m", "tests.support.guard_trees", str(tmp_path)]
    printed = subprocess.run(script, capture_output=True, text=True, timeout=300, check=True).stdout
    (log,) = tmp_path.glob("*.log")
    report = build_report(log, strict=True)
    trees = json.loads(printed)

    assert {compilation.id: len(compilation.guards) for compilation in report.compilations} == {
        key: leaves for key, (_, leaves) in trees.items()
    }
    assert all(
        compilation.guard_warm_us is not None and compilation.guard_latency_us is not None
        for compilation in report.compilations
    )
    assert report.problems == ()
    assert all(
        compilation.guard_costs
        and len(compilation.guard_costs.filters) == 4
        and any(guard.check_us for guard in compilation.guards)
        for compilation in report.compilations
    )
