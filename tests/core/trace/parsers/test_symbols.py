"""Symbols, what tracing needed of them, and which became constants, as torch logs them."""

from pathlib import Path
from typing import Any

from core import build_report
from core.report import Compilation, ExportIssue, Expression, Frame, Place, Specialization, Symbol, SymbolGuard
from tests.support.homes import line

STACK = [{"line": 7, "name": "forward", "filename": "/m.py", "loc": "y = x[:n]"}]
FRAME = Frame("/m.py", 7, "forward", "y = x[:n]")
SIZE = {"symbol": "s7", "source": "L['x'].size()[0]", "val": "8", "vr": "[2, int_oo]", "user_stack": STACK}


def compiled(folder: Path, *records: tuple[str, dict[str, Any], int]) -> Compilation:
    """The one compilation of a log of these records, each with its attempt."""
    log = folder / "symbols.log"
    ids = {"frame_id": 0, "frame_compile_id": 0}
    log.write_bytes(b"".join(line({kind: body, **ids, "attempt": attempt}, "") for kind, body, attempt in records))
    (found,) = build_report(log, strict=True).compilations
    return found


def test_a_symbol_is_a_size_or_depends_on_the_data_only(tmp_path: Path) -> None:
    unbacked = {"symbol": "u0", "vr": "[-int_oo, int_oo]", "user_stack": None}
    found = compiled(tmp_path, ("create_symbol", SIZE, 0), ("create_unbacked_symbol", unbacked, 0))
    where = Place("/m.py", 7, "forward")
    assert found.symbols == (
        Symbol("s7", "L['x'].size()[0]", "8", "[2, int_oo]", "y = x[:n]", where, True, (FRAME,)),
        Symbol("u0", "", "", "[-int_oo, int_oo]", backed=False),
    )


def test_what_tracing_needed_and_fixed_is_kept_with_its_stack_each_once(tmp_path: Path) -> None:
    guard = ("guard_added_fast", {"expr": "Eq(s7, 8)", "user_stack": STACK}, 0)
    taken = ("propagate_real_tensors", {"expr": "u0 > 3", "result": "True"}, 0)
    fixed = {"symbol": "s7", "sources": ["L['x'].size()[0]"], "value": "8", "reason": "because", "user_stack": STACK}
    special = ("symbolic_shape_specialization", fixed, 0)
    found = compiled(tmp_path, guard, guard, taken, special, special)
    assert found.symbol_guards == (SymbolGuard("Eq(s7, 8)", (FRAME,)), SymbolGuard("u0 > 3", (), "True"))
    assert found.specializations == (Specialization("s7", ("L['x'].size()[0]",), "8", "because", (FRAME,)),)


def test_a_condition_that_torch_logs_twice_has_what_either_record_knows(tmp_path: Path) -> None:
    full = {"expr": "Eq(s7, 8)", "user_stack": STACK, "symbol_to_sources": {"s7": ["L['x'].size()[0]"]}}
    fast = {"expr": "Eq(s7, 8)", "user_stack": []}
    both = SymbolGuard("Eq(s7, 8)", (FRAME,), sources={"s7": "L['x'].size()[0]"})
    for records in ((("guard_added_fast", fast, 0), ("guard_added", full, 0)), (("guard_added", full, 0),)):
        assert compiled(tmp_path, *records).symbol_guards == (both,)


def test_an_export_has_its_data_dependent_expressions_and_the_ops_without_a_right_fake_kernel(tmp_path: Path) -> None:
    frame = {"loc": "y = x[:n]", "locals": {"n": ["u0"], "m": "3"}, "symbols": {}}
    assumed = {"expr": "u0 > 3", "result": "True", "user_stack": STACK, "frame_locals": frame, "symbol_to_sources": {}}
    found = compiled(
        tmp_path,
        ("propagate_real_tensors", {"expr": "u0 > 3", "result": "True"}, 0),
        ("propagate_real_tensors_provenance", assumed, 0),
        ("propagate_real_tensors_provenance", assumed, 0),
        ("guard_on_data_dependent_error", {"expr": "Eq(u1, 0)", "stack": STACK}, 0),
        ("missing_fake_kernel", {"op": "mylib.foo.default"}, 0),
        ("mismatched_fake_kernel", {"op": "mylib.bar.default", "reason": "fake u1, real 8 "}, 0),
    )
    assert found.symbol_guards == (SymbolGuard("u0 > 3", (FRAME,), "True"),)
    assert found.export_issues == (
        ExportIssue("data-dependent", "u0 > 3", "", "True", (FRAME,), {"n": "u0", "m": "3"}, 2),
        ExportIssue("data-dependent", "Eq(u1, 0)", stack=(FRAME,)),
        ExportIssue("missing fake kernel", "mylib.foo.default"),
        ExportIssue("mismatched fake kernel", "mylib.bar.default", "fake u1, real 8"),
    )


def test_an_expression_has_the_line_that_computed_it_once(tmp_path: Path) -> None:
    created = {"method": "gt", "result": "u0 > 3", "arguments": ["u0", "3"], "user_stack": STACK}
    without = {**created, "user_stack": None, "arguments": None}
    records = [("expression_created", body, 0) for body in (created, created, without)]
    assert compiled(tmp_path, *records).expressions == (
        Expression("u0 > 3", "gt", ("u0", "3"), FRAME),
        Expression("u0 > 3", "gt", ()),
    )


def test_an_attempt_that_was_given_up_leaves_no_symbols(tmp_path: Path) -> None:
    other = {**SIZE, "symbol": "s9"}
    guard = {"expr": "s9 > 3", "user_stack": STACK}
    found = compiled(tmp_path, ("create_symbol", other, 0), ("guard_added_fast", guard, 0), ("create_symbol", SIZE, 1))
    assert [symbol.name for symbol in found.symbols] == ["s7"]
    assert found.symbol_guards == ()
