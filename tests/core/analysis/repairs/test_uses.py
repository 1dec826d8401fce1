"""Uses of an attribute in a file: where it is set, and whether it is a key, decides, or is a number in arithmetic."""

import pytest

from core.analysis.repairs.offers import AttributeUse, attribute_use, key_of, scheduler_steps

CLASS = """
rows = {{}}
class Net:
    def __init__(self, level):
        self.level = level
    def forward(self, x):
        {}
"""


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("return x * self.level", AttributeUse((), "", "", False)),
        ("return rows[self.level](x)", AttributeUse((), "rows[self.level]", "", True)),
        ("return self.rows[self.level + 1]", AttributeUse((), "self.rows[self.level + 1]", "", True)),
        ("return x[self.level]", AttributeUse((), "", "", True)),
        ("return rows[len(x)] * self.level", AttributeUse((), "", "", False)),
        ("return x if self.level > 2 and x.ndim else -x", AttributeUse((), "", "self.level > 2", True)),
        ("self.level += 1; return x * self.level", AttributeUse((7,), "", "", False)),
        ("return x.view(self.level)", AttributeUse((), "", "", True)),
    ],
)
def test_an_attribute_is_a_key_a_condition_a_needed_number_or_arithmetic(line: str, use: AttributeUse) -> None:
    assert attribute_use(CLASS.format(line), "level") == use


@pytest.mark.parametrize("text", ["x = 1", "self.level = (", CLASS.format('setattr(self, "level", 2)')])
def test_an_attribute_that_the_file_does_not_set_plainly_has_no_uses(text: str) -> None:
    assert attribute_use(text, "level") is None


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("return x + rows[n]", "rows[n]"),
        ("if rows[n] > 1:", "rows[n]"),
        ("if n in table:", "n in table"),
        ("if m in n:", ""),
        ("return x + rows[m]", ""),
        ("return x * n", ""),
        ("def f(", ""),
    ],
)
def test_a_line_names_the_subscript_with_a_key(line: str, key: str) -> None:
    assert key_of(line, "n") == key


def test_the_steps_of_schedulers_have_their_class_and_line() -> None:
    text = "import torch.optim.lr_scheduler as lr\nplan = lr.OneCycleLR(adam)\nother = Linear()\nplan.step()\n"
    assert list(scheduler_steps(text)) == [("OneCycleLR", 4)]
