"""Repairs of graph breaks: edits at the line that is named, and nothing but them."""

import ast
from dataclasses import replace

import pytest

from core import JobError
from core.analysis.repairs.offers import (
    LOG,
    OF_BREAKS,
    RULES,
    line_of,
    repair_of,
    repaired,
    repairs_of_break,
    together,
)
from core.analysis.repairs.source import read_code, shares
from core.graph.fx import source_path
from core.job.gallery import sample
from core.report import Frame, GraphBreak, Place
from tests.support.logs import recorded_report
from tests.support.places import TRACES

HEAD = "import torch\n\n\ndef model(x):\n"
ZOO = sample("graph_break_zoo").path.read_text(encoding="utf-8")
FILE = "/compileboard/run/model.py"


def stopped(registry_id: str, line: int, context: str = "", hints: tuple[str, ...] = ()) -> GraphBreak:
    """A graph break at a line of the user's file."""
    return GraphBreak("a reason", "", hints, context, registry_id, Place(FILE, line), "", (), ("0/0",))


# What a rule makes of the body of `model`, whose first line is the fifth of the file.
EDITS = {
    ("eager_only:5", "    print(x)\n    return x\n"): (
        "    if not torch.compiler.is_compiling():\n        print(x)\n    return x\n"
    ),
    ("eager_only:5", "    print(\n        x,\n    )\n    return x\n"): (
        "    if not torch.compiler.is_compiling():\n        print(\n            x,\n        )\n    return x\n"
    ),
    ("where:5", "    if x.any():\n        return x\n    else:\n        return -x\n"): (
        "    return torch.where(x.any(), x, -x)\n"
    ),
    ("where:5", "    if x.sum() > 0:  # large\n        x = x * 2\n    return x\n"): (
        "    x = torch.where(x.sum() > 0, x * 2, x)  # large\n    return x\n"
    ),
    ("where:5", "    if x.sum() > 0:\n        y = x\n    else:\n        y = -x\n    return y\n"): (
        "    y = torch.where(x.sum() > 0, x, -x)\n    return y\n"
    ),
    ("where:5", "    return x.é if not x[0] else x * (1, 2)[0]\n"): (
        "    return torch.where(~((x[0]).bool()), x.é, x * (1, 2)[0])\n"
    ),
    ("cond:5", "    return x + 1 if x.max() > 0 else -x\n"): (
        "    return torch.cond(x.max() > 0, lambda: x + 1, lambda: -x, ())\n"
    ),
    ("keep_tensor:5", "    a, b = x.sum().item(), x.tolist()\n    return a, b\n"): (
        "    a, b = x.sum(), x\n    return a, b\n"
    ),
    ("keep_tensor:5", "    return x / float(x.sum() + 1)\n"): "    return x / (x.sum() + 1)\n",
    ("eager_only:5", "    logger.info(x)\n    return x\n"): (
        "    if not torch.compiler.is_compiling():\n        logger.info(x)\n    return x\n"
    ),
    ("where:5", "    if x.sum().item() > 0:\n        x *= 2 + 1\n    return x\n"): (
        "    x = torch.where(x.sum() > 0, x * (2 + 1), x)\n    return x\n"
    ),
    ("where:5", "    s = x.sum().item()\n    if s > 0:\n        return x\n    else:\n        return -x\n"): (
        "    s = x.sum()\n    return torch.where(s > 0, x, -x)\n"
    ),
    ("where:5", "    return x if bool(torch.equal(x, -x)) else x / x.max().item()\n"): (
        "    return torch.where(torch.eq(x, -x).all(), x, x / x.max())\n"
    ),
    ("check:5", "    assert not x.isnan().any(), f'NaN in {x.shape}'\n    return x\n"): (
        "    assert ~(x.isnan().any()), 'NaN in {x.shape}'\n    return x\n"
    ),
    ("print_op:5:1", "    print('a {}', s, f'{x.sum():.2f}', x.dtype)\n    return x\n"): (
        '    torch._higher_order_ops.print("a {{}} {!s} {:.2f} {!s}", str(s), x.sum(), str(x.dtype))\n    return x\n'
    ),
    ("print_op:5:1", "    print('a', x.shape)\n    return x\n"): (
        '    torch._higher_order_ops.print("a torch.Size([" + ", ".join(["{!s}"] * len(x.shape)) + "])", *x.shape)\n'
        "    return x\n"
    ),
    ("where:5", "    if n == 1 and x.max().item() > 9:\n        x = x.clamp(-9, 9)\n    return x\n"): (
        "    if n == 1:\n        x = torch.where(x.max() > 9, x.clamp(-9, 9), x)\n    return x\n"
    ),
    ("torch_math:5", "    return x * math.sqrt(x.sum())\n"): "    return x * torch.sqrt(x.sum())\n",
    ("clone:5", "    return copy.deepcopy(x) + 1\n"): "    return x.detach().clone() + 1\n",
    ("remove_break:5", "    torch._dynamo.graph_break()\n    return x\n"): "    return x\n",
    ("remove_break:6", "    if True:\n        torch._dynamo.graph_break()\n    return x\n"): (
        "    if True:\n        pass\n    return x\n"
    ),
}  # fmt: skip
# What no rule touches, since another meaning would come of it.
LEFT = (
    ("where:5", "    if x.any() and x.all():\n        return x\n    return -x\n"),
    ("where:5", "    if x.any():\n        return x, True\n    return x, False\n"),
    ("cond:5", "    if x.any():\n        return x, x + 1\n    return -x, x\n"),
    ("where:5", "    return x if x.any() else None\n"),
    ("where:5", "    return f(x) if x.any() else x\ndef f(x):\n    CALLS[0] += 1\n    return x\n"),
    ("where:5", "    if n == 1 and x.max().item() > 9:\n        return x\n    return -x\n"),
    ("where:5", "    if x.max().item() > 9 and n == 1:\n        x = -x\n    return x\n"),
    ("keep_tensor:5", "    log.warning('%s', x.mean().tolist())\n    return x\n"),
    ("where:5", "    if x.any():\n        return x\n    x = -x\n    return x\n"),
    ("where:5", "    if x is None:\n        return x\n    return -x\n"),
    ("where:5", "    if x.any():\n        y = x\n    else:\n        z = x\n    return x\n"),
    ("where:7", "    if x is None:\n        y = x\n    elif x.any():\n        y = -x\n    return x\n"),
    (
        "where:5",
        "    if x.any():\n        x = -x\n    else:\n        top = x.amax()\n        x = x / top\n    return x\n",
    ),
    (
        "cond:5",
        "    if x.any():\n        x = -x\n    else:\n        top = x.amax()\n        x = x / top\n    return x\n",
    ),
    ("where:5", "    return (y := x) if x.any() else -x\n"),
    ("keep_tensor:5", "    return x.item\n"),
    ("eager_only:5", "    x += 1; print(x)\n    return x\n"),
    ("eager_only:5", "    return print(x)\n"),
    ("hoist:5", "    return len(x)\n"),
    ("remove_break:5", "    y = torch._dynamo.graph_break()\n    return x\n"),
    ("disable:5", "    return x\n"),
    ("reorder:5", "    return x\n"),
    ("reorder:5", "    log.info(x)\n    return x\n"),
    ("cond:5", "    return x if x.max() > 0 else -x\n"),
    ("keep_tensor:5", "    return int(x)\n"),
    ("hoist:5", "    print(1)\n    return x\n"),
    ("where:6", "    if self.training:\n        x = x.max().item()\n    return x\n"),
    ("where:5", "    y = x.max().item() if flag else x\n    return y\n"),
    ("keep_tensor:5", "    n = x.sum().item()\n    if n > 0:\n        x = -x\n    return x * n\n"),
    ("keep_tensor:5", "    return torch.zeros(x.max().item())\n"),
    ("reorder:5", "    print(x.shape)\n    return x\n"),
    ("print_op:5:x", "    print(x, sep='')\n    return x\n"),
    ("torch_math:5", "    return x * cmath.sqrt(x.sum())\n"),
    ("torch_math:5", "    return x * math.dist(x.sum())\n"),
    ("torch_math:5", "    return math.atan2(x, x)\n"),
    ("constant:5", "    return x * len(open('/dev/null').read())\n"),
    ("clone:5", "    return copy.deepcopy(GLOBAL)(x)\n\n\nGLOBAL = torch.nn.ReLU()\n"),
)


def test_a_number_that_is_stored_in_an_attribute_is_kept_as_a_tensor_only_by_hand() -> None:
    stored = repair_of(f"{HEAD}    self.seen[1] = x.sum().item()\n    return x\n", "keep_tensor:5")
    local = repair_of(f"{HEAD}    y = x.sum().item()\n    return x * y\n", "keep_tensor:5")
    assert [fix.stacks for fix in (stored, local) if fix] == [False, True]


@pytest.mark.parametrize(("repair", "body"), EDITS)
def test_a_rule_edits_its_line_and_leaves_the_rest(repair: str, body: str) -> None:
    assert repaired(HEAD + body, [[repair]]) == HEAD + EDITS[repair, body]


@pytest.mark.parametrize(("repair", "body"), LEFT)
def test_a_rule_leaves_what_it_cannot_repair_without_another_meaning(repair: str, body: str) -> None:
    assert repair_of(HEAD + body, repair) is None


@pytest.mark.parametrize(
    ("message", "doubt"),
    [("", ""), (", 'no NaN'", ""), (", f'NaN in {x.shape}'", "The message can no longer contain values.")],
)
def test_an_assertion_whose_message_had_values_is_reported_to_lose_them(message: str, doubt: str) -> None:
    repair = repair_of(f"{HEAD}    assert not x.isnan().any(){message}\n    return x\n", "check:5")
    assert repair is not None
    assert repair.fix.doubt == doubt


def test_a_constant_call_moves_above_the_function_with_all_that_is_constant_around_it() -> None:
    code = "import zlib\n\nNAME = b'x'\n\n\n@decorated\ndef model(x):\n    return x[zlib.crc32(NAME) % 64]\n"
    assert repaired(code, [["hoist:8"]]) == (
        "import zlib\n\nNAME = b'x'\n\n\nCRC32 = zlib.crc32(NAME) % 64\n\n\n@decorated\ndef model(x):\n"
        "    return x[CRC32]\n"
    )


@pytest.mark.parametrize(
    "change",
    ["NAME = b'y'", "def other():\n    global NAME", "NAME = [1]", "def other(NAME):\n    pass", "zlib = None"],
)
def test_a_call_of_what_may_change_stays_where_it_is(change: str) -> None:
    code = f"import zlib\nNAME = b'x'\ndef model(x):\n    return x[zlib.crc32(NAME)]\n{change}\n"
    assert repair_of(code, "hoist:4") is None


def test_a_line_of_settings_goes_below_the_imports_under_the_name_that_torch_has_there() -> None:
    code = '"""Words."""\nimport torch as th\nfrom a import b\n\nprint(1)\n'
    assert repaired(code, [["reorder:5"]]) == (
        '"""Words."""\nimport torch as th\nfrom a import b\n\n'
        "th._dynamo.config.reorderable_logging_functions.add(print)\n\nprint(1)\n"
    )
    assert repaired("print(1)", [["reorder:1"]]).startswith("import torch\ntorch._dynamo.config.")


def test_a_setting_is_the_jobs_and_edits_no_file() -> None:
    found = repair_of(ZOO, "setting:allow_rnn")
    assert found is not None
    assert (found.diff, found.fix.edits, found.fix.settings) == ("", (), ("allow_rnn",))
    assert repair_of(ZOO, "setting:suppress_errors") is None


def test_every_break_of_the_zoo_has_a_repair_and_all_of_them_go_together() -> None:
    report = recorded_report(TRACES / "graph_break_zoo" / "trace.log")
    first = [repairs_of_break(ZOO, found, source_path(report))[0] for found in report.graph_breaks]
    assert [repair.id for repair in first] == [
        "print_op:20:x", "where:25", "keep_tensor:31", "setting:capture_dynamic_output_shape_ops", "hoist:41",
    ]  # fmt: skip
    assert together(ZOO, tuple(first)) == tuple(first)
    mended = repaired(ZOO, [[repair.id for repair in first if repair.fix.edits]])
    assert "return torch.where(x.mean() > 0, x.relu(), x.neg())  # a branch that depends on data\n" in mended
    assert "CRC32 = zlib.crc32(FEATURE) % 64\n\n\ndef lookup(x: Tensor) -> Tensor:\n    column = CRC32  #" in mended


def test_a_difference_shows_what_changes() -> None:
    found = repair_of(HEAD + "    return x.item()\n", "keep_tensor:5")
    assert found is not None
    assert found.diff.endswith(" def model(x):\n-    return x.item()\n+    return x")


def test_two_repairs_of_one_place_do_not_go_together() -> None:
    found = repairs_of_break(ZOO, stopped("GB0170", 25), FILE)
    assert [repair.id for repair in found] == ["where:25", "cond:25", "disable:25"]
    assert together(ZOO, found) == (found[0], found[2])


def test_steps_are_applied_one_after_the_other() -> None:
    once = repaired(ZOO, [["reorder:20"]])
    assert repaired(ZOO, [["reorder:20"], ["keep_tensor:33"]]) == repaired(once, [["keep_tensor:33"]])


@pytest.mark.promise("code")
@pytest.mark.parametrize(
    "repair",
    [
        "",
        "where",
        "where:1",
        "where:x",
        "where:25; import os",
        "none:25",
        "where:25:25",
        "__import__:25",
        "where:999999",
    ],
)
def test_what_is_no_repair_of_the_code_is_refused(repair: str) -> None:
    """A repair is a rule and a line or name of the code; any other text is refused."""
    with pytest.raises(JobError, match="cannot be applied"):
        repaired(ZOO, [[repair]])


@pytest.mark.parametrize("text", ["", "def", "\x00", "(" * 500])
def test_what_is_no_python_has_no_repairs(text: str) -> None:
    assert [repair_of(text, f"{name}:1") for name in RULES] == [None] * len(RULES)


def test_a_break_in_a_library_has_no_line_in_the_users_file() -> None:
    found = recorded_report(TRACES / "graph_break_zoo" / "trace.log").graph_breaks[0]
    assert line_of(found, "/compileboard/run/model.py") == 20
    assert line_of(found, "/elsewhere/model.py") is None
    assert line_of(found, "") is None


def test_what_is_called_by_clock_or_chance_is_not_made_once() -> None:
    code = "import time\nfrom random import random as draw\ndef model(x):\n    return x * draw() + time.time()\n"
    assert [repair_of(code, f"{rule}:4") for rule in ("hoist", "constant")] == [None, None]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (5, "    own.fill(queue)\n    return x"),
        (6, "    while queue:\n        x = x + own.take(queue)\n    return x"),
        (5, "    return x + heapq.heappop(queue)"),
    ],
)
def test_a_call_with_a_side_effect_is_no_constant(line: int, text: str) -> None:
    code = f"import heapq, own\n\nqueue = [3, 1]\ndef model(x):\n{text}\n"
    assert [repair_of(code, f"{rule}:{line}") for rule in ("hoist", "constant", "allow_in_graph")] == [None] * 3


def test_a_call_that_gives_a_coroutine_or_a_file_is_no_constant() -> None:
    code = "import io\nasync def read():\n    return 2\ndef model(x):\n    return x * f(read(), io.StringIO())\n"
    assert [repair_of(code, f"{rule}:5") for rule in ("hoist", "constant", "allow_in_graph")] == [None] * 3


def test_a_function_whose_result_has_an_unsupported_method_is_not_put_into_the_graph() -> None:
    code = "import torch\nimport lib\ndef model(x):\n    return lib.f(x).wait()\n"
    ids = [[repair.id for repair in repairs_of_break(code, stopped(kind, 4), FILE)] for kind in ("GB0156", "GB0007")]
    assert ids == [[], ["allow_in_graph:4"]]


@pytest.mark.parametrize(
    ("index", "is_offered"), [("n", True), (":, n", False), (":, n[0] + 1", False), (":, :n", True)]
)
def test_a_number_among_several_indices_is_not_made_a_symbol(index: str, is_offered: bool) -> None:
    code = f"{HEAD}    n = x.argmax().item()\n    return x[{index}]\n"
    ids = [repair.id for repair in repairs_of_break(code, stopped("GB0124", 5), FILE)]
    assert ("setting:capture_scalar_outputs" in ids) == is_offered


LOGS = """import logging
import torch

log = logging.getLogger()
N = 3


def model(x):
    LINE
    return x
"""


@pytest.mark.parametrize(
    ("line", "op", "call"),
    [
        (
            'log.info("n %s of %s", x.sum().item(), N)',
            "def log_line_9(value_0: torch.Tensor, calls: torch.Tensor) -> None:\n"
            "    log.info('n %s of %s', value_0.item(), N)",
            "log_line_9(x.sum().detach(), log_line_9_calls)",
        ),
        (
            'log.info(f"{x.item():.3f} {x.tolist()}")',
            "def log_line_9(value_0: torch.Tensor, value_1: torch.Tensor, calls: torch.Tensor) -> None:\n"
            "    log.info(f'{value_0.item():.3f} {value_1.tolist()}')",
            "log_line_9(x.detach(), x.detach(), log_line_9_calls)",
        ),
        (
            'logging.info("a")',
            "def log_line_9(calls: torch.Tensor) -> None:\n    logging.info('a')",
            "log_line_9(log_line_9_calls)",
        ),
    ],
)  # fmt: skip
def test_a_log_call_becomes_a_custom_op_that_reads_its_tensors(line: str, op: str, call: str) -> None:
    code = LOGS.replace("LINE", line)
    fixed = repaired(code, [["log_op:9"]])
    assert op in fixed
    assert call in fixed
    assert fixed.index("@torch.library.custom_op") < fixed.index("def model")


@pytest.mark.parametrize(
    "line",
    ['log.info("%s", x.shape)', 'log.info("%s", x)', 'self.log.info("a")', 'print("a")', 'y = log.info("a")',
     'log.info("a"); x = x + 1', 'log.info("a %s", x.sum().item() + len(x))'],
)  # fmt: skip
def test_a_log_call_of_anything_but_tensors_and_constants_stays(line: str) -> None:
    with pytest.raises(JobError):
        repaired(LOGS.replace("LINE", line), [["log_op:9"]])


PRINTS = "import torch\n\n\ndef model(x):\n    print('a', size)\n    return x\n"
PRINTED = "builtin print [<class 'torch._dynamo.variables.{0}'>, <class 'torch._dynamo.variables.{1}'>] False"


@pytest.mark.parametrize(
    ("classes", "ids"),
    [
        (("constant.ConstantVariable", "tensor.TensorVariable"), ["print_op:5:x", "reorder:5", "eager_only:5"]),
        (("constant.ConstantVariable", "lists.SizeVariable"), ["print_op:5:1", "eager_only:5"]),
        (("constant.ConstantVariable", "user_defined.UserDefinedObjectVariable"), ["eager_only:5"]),
    ],
)
def test_a_print_is_repaired_by_what_it_is_given(classes: tuple[str, str], ids: list[str]) -> None:
    found = stopped("GB0059", 5, PRINTED.format(*classes))
    assert [repair.id for repair in repairs_of_break(PRINTS, found, FILE)] == ids


def test_a_print_of_an_inlined_function_is_not_reordered() -> None:
    frames = tuple(Frame(FILE, line, name) for line, name in ((9, "model"), (5, "helper")))
    found = replace(stopped("GB0059", 5, ""), stack=frames)
    assert "reorder:5" not in [repair.id for repair in repairs_of_break(PRINTS, found, FILE)]


def test_a_branch_on_a_number_has_no_setting_that_only_moves_the_break() -> None:
    code = HEAD + "    if x.sum().item() > 0:\n        return x\n    return -x\n"
    ids = [repair.id for repair in repairs_of_break(code, stopped("GB0124", 5), FILE)]
    assert ids == ["where:5"]
    kept = HEAD + "    return x / x.sum().item()\n"
    ids = [repair.id for repair in repairs_of_break(kept, stopped("GB0124", 5), FILE)]
    assert ids == ["keep_tensor:5", "setting:capture_scalar_outputs"]


def test_a_setting_that_a_hint_names_is_offered_for_any_kind_of_break() -> None:
    found = stopped("GB9999", 1, hints=("Set `torch._dynamo.config.allow_rnn = True`.",))
    assert [repair.id for repair in repairs_of_break("", found, "")] == ["setting:allow_rnn"]


def test_a_break_in_a_library_is_repaired_at_the_line_that_called_it() -> None:
    code = HEAD + "    return copy.deepcopy(x)\n"
    frames = (Frame(FILE, 5, "model"), Frame("/lib/copy.py", 153, "deepcopy"))
    found = replace(stopped("GB4198", 153), place=Place("/lib/copy.py", 153), stack=frames)
    assert [repair.id for repair in repairs_of_break(code, found, FILE)] == ["clone:5"]
    assert repairs_of_break(code, replace(found, registry_id="GB0124"), FILE) == (
        repair_of(code, "setting:capture_scalar_outputs"),
    )


def test_every_rule_of_the_table_is_there() -> None:
    assert {name for names in OF_BREAKS.values() for name in names} - {LOG} <= set(RULES)


@pytest.mark.parametrize(
    ("call", "hoisted"),
    [
        ("torch.ones(3, requires_grad=True)", True),
        ("torch.nn.Parameter(torch.ones(3))", True),
        ("torch.ones(3, dtype=torch.float32)", False),
    ],
)
def test_only_a_leaf_of_autograd_is_created_before_the_model_runs(call: str, hoisted: bool) -> None:
    repair = repair_of(f"import torch\ndef model(x):\n    return x * {call}\n", "hoist_tensor:3")
    assert (repair is not None) is hoisted


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("import torch.nn\n", "torch"),
        ("import torch as th\n", "th"),
        ("import torch.nn as nn\n", ""),
        ("from torch import nn\n", ""),
    ],
)
def test_torch_has_the_name_of_the_files_own_import(head: str, name: str) -> None:
    code = read_code(head)
    assert code is not None
    assert code.torch == name


def test_only_a_helper_that_is_called_runs_eagerly_as_a_whole() -> None:
    helper = "import torch\n\n\ndef helper(x):\n    return x.item()\n\n\ndef model(x):\n    return {}\n"
    assert repaired(helper.format("helper(x)"), [["disable:5"]]) == helper.format("helper(x)").replace(
        "def helper", "@torch.compiler.disable\ndef helper"
    )
    assert repair_of(helper.format("x"), "disable:5") is None
    assert repair_of(helper.format("helper(x)"), "disable:99") is None


@pytest.mark.parametrize(
    ("text", "shared"),
    [("f(x)\n", False), ("f(x); g(x)\n", True), ("f(x) ;\n", True), ("f(x)  # one; two\n", False)],
)
def test_a_statement_shares_its_line_with_another(text: str, shared: bool) -> None:
    code = read_code(text)
    assert code is not None
    assert shares(code, code.tree.body[0]) is shared


def test_a_statement_behind_another_shares_its_line() -> None:
    code = read_code("if a: f(x)\ng(x); h(x)\n")
    assert code is not None
    branch = code.tree.body[0]
    assert isinstance(branch, ast.If)
    assert shares(code, branch.body[0])
    assert shares(code, code.tree.body[2])
