"""What two forms of a kernel differ in."""

import pytest

from core.code.diff import diff_texts


def test_a_diff_says_what_changed_and_counts_it() -> None:
    diff = diff_texts("a\nb\nc\n", "a\nB\nc\nd\n", "one", "other")
    assert diff.text.split("\n") == ["--- one", "+++ other", "@@ -1,3 +1,4 @@", " a", "-b", "+B", " c", "+d"]
    assert (diff.added, diff.removed, diff.left_out) == (2, 1, 0)


def test_the_same_text_has_no_diff() -> None:
    assert diff_texts("a\nb", "a\nb", "one", "other").text == ""


def test_a_diff_counts_its_lines_from_the_start_of_the_text() -> None:
    one = [str(number) for number in range(100)]
    other = [*one[:50], "new", *one[50:]]
    assert "@@ -48,6 +48,7 @@" in diff_texts("\n".join(one), "\n".join(other), "one", "other").text


@pytest.mark.parametrize("lines", [10_000, 60_000])
def test_a_diff_of_very_long_texts_is_bounded(lines: int) -> None:
    one = "\n".join(f"%{number} = add %{number}" for number in range(lines))
    other = "\n".join(f"%{number} = mul %{number}" for number in range(lines))
    diff = diff_texts(one, other, "one", "other", limit=1_000)
    assert diff.text.count("\n") < 1_000
    assert (diff.added, diff.removed) == (lines, lines)
