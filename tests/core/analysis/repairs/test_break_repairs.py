"""Repairs of graph breaks: edits at the line that is named, and nothing but them."""

import pytest

from core import JobError, build_report
from core.analysis.repairs import (
    OF_BREAKS,
    RULES,
    line_of,
    repair_of,
    repaired,
    repairs_of_break,
    together,
)
from core.gallery import sample
from core.graph import source_path
from tests.support.places import TRACES

HEAD = "import torch\n\n\ndef model(x):\n"
ZOO = sample("graph_break_zoo").path.read_text(encoding="utf-8")

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
    ("remove_break:5", "    torch._dynamo.graph_break()\n    return x\n"): "    return x\n",
    ("remove_break:6", "    if True:\n        torch._dynamo.graph_break()\n    return x\n"): (
        "    if True:\n        pass\n    return x\n"
    ),
}  # fmt: skip
# What no rule touches, since another meaning would come of it.
LEFT = (
    ("where:5", "    if x.any() and x.all():\n        return x\n    return -x\n"),
    ("where:5", "    if x.any():\n        return x\n    x = -x\n    return x\n"),
    ("where:5", "    if x is None:\n        return x\n    return -x\n"),
    ("where:5", "    if x.any():\n        y = x\n    else:\n        z = x\n    return x\n"),
    ("where:7", "    if x is None:\n        y = x\n    elif x.any():\n        y = -x\n    return x\n"),
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
)


@pytest.mark.parametrize(("repair", "body"), EDITS)
def test_a_rule_edits_its_line_and_leaves_the_rest(repair: str, body: str) -> None:
    assert repaired(HEAD + body, [[repair]]) == HEAD + EDITS[repair, body]


@pytest.mark.parametrize(("repair", "body"), LEFT)
def test_a_rule_leaves_what_it_cannot_mend_without_another_meaning(repair: str, body: str) -> None:
    assert repair_of(HEAD + body, repair) is None


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


def test_a_setting_goes_below_the_imports_under_the_name_that_torch_has_there() -> None:
    code = '"""Words."""\nimport torch as th\nfrom a import b\n\nx = 1\n'
    assert repaired(code, [["capture_shapes:5"]]) == (
        '"""Words."""\nimport torch as th\nfrom a import b\n\n'
        "th._dynamo.config.capture_dynamic_output_shape_ops = True\n\nx = 1\n"
    )
    assert repaired("x = 1", [["capture_shapes:1"]]).startswith("import torch\ntorch._dynamo.config.")


def test_every_break_of_the_zoo_has_a_repair_and_all_of_them_go_together() -> None:
    report = build_report(TRACES / "graph_break_zoo" / "trace.log")
    lines = {found.registry_id: line_of(found, source_path(report)) for found in report.graph_breaks}
    first = [repairs_of_break(ZOO, name, line)[0] for name, line in lines.items() if line is not None]
    assert [repair.id for repair in first] == [
        "reorder:20", "where:25", "keep_tensor:31", "capture_shapes:36", "hoist:41",
    ]  # fmt: skip
    assert together(ZOO, tuple(first)) == tuple(first)
    mended = repaired(ZOO, [[repair.id for repair in first]])
    assert "return torch.where(x.mean() > 0, x.relu(), x.neg())  # which way to go depends on data\n" in mended
    assert "CRC32 = zlib.crc32(FEATURE) % 64\n\n\ndef lookup(x: Tensor) -> Tensor:\n    column = CRC32  #" in mended


def test_a_difference_shows_what_changes() -> None:
    found = repair_of(HEAD + "    return x.item()\n", "keep_tensor:5")
    assert found is not None
    assert found.diff.endswith(" def model(x):\n-    return x.item()\n+    return x")


def test_two_repairs_of_one_place_do_not_go_together() -> None:
    found = repairs_of_break(ZOO, "GB0170", 25)
    assert [repair.id for repair in found] == ["where:25", "cond:25", "disable:25"]
    assert together(ZOO, found) == (found[0], found[2])


def test_steps_are_applied_one_after_the_other() -> None:
    once = repaired(ZOO, [["capture_shapes:36"]])
    assert repaired(ZOO, [["capture_shapes:36"], ["keep_tensor:33"]]) == repaired(once, [["keep_tensor:33"]])


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
    with pytest.raises(JobError, match="cannot be applied"):
        repaired(ZOO, [[repair]])


@pytest.mark.parametrize("text", ["", "def", "\x00", "(" * 500])
def test_what_is_no_python_has_no_repairs(text: str) -> None:
    assert [repair_of(text, f"{name}:1") for name in RULES] == [None] * len(RULES)


def test_a_break_in_a_library_has_no_line_in_the_users_file() -> None:
    found = build_report(TRACES / "graph_break_zoo" / "trace.log").graph_breaks[0]
    assert line_of(found, "/compileboard/run/model.py") == 20
    assert line_of(found, "/elsewhere/model.py") is None
    assert line_of(found, "") is None


def test_every_rule_of_the_table_is_there() -> None:
    assert {name for names in OF_BREAKS.values() for name in names} <= set(RULES)
