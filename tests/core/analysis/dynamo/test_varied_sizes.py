"""Advice for a size that varies: which marks avoid the recompile, and why none do."""

from dataclasses import replace

import pytest

from core.analysis.dynamo.recompiles import local_names
from core.analysis.dynamo.varied_sizes import InputDimension, SizeAdvice, holds, shape_guards, size_advice, size_values
from core.report import Compilation, Frame, Guard, Recompile, Report, Setting, Symbol

MISMATCH = "tensor 'x' size mismatch at index {}. expected {}, actual {}"


def guarded(compile_id: str, sizes: str, *conditions: str, source: str = "L['x']") -> Compilation:
    """A compilation whose guards list the sizes of one tensor, and conditions on them."""
    guards = [Guard("TENSOR_MATCH", source, f"check_tensor({source}, size=[{sizes}], stride=[8, 1])", 0)]
    guards += [Guard("SHAPE_ENV", "", condition, 0) for condition in conditions]
    return Compilation(compile_id, Frame("m.py", 1, "f"), (), 1, "ok", "", (), tuple(guards), None, (), (), ())


FIRST = guarded("0/0", "4, 8")
SECOND = guarded("0/1", "None, 8", "2 <= L['x'].size()[0]  # _dynamo/x.py")
REASON = Recompile("0/1", "0/0", MISMATCH.format(0, 4, 6))


def advice(*compilations: Compilation, reasons: tuple[Recompile, ...] = (REASON,), job: str = "") -> SizeAdvice:
    setting = Setting(job={"compile": {"dynamic": job == "dynamic"}} if job else None)
    return size_advice(Report(setting, compilations, recompiles=reasons), reasons[0])


def test_a_dimension_that_torch_leaves_open_later_is_marked_before_the_first_call() -> None:
    marks = (InputDimension("x", 0),)
    assert advice(FIRST, SECOND) == SizeAdvice(marks, dynamic=True, once=True)
    assert advice(FIRST, SECOND, job="dynamic") == SizeAdvice(marks, dynamic=False, once=True)
    assert advice(FIRST, SECOND, job="static") == SizeAdvice(why="static")


@pytest.mark.parametrize(
    ("reason", "once"),
    [
        (MISMATCH.format(0, 6, 7), True),
        (MISMATCH.format(1, 8, 9), False),
        ("L['n'] == 3", True),
        ("L['x'].size()[0] <= 100", False),
    ],
)
def test_one_graph_is_left_if_no_other_reason_is_about_a_size_without_a_mark(reason: str, once: bool) -> None:
    third = guarded("0/2", "None, 8", "2 <= L['x'].size()[0]")
    assert advice(FIRST, SECOND, third, reasons=(REASON, Recompile("0/2", "0/1", reason))).once == once


def test_a_first_size_that_takes_another_branch_has_no_marks() -> None:
    assert advice(FIRST, guarded("0/1", "None, 8", "5 <= L['x'].size()[0]")) == SizeAdvice(why="branch")
    unknown = advice(FIRST, guarded("0/1", "None, 8", "f(L['x'].size()[0])"))
    assert (unknown.marks, unknown.why, unknown.once) == ((), "unknown", False)


def test_a_size_that_stays_a_number_or_is_of_a_module_has_no_marks() -> None:
    assert advice(FIRST, guarded("0/1", "6, 8")) == SizeAdvice(why="constant")
    for kind, why in (("_buffers", "module"), ("_parameters", "parameter")):
        weight = f"L['self'].{kind}['w']"
        of_module = [guarded(name, sizes, source=weight) for name, sizes in (("0/0", "4, 8"), ("0/1", "None, 8"))]
        reason = replace(REASON, reason=REASON.reason.replace("'x'", f"'{local_names(weight)}'"))
        assert advice(*of_module, reasons=(reason,)).why == why


def test_sizes_0_and_1_keep_graphs_of_their_own() -> None:
    reason = replace(REASON, reason=MISMATCH.format(0, 4, 1))
    assert advice(FIRST, guarded("0/1", "1, 8"), reasons=(reason,)) == SizeAdvice(why="specialized", special=(1,))


def test_equal_sizes_of_two_dimensions_are_not_one_symbol_for_dynamic() -> None:
    assert not advice(guarded("0/0", "4, 4"), guarded("0/1", "None, 4", "2 <= L['x'].size()[0]")).dynamic


def test_a_number_that_depends_on_the_size_is_named() -> None:
    tied = guarded("0/1", "None, 8", "L['x'].size()[0] == 2*L['n']")
    result = advice(FIRST, replace(tied, symbols=(Symbol("s0", "L['n']", "3", ""),)))
    assert (result.marks, result.why, result.number) == ((), "number", "n")


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("2 <= s <= 4", True),
        ("s < 4", False),
        ("s > 4 or s >= 4", True),
        ("s != 4 and 1 == 1", False),
        ("not s == 3", True),
        ("-s == -4", True),
        ("s*2 - 1 == 7", True),
        ("s // 3 == 1 and s % 3 == 1", True),
        ("s + 1 == 5", True),
        ("s // 0 == 1", None),
        ("t == 4", None),
        ("s ** 2 == 16", None),
        ("f(s)", None),
        ("s ==", None),
    ],
)
def test_a_condition_holds_or_not_or_is_unknown(condition: str, value: bool | None) -> None:
    assert holds(condition, {"s": 4}) is value


def test_known_values_are_the_sizes_strides_and_numbers_of_the_guards() -> None:
    compilation = guarded("0/0", "None, 8", "L['n'] == -3", "L['m'] == 2.5")
    assert size_values(compilation) == {
        "L['x'].size()[1]": 8,
        "L['x'].stride()[0]": 8,
        "L['x'].stride()[1]": 1,
        "L['n']": -3,
    }
    assert shape_guards(SECOND) == ("2 <= L['x'].size()[0]",)
