"""Recorded texts: equal lines are left out, and every difference stays."""

import json
import random

import pytest

from tests.support.goldens import beyond, fitted, unlike

BASE = "# kernels\na\nb\nc\nd\ne"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (BASE, "⋯"),
        ("# kernels\na\nb\nnew\nc\nd\ne", "⋯\nnew\n⋯"),
        ("# kernels\na\nnew\nc\nd\ne", "⋯ −1\nnew\n⋯"),
        ("# kernels\na\nd\ne", "⋯ −2\n⋯"),
        ("other", "−6\nother"),
        ("# kernels\n\na\nb\nc\nd\n\ne", "⋯"),
    ],
)
def test_a_text_beyond_another_has_marks_for_equal_and_missing_lines(text: str, left: str) -> None:
    assert beyond(text, BASE) == left


def test_an_equal_change_of_both_texts_changes_nothing() -> None:
    text = "# kernels\na\nnew\nc\nd\ne"
    assert beyond(text.replace("d", "d | column"), BASE.replace("d", "d | column")) == beyond(text, BASE)


def test_lines_with_an_unknown_cell_stay() -> None:
    known = frozenset({"name", "relu", "12 µs", "A sentence"})
    assert unlike("| name | time |\n| relu | 12 µs |\n\n**A sentence**\nAnother", known) == "| name | time |\nAnother"


def test_json_is_the_same_in_fewer_lines() -> None:
    rng = random.Random(0)
    value = [{"name": "x" * rng.randrange(90), "seconds": rng.random(), "rows": [[], {}, None]} for _ in range(50)]
    assert json.loads(fitted(value)) == value
    assert max(map(len, fitted(value).splitlines())) <= 165
