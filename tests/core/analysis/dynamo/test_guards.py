"""Which guards are about a value, what a search finds among them, their families, and what they cost."""

from dataclasses import replace

import pytest

from core.analysis.dynamo.recompiles import PROTECTS, guard_families, guard_rows, guards_on, mentions
from core.report import (
    Compilation,
    Frame,
    FxNode,
    Guard,
    GuardCosts,
    Place,
    Recompile,
    Report,
    Setting,
    guard_family,
    module_roots,
)
from core.report.nodes import Op
from tests.record import SCENARIOS
from tests.support.logs import recorded_report
from tests.support.places import TRACES

WEIGHT = Guard(
    "TENSOR_MATCH", "L['self'].norm.weight", "check_tensor(…)", 2, "y = self.norm(x)", Place("m.py", 7, "forward")
)
INPUT = Guard("NO_TENSOR_ALIASING", "L['x']", "check_no_aliasing(…)", 1, hint="type dict")
ITEM = Compilation("0/0", Frame("/m.py", 1, "f"), (), 1, "ok", "", (), (WEIGHT, INPUT), None, (), (), ())


@pytest.mark.parametrize(
    ("op", "name", "found"),
    [
        ("placeholder", "L_self_norm_weight_", (WEIGHT,)),
        ("placeholder", "l_x_", (INPUT,)),
        ("get_attr", "L_self_norm_bias_", ()),
        ("call_function", "l_x_", ()),
    ],
)
def test_the_guards_on_an_input_are_those_on_what_it_stands_for(op: Op, name: str, found: tuple[Guard, ...]) -> None:
    assert guards_on(ITEM, FxNode(name, op, name, "", (), None, 1)) == found


@pytest.mark.parametrize(("text", "found"), [("", True), ("NORM", True), ("m.py:7", True), ("dict", False)])
def test_a_search_looks_through_every_field(text: str, found: bool) -> None:
    assert mentions(WEIGHT, text) is found


@pytest.mark.parametrize(
    ("kind", "source", "last", "family"),
    [
        ("TENSOR_MATCH", "L['x']", False, "tensor"),
        ("EQUALS_MATCH", "L['n']", False, "other"),
        ("LAMBDA_GUARD", "", False, "other"),
        ("LAMBDA_GUARD", "", True, "shape"),
        ("SYMBOLIC_SHAPE_GUARD", "L['x']", False, "shape"),
        ("TENSOR_MATCH", "L['self']._modules['norm']._parameters['weight']", False, "module"),
        ("EQUALS_MATCH", "L['self'].mode", False, "module"),
        ("TYPE_MATCH", "L['net'].scale", False, "module"),
        ("TYPE_MATCH", "L['network']", False, "other"),
        ("TYPE_MATCH", "L['net']_x", False, "other"),
        ("ID_MATCH", "G['torch']", False, "global"),
        ("TYPE_MATCH", "G['net']", False, "module"),
        ("GLOBAL_STATE", "", False, "other"),
    ],
)
def test_a_guard_belongs_to_the_family_of_what_it_is_reached_through(
    kind: str, source: str, last: bool, family: str
) -> None:
    modules = module_roots(["L['net']._modules['a']", "G['net']._parameters['w']", "L['x']"])
    assert guard_family(kind, source, modules, last) == family


def test_every_kind_that_a_recorded_log_has_says_what_it_protects() -> None:
    kinds = {
        guard.kind
        for name in SCENARIOS
        for compilation in recorded_report(TRACES / name / "trace.log").compilations
        for guard in compilation.guards
    }
    assert kinds - PROTECTS.keys() == set()


COSTED = replace(
    ITEM,
    guards=(
        Guard("GLOBAL_STATE", "", "___check_global_state()", 1),
        Guard("TENSOR_MATCH", "L['x']", "check_tensor(…)", 2),
        Guard("EQUALS_MATCH", "L['n']", "L['n'] == 1", 2),
        Guard("EQUALS_MATCH", "L['self'].k", "L['self'].k == 2", 2),
    ),
    guard_costs=GuardCosts(10.0, {"tensor": 2.0, "module": 5.0, "global": 1.0}),
)


def test_families_share_a_check_and_what_is_left_is_that_of_the_others() -> None:
    report = Report(Setting(), (COSTED,), recompiles=(Recompile("0/1", "0/0", "n == 1"), Recompile("0/2", "0/1", "x")))
    found = guard_families(COSTED, guard_rows(report, COSTED))
    assert [(share.family, len(share.rows), share.check_us, share.share, share.recompiles) for share in found] == [
        ("module", 1, 5.0, 0.5, ()),
        ("other", 2, 3.0, 0.3, ("0/1",)),
        ("tensor", 1, 2.0, 0.2, ()),
    ]


def test_where_a_family_was_not_measured_what_is_left_is_not_known() -> None:
    partly = replace(COSTED, guard_costs=GuardCosts(10.0, {"tensor": 2.0}))
    found = guard_families(partly, guard_rows(Report(Setting(), (partly,)), partly))
    assert {share.family: share.check_us for share in found} == {"tensor": 2.0, "module": None, "other": None}


def test_a_recompile_is_of_the_guard_that_failed_in_the_code_that_was_used_last() -> None:
    report = recorded_report(TRACES / "recompile_zoo" / "trace.log")
    made = {
        compilation.id: {row.guard.source: row.recompiles for row in guard_rows(report, compilation) if row.recompiles}
        for compilation in report.compilations
    }
    assert made == {
        "0/0": {"L['x']": ("0/1",)},
        "0/1": {"L['power']": ("0/2",)},
        "0/2": {"L['scale']": ("0/3",)},
        "0/3": {"L['x']": ("0/4",)},
        "0/4": {"L['x']": ("0/5",)},
        "0/5": {"L['extras']": ("0/6",)},
        "0/6": {"L['self'].mode": ("0/7",)},
        "0/7": {"G['GLOBAL_OFFSET']": ("0/8",)},
        "0/8": {},
    }
