"""The table of attacks cannot flatter."""

import ast

import pytest

from tests.attack.rows import ELSEWHERE, ROWS
from tests.attack.table import Attack, text
from tests.support.places import ROOT


@pytest.mark.parametrize("nodeid", ELSEWHERE)
def test_a_row_is_held_by_a_test_that_exists(nodeid: str) -> None:
    path, _, name = nodeid.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(ELSEWHERE[nodeid]) <= set(ROWS)


def test_what_failed_once_has_succeeded_and_what_was_skipped_was_not_tried() -> None:
    mixed = Attack(("breach 7", "request 3"), "a foreign Host", "it gets nothing")
    for outcome, words in (("passed", ""), ("failed", "assert 200 == 400"), ("skipped", "no root")):
        mixed.note(outcome, words)
    skipped = Attack(("breach 2",), "another user", "does not enter")
    skipped.note("skipped", "only root can be another user")
    held = Attack((), "beyond", "held|so")
    held.note("passed", "")
    lines = text([mixed, skipped, held]).splitlines()
    assert lines[1:6] == [
        "| row | attack | expected | seen | verdict |",
        "| --- | --- | --- | --- | --- |",
        "| breach 2 | another user | does not enter | only root can be another user | not tried |",
        "| breach 7, request 3 | a foreign Host | it gets nothing | assert 200 == 400 | SUCCEEDED |",
        "|  | beyond | held/so | so | held |",
    ]
    assert f"| breach 1 | {ROWS['breach 1']} | | | not tested |" in lines
    assert lines[-1] == f"1 held, 1 SUCCEEDED, 1 not tried; {len(ROWS) - 3} rows not tested"
