"""Text of users and of logs, made safe for Markdown."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.report import Place
from pages.look import card
from pages.look.text import LONGEST_LINE, code, component_key, one_line, one_line_cells, plain, prose
from pages.parts.graphs import drawn
from tests.support.homes import IMAGE

CONTROLS = "\x00\x07\x1b\x7f\x9f\u061c\u200b\u202e\u2028\u2066\ufeff\ud800"
# What Streamlit's Markdown gives a meaning; each must stand behind a backslash.
MARKUP = "\\`*_{}[]()#+-.!|<>~$:&"


def unescaped(markdown: str) -> set[str]:
    """The special characters of a Markdown text that no backslash precedes."""
    found, escaped = set(), False
    for character in markdown:
        if not escaped and character in MARKUP and character != "\\":
            found.add(character)
        escaped = character == "\\" and not escaped
    return found


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("[x](http://evil)", "\\[x\\]\\(http\\:\u2060//evil\\)"),
        ("![x](y.png)", "\\!\\[x\\]\\(y\\.png\\)"),
        (IMAGE, "\\<img src=x onerror=alert\\(1\\)\\>"),
        ("</script>", "\\</script\\>"),
        ("$a^2$ :red[b] :home:", "\\$a^2\\$ \\:red\\[b\\] \\:\u2060home\\:"),
        ("`__init__`", "\\`\\_\\_init\\_\\_\\`"),
        ("# one\n- two\n\n1. three", "\\# one \\- two 1\\. three"),
        ("&lt;b&gt;", "\\&lt;b\\&gt;"),
        ("www.evil.example", "www\u2060\\.evil\\.example"),
        ("me@evil.example", "me@\u2060evil\\.example"),
        (":material/home:", "\\:\u2060material/home\\:"),
        ("@torch.compile on model.py:12", "@torch\\.compile on model\\.py\\:12"),
    ],
)
def test_plain_text_shows_as_it_is(text: str, markdown: str) -> None:
    assert plain(text) == markdown


def test_text_of_every_kind_loses_its_control_characters() -> None:
    for made in (plain, code, prose, one_line):
        assert not set(made(f"a{CONTROLS}b")) & set(CONTROLS)


def test_long_text_is_cut() -> None:
    assert plain("x" * 50, 10) == "xxxxxxxxxx…"
    assert one_line("x" * 50, 10) == "xxxxxxxxxx…"
    assert code("x" * 50, 10) == "`xxxxxxxxxx`"


@given(st.text())
def test_plain_text_never_holds_unescaped_markup(text: str) -> None:
    made = plain(text)

    assert not unescaped(made)
    assert "\n" not in made


# What remark and Streamlit make links, icons and emojis of, in text that Markdown has been taken out of.
ALIVE = re.compile(r"https?://|www\.[-.\w]|[-.\w+]@[-\w]+\.|:[\w+\-]+:|:material/\w+:", re.IGNORECASE)
PIECES = st.sampled_from(
    [
        "http",
        "https",
        ":",
        "//",
        "www",
        "WWW",
        ".",
        "@",
        "material/",
        "home",
        "smile",
        "a",
        "+",
        "-",
        "_",
        " ",
        "`",
        "\u2060",
    ]
)


@pytest.mark.promise("text")
@example(":http``:")
@example(":a` `:")
@example("https:``//a")
@given(st.lists(PIECES, max_size=12).map("".join) | st.text())
def test_text_of_a_log_never_becomes_a_link_or_an_icon(text: str) -> None:
    """No combination of characters in a log becomes a link or an icon."""
    for made in (plain(text), "".join(outside_of_code(prose(text)))):
        shown = re.sub(r"\\(.)", r"\1", made)
        assert ALIVE.search(shown) is None


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_what_keeps_text_from_being_a_link_shows_nothing(text: str) -> None:
    assert re.sub(r"\\(.)", r"\1", plain(text)).replace("\u2060", "") == text


@given(st.text(alphabet=st.sampled_from("ab `\\*[]()<>$\n")))
def test_prose_is_plain_text_and_code_and_nothing_else(text: str) -> None:
    made = prose(text)

    assert unescaped("".join(outside_of_code(made))) == set()
    assert "\n" not in made


def outside_of_code(markdown: str) -> list[str]:
    """The parts of a Markdown text that are no inline code, for which a space stands, as CommonMark finds it: a fence
    ends at one as long.
    """
    outside, rest, escaped = [], markdown, False
    while rest:
        fence = len(rest) - len(rest.lstrip("`"))
        if not fence or escaped:
            outside.append(rest[0])
            escaped = rest[0] == "\\" and not escaped
            rest = rest[1:]
            continue
        end = rest.find("`" * fence, fence)
        while end >= 0 and rest[end + fence :].startswith("`"):
            end = rest.find("`" * fence, end + len(rest[end:]) - len(rest[end:].lstrip("`")))
        outside.append(rest[:fence] if end < 0 else " ")
        rest = rest[end + fence :] if end >= 0 else rest[fence:]
    return outside


@given(st.text(alphabet=st.sampled_from("a` \\")))
def test_inline_code_ends_where_it_should(text: str) -> None:
    made = code(text)

    assert "".join(outside_of_code(made)).strip() == ""


def test_texts_of_a_table_are_single_lines_of_bounded_length_and_numbers_stay() -> None:
    rows: list[dict[str, object]] = [{"name": "a\nlong name", "bytes": 3}, {"name": "b\x1b", "bytes": None}]
    assert one_line_cells(rows, 6) == [{"name": "a long…", "bytes": 3}, {"name": "b�", "bytes": None}]
    (row,) = one_line_cells([{"name": "x" * 5_000}])
    assert row["name"] == one_line("x" * 5_000, LONGEST_LINE)


def test_a_component_key_has_no_two_underscores_in_a_row() -> None:
    assert component_key("kernel-0/0.cpp_fused__softmax____x_0") == "kernel-0/0.cpp_fused_-_softmax_-_-_-_x_0"


def test_a_line_of_the_preview_is_cut_to_its_room() -> None:
    font = card._font(card.TEXT_FONT, 20, 400)
    room = font.getlength("mmmm" + card.ELLIPSIS)
    assert [card._cut(text, room, font) for text in ("mmmm", "mmmmmmmm")] == ["mmmm", "mmmm" + card.ELLIPSIS]
    assert card._cut("mmmm", 0, font) == card.ELLIPSIS


def test_an_edge_of_the_preview_is_a_bezier_curve() -> None:
    points = card._curve([(0.0, 0.0), (0.0, 8.0), (8.0, 8.0), (8.0, 0.0)])
    assert (points[0], points[4], points[-1], len(points)) == ((0.0, 0.0), (4.0, 6.0), (8.0, 0.0), 9)
    assert points[2] == (1.25, 4.5)


@pytest.mark.parametrize(
    ("place", "title"),
    [(Place("/a/b.py", 0), "b.py"), (Place("/a/b.py", 3), "b.py:3"), (Place("/a/b.py", 3, "f"), "b.py:3 in f")],
)
def test_a_file_without_a_line_is_titled_by_its_name(place: Place, title: str) -> None:
    assert drawn._title(place) == title
