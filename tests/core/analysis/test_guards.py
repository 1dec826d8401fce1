"""Which guards are about a value, and what a search finds among them."""

import pytest

from core.analysis import guards_on, mentions
from core.report import Compilation, Frame, FxNode, Guard

WEIGHT = Guard("TENSOR_MATCH", "L['self'].norm.weight", "check_tensor(…)", 2, "y = self.norm(x)", "m.py:7 in forward")
INPUT = Guard("NO_TENSOR_ALIASING", "L['x']", "check_no_aliasing(…)", 1, hint="type dict")
ITEM = Compilation("0/0", Frame("/m.py", 1, "f"), (), 1, "ok", "", (), (WEIGHT, INPUT), None, (), (), (), {})


@pytest.mark.parametrize(
    ("op", "name", "found"),
    [
        ("placeholder", "L_self_norm_weight_", (WEIGHT,)),
        ("placeholder", "l_x_", (INPUT,)),
        ("get_attr", "L_self_norm_bias_", ()),
        ("call_function", "l_x_", ()),
    ],
)
def test_the_guards_on_an_input_are_those_on_what_it_stands_for(op: str, name: str, found: tuple[Guard, ...]) -> None:
    assert guards_on(ITEM, FxNode(name, op, name, "", (), None, 1)) == found  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "found"), [("", True), ("NORM", True), ("m.py:7", True), ("dict", False)])
def test_a_search_looks_through_every_field(text: str, found: bool) -> None:
    assert mentions(WEIGHT, text) is found
