"""Symbols of dynamic shapes in words and rows."""

from dataclasses import replace

from core import CompileJob, CompileOptions, Model
from core.report import ExportIssue, Expression, Frame
from core.views.blocks import Fold, PageBlock, PageLink, Table, words
from core.views.dynamic_shapes import SymbolsView, dynamic_shapes
from core.views.printed import as_text
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def symbols_of(name: str, compile_id: str, job: CompileJob | None = None) -> SymbolsView:
    report = recorded_report(TRACES / name / "trace.log")
    compilation = report.compilation(compile_id)
    assert compilation is not None
    return SymbolsView(report, compilation, job)


def test_a_symbol_has_its_values_its_conditions_and_the_constant_that_it_was_made() -> None:
    details = [*as_text(symbols_of("symbols", "0/0").details("s17"))]
    assert details[:2] == [
        "`s17` is `L['y'].size()[0]`: hint `5`, range `[2, int_oo]`",
        "Specialized to the constant `5`: `range_refined_to_singleton`",
    ]
    assert "`Eq(s17, 5)` for `if y.shape[0] == 5:` at `model.py:12`" in details


def test_rows_have_all_symbols_and_an_unknown_name_shows_the_first() -> None:
    symbols = symbols_of("symbols", "0/0")
    (table,) = (
        block for block in dynamic_shapes(symbols.report, symbols.compilation, None) if isinstance(block, Table)
    )
    names = [row.symbol.name for row in symbols.symbols]
    assert [row[0] for row in table.texts(table.rows).rows] == names
    assert [*symbols.details("no such symbol")] == [*symbols.details(names[0])]


def test_without_a_symbol_compilations_with_symbols_are_named() -> None:
    symbols = symbols_of("recompile_zoo", "0/0")
    assert symbols.title == "No size of [0/0] is dynamic."
    link = next(symbols.links)
    assert isinstance(link, PageLink)
    assert link.label.endswith("1 symbol")


def test_the_reason_why_there_is_none_depends_on_the_job() -> None:
    dynamic = CompileJob(Model("sample", "mlp"), compile=CompileOptions(dynamic=True))
    reasons = [symbols_of("recompile_zoo", "0/0", job).why_none for job in (dynamic, None)]
    assert reasons[0] == "This run has `dynamic=True`, but no size of this compilation could be dynamic."
    assert reasons[1].endswith("`torch.compile(model, dynamic=True)` makes sizes and numbers dynamic from the start.")


CALLED = Frame("/site-packages/torch/nn/modules/module.py", 1778, "_wrapped_call_impl", "return …")
LINE = Frame("/m.py", 7, "forward", "if k > 1:")


def exported(*issues: ExportIssue, expressions: tuple[Expression, ...] = ()) -> SymbolsView:
    symbols = symbols_of("recompile_zoo", "0/0")
    compilation = replace(symbols.compilation, export_issues=issues, expressions=expressions)
    return replace(symbols, compilation=compilation)


def page_of(view: SymbolsView) -> list[PageBlock]:
    return [*dynamic_shapes(view.report, view.compilation, None)]


def test_each_issue_of_an_export_has_its_line_and_a_change_to_make() -> None:
    view = exported(
        ExportIssue("data-dependent", "u0 > 1", "", "True", (CALLED, LINE), {"k": "u0"}, 2),
        ExportIssue("data-dependent", "Eq(u1, 0)"),
        ExportIssue("missing fake kernel", "mylib.foo.default"),
        ExportIssue("mismatched fake kernel", "mylib.bar.Scalar", "fake u1, real 8"),
    )
    assert view.title == (
        "No size of [0/0] is dynamic; to fix: 2 data-dependent expressions, 1 missing fake kernel, 1 wrong fake kernel."
    )
    check = "`torch._check(…)` with this condition, before the line, makes it a part of the program."
    assert [line for line in as_text(page_of(view)) if line][1:8] == [
        "`u0 > 1` depends on data and was taken to be `True` for `if k > 1:` at `m.py:7`; `k` is `u0`, 2 times. "
        + check,
        "Lines of your code:",
        "  /m.py:7 in forward",
        "      if k > 1:",
        f"`Eq(u1, 0)` depends on data and stopped the export. {check}",
        '`mylib.foo.default` has no fake kernel. Register one with `@torch.library.register_fake("mylib::foo")`.',
        "The fake kernel of `mylib.bar.Scalar` differs from its real one: fake u1, real 8. "
        'Correct the function that `@torch.library.register_fake("mylib::bar.Scalar")` registers.',
    ]


def test_expressions_have_the_line_that_computed_them() -> None:
    expressions = (Expression("u0 > 1", "gt", ("u0", "1"), LINE), Expression("2*s0", "mul", ("s0",)))
    view = symbols_of("symbols", "0/0")
    whole = replace(view, compilation=replace(view.compilation, expressions=expressions))
    (fold,) = (block for block in page_of(whole) if isinstance(block, Fold))
    assert words(fold.title) == "2 expressions"
    (table,) = (block for block in fold.blocks if isinstance(block, Table))
    assert table.texts(table.rows).rows == (
        ("u0 > 1", "gt(u0, 1)", "m.py:7 if k > 1:"),
        ("2*s0", "mul(s0)", ""),
    )
