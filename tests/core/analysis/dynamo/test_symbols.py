"""Each symbol with what is asked of it."""

from core.analysis.dynamo.recompiles import symbol_rows, users_frames
from core.report import Frame
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def test_each_symbol_has_its_conditions_and_what_made_it_a_constant() -> None:
    compilation = recorded_report(TRACES / "symbols" / "trace.log").compilations[0]
    found = symbol_rows(compilation)
    of_users = [row for row in found if users_frames(row.symbol.stack)]
    assert [
        (row.symbol.name, row.symbol.source, row.symbol.value, row.symbol.backed, row.constant) for row in of_users
    ] == [
        ("s77", "L['x'].size()[0]", "4", True, ""),
        ("s27", "L['x'].size()[1]", "3", True, ""),
        ("u0", "", "", False, ""),
        ("s17", "L['y'].size()[0]", "5", True, "5"),
        ("s94", "L['y'].size()[1]", "6", True, ""),
    ]
    assert [(guard.expression, guard.stack[-1].text) for guard in found[0].needed if guard.stack] == [
        ("s77 > 3", "if x.shape[0] > 3:")
    ]
    assert found[0].checked == ("L['x'].size()[1]*L['x'].size()[0] <= 4096", "4 <= L['x'].size()[0]")
    assert [(one.reason, one.stack[-1].text) for one in found[3].specializations] == [
        ("range_refined_to_singleton", "if y.shape[0] == 5:")
    ]


def test_a_symbol_is_not_taken_for_one_whose_name_begins_alike() -> None:
    compilation = recorded_report(TRACES / "symbols" / "trace.log").compilations[0]
    (row,) = (row for row in symbol_rows(compilation) if row.symbol.name == "u0")
    assert [guard.expression for guard in row.needed] == ["u0 >= 0"]


def test_the_users_frames_are_without_our_worker_and_torchs_tracing() -> None:
    users = Frame("/home/me/torch_models/m.py", 3, "forward")
    layer = Frame("/usr/lib/torch/nn/modules/linear.py", 9, "forward")
    others = (
        Frame("<string>", 1, "<module>"),
        Frame("/opt/compileboard/core/worker/calls.py", 2, "__call__"),
        Frame("/usr/lib/torch/fx/_symbolic_trace.py", 5, "trace"),
    )
    assert users_frames((*others, users, layer)) == (users, layer)
