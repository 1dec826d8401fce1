"""The page of guards as blocks: families, filters, the table, and a guard in full."""

from dataclasses import replace
from typing import Any

import pytest

from core.report import Compilation, Report
from core.views.blocks import Beside, Code, Column, Listing, PageBlock, Picks, Table, Text, words
from core.views.guards import FAMILY, GUARD, GUARD_COLUMNS, MENTIONED, guards
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def recorded(name: str, compile_id: str) -> tuple[Report, Compilation]:
    report = recorded_report(TRACES / name / "trace.log")
    compilation = report.compilation(compile_id)
    assert compilation is not None
    return report, compilation


def flat(blocks: list[PageBlock]) -> list[PageBlock]:
    parts = ((*block.left, *block.right) if isinstance(block, Beside) else (block,) for block in blocks)
    return [each for part in parts for each in part]


def page(report: Report, compilation: Compilation, picks: Picks | None = None) -> list[PageBlock]:
    return flat(list(guards(report, compilation, picks or Picks())))


def tables(blocks: list[PageBlock]) -> dict[str, Table[Any]]:
    return {block.name: block for block in blocks if isinstance(block, Table)}


def texts(blocks: list[PageBlock]) -> list[str]:
    return [words(block.prose) for block in blocks if isinstance(block, Text)]


def names(table: Table[Any]) -> list[str]:
    return [column.name for column in table.shown]


def test_families_have_shares_and_check_times_where_they_were_measured() -> None:
    report, compilation = recorded("symbols", "0/0")
    measured = page(report, compilation)
    untimed = page(report, replace(compilation, guard_costs=None))
    families = tables(measured)[FAMILY]
    assert {families.columns[0].text(row) for row in families.rows} == {"Tensor", "Shape", "Global", "Other"}
    assert names(families) == ["family", "guards", "share", "check", "recompiles"]
    assert names(tables(untimed)[FAMILY]) == ["family", "guards", "recompiles"]
    assert "The time that a `guard_filter_fn` saves was not recorded." in texts(untimed)
    assert list(tables(measured)) == [FAMILY, "filters", GUARD]
    assert list(tables(untimed)) == [FAMILY, GUARD]


def test_a_guard_that_failed_is_first_and_names_its_recompiles() -> None:
    report, compilation = recorded("recompile_zoo", "0/0")
    blocks = page(report, compilation, Picks({GUARD: 0}))
    table = tables(blocks)[GUARD]
    recompiles = next(column for column in table.shown if column.name == "recompiles")
    assert recompiles.text(table.rows[0]) == ", ".join(f"[{name}]" for name in table.rows[0].recompiles) != ""
    assert texts(blocks)[-1].startswith("It failed, so torch compiled [0/")
    assert Listing("Guard expression", Code(table.rows[0].guard.expression), is_open=True) in blocks


@pytest.mark.parametrize(("typed", "kinds"), [("TENSOR_MATCH", {"TENSOR_MATCH"}), ("no such guard", set())])
def test_guards_that_mention_a_text_match(typed: str, kinds: set[str]) -> None:
    report, compilation = recorded("recompile_zoo", "0/1")
    table = tables(page(report, compilation, Picks(texts={MENTIONED: typed})))[GUARD]
    assert {row.guard.kind for row in table.rows} == kinds
    assert set(names(table)) >= {"kind", "value", "protects", "source line"}


def test_optional_columns_without_a_value_are_left_out() -> None:
    assert names(Table(GUARD, GUARD_COLUMNS, [])) == ["kind", "value", "protects", "source line"]


def test_a_check_that_is_too_short_to_measure_has_a_bound() -> None:
    check: Column[Any] = next(column for column in GUARD_COLUMNS if column.name == "check")
    assert [check.unit(seconds) for seconds in (2e-6, 5e-9, 1e-9)] == ["2.00 µs", "5.00 ns", "< 5.00 ns"]


def test_a_compilation_without_guards_shows_its_error() -> None:
    report, compilation = recorded("recompile_zoo", "0/1")
    blocks = page(report, replace(compilation, guards=(), error="boom *now*"))
    assert texts(blocks) == ["boom *now*"]
