"""Recorded texts: equal lines are left out, and every difference stays."""

import json
import random
from collections.abc import Iterator

import pytest

from tests.support.goldens import HEADING, SHARED, Shared, beyond, differences, files, fitted, unlike

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


def test_a_table_has_numbers_for_the_columns_of_another() -> None:
    base = "| name | time | share |\n| --- | --- | --- |\n| relu | 1 | 2 |"
    text = "| name | share |\n| --- | --- |\n| relu | 2 |"
    assert beyond(text, base) == "−3\ncolumns | 1 | 3 |\n| relu | 2 |"
    assert beyond(text.replace("share", "part"), base.replace("share", "part")) == beyond(text, base)
    more = text.replace("share |", "share | calls |")
    assert beyond(more, base).splitlines()[1] == "columns | 1 | 3 | calls |"
    assert beyond(text.replace("share", "other"), base) == "−3\n| name | other |\n| --- | --- |\n| relu | 2 |"


def test_lines_with_an_unknown_cell_stay() -> None:
    known = frozenset({"name", "relu", "12 µs", "A sentence"})
    assert unlike("| name | time |\n| relu | 12 µs |\n\n**A sentence**\nAnother", known) == "| name | time |\nAnother"


def test_json_is_the_same_in_fewer_lines() -> None:
    rng = random.Random(0)
    value = [{"name": "x" * rng.randrange(90), "seconds": rng.random(), "rows": [[], {}, None]} for _ in range(50)]
    assert json.loads(fitted(value)) == value
    assert max(map(len, fitted(value).splitlines())) <= 165


SIX = ("one", "two", "three", "four", "five", "six")


def test_a_run_of_lines_that_an_earlier_text_has_is_a_mark() -> None:
    shared = Shared()
    assert [*shared.marked("first", SIX, 6)] == [*SIX]
    assert [*shared.marked("second", ("zero", *SIX, "seven"), 6)] == ["zero", "⋯ 6 lines of first", "seven"]
    assert [*shared.marked("third", ("zero", *SIX[:5]), 6)] == ["zero", *SIX[:5]]
    assert [*shared.marked("fourth", SIX, 8)] == [*SIX]


def test_a_mark_is_for_lines_that_its_file_has_and_for_no_others() -> None:
    lines = files()["measured"].read_text(encoding="utf-8").splitlines()[20:26]
    recorded = "before\n⋯ 6 lines of measured\nafter"
    assert differences(recorded, "\n".join(["before", *lines, "after"])) == []
    for others in ([*lines[:5], "another"], lines[:5], [*lines, lines[0]], lines[::-1]):
        assert differences(recorded, "\n".join(["before", *others, "after"])) != []
    changed = differences(recorded, "\n".join(["before", *lines, "now"]))
    assert [line for line in changed if line[0] in "+-"][2:] == ["-after", "+now"]


MOST_EQUAL = 8


def test_no_eight_lines_are_recorded_twice() -> None:
    places: dict[tuple[str, ...], list[str]] = {}
    for name, path in files().items():
        for run in runs_of(path.read_text(encoding="utf-8")):
            for start in range(len(run) - MOST_EQUAL + 1):
                places.setdefault(tuple(run[start : start + MOST_EQUAL]), []).append(name)
    assert [names for names in places.values() if len(names) > 1] == []


def runs_of(text: str) -> Iterator[list[str]]:
    """The lines of a recorded text between headings and marks, without empty lines."""
    run: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        if HEADING.match(line) or SHARED.fullmatch(line):
            yield run
            run = []
        else:
            run.append(line)
    yield run
