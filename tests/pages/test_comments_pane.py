"""The comments beside a page: the marks that its views get, and what the pane shows and does."""

from pathlib import Path

import msgspec
from streamlit.testing.v1 import AppTest

from core import Run, Store
from core.base.files import write_atomically
from core.runs.comments import (
    MOST_COMMENTS,
    MOST_FURTHER_OF_ADMINS,
    Anchor,
    Author,
    Comment,
    Talk,
    add_comment,
    edit_comment,
    pin_part,
    talk_moment,
    talk_of,
)
from tests.support.apps import component, opened, words
from tests.support.homes import add_scenario


def test_a_page_marks_what_has_comments_and_the_pane_shows_them(empty_home: Path) -> None:
    run = Store(empty_home).open(add_scenario(empty_home, "transformer_block"))
    node = Anchor("node", "0/0", "dynamo_output_graph", "layer_norm")
    add_comment(run, Author("ada@example.org", is_admin=False), node, "why <b>here</b>?")
    pin_part(run, Author(), node, pinned=True)
    app = opened("graphs/fx_graph.py", run.id, select="n:layer_norm", comments="open")
    sent = component(app, "comments")
    assert (sent["commented"], sent["pinned"], sent["count"], sent["open"]) == (
        ["n:layer_norm"], ["n:layer_norm"], 1, True,
    )  # fmt: skip
    shown = words(app)
    assert "**Node `layer_norm` in dynamo\\_output\\_graph \\[0/0\\]**" in shown
    assert "why \\<b\\>here\\</b\\>?" in shown
    field = next(field for field in app.text_area if field.key == "comment-form-text")
    field.set_value("because")
    next(button for button in app.button if button.label == "Comment").click().run()
    assert [comment.text for comment in talk_of(run).comments] == ["why <b>here</b>?", "because"]
    overview = words(opened("run/overview.py", run.id))
    assert "**Pinned**" in overview
    assert "**2 comments**" in overview


def test_a_changed_comment_is_called_edited(empty_home: Path) -> None:
    run = Store(empty_home).open(add_scenario(empty_home, "transformer_block"))
    for text in ("first", "second"):
        add_comment(run, Author(), Anchor(), text)
    edit_comment(run, Author(), talk_of(run).comments[0].id, "first, changed")
    app = opened("run/overview.py", run.id, comments="open")
    first, second = (comment.id for comment in talk_of(run).comments)
    labels = {button.key: button.label for button in app.button}
    assert [labels[f"{what}-{first}"] for what in ("reply", "resolve")] == ["Reply", "Resolve"]
    assert {f"reply-{second}", f"resolve-{second}"} <= set(labels)
    assert [caption.value for caption in app.caption if "just now" in caption.value] == [
        "**owner** · just now · edited",
        "**owner** · just now",
    ]


def test_two_compared_runs_show_the_comments_on_the_same_part_side_by_side(empty_home: Path) -> None:
    left, right = (Store(empty_home).open(add_scenario(empty_home, "transformer_block")) for _ in range(2))
    node = Anchor("node", "0/0", "dynamo_output_graph", "layer_norm")
    add_comment(left, Author(), Anchor(), "the run alone")
    add_comment(left, Author(), node, "was *slow*")
    add_comment(right, Author("bobbob", is_admin=False), node, "is fast")
    pin_part(right, Author(), node, pinned=True)
    app = opened("run/compare.py", left.id, other=right.id)
    assert [caption.value for caption in app.caption if "just now" in caption.value] == [
        "owner, just now: was \\*slow\\*",
        "visitor bobbob, just now: is fast",
        "owner, just now: the run alone",
    ]
    links = [(item.proto.label, item.proto.query_string) for item in app.get("page_link")]
    of_node = [(label, f"run={right.id}" in query) for label, query in links if label.startswith("Node layer")]
    part = "Node layer\\_norm in dynamo\\_output\\_graph \\[0/0\\] · 1 thread"
    assert of_node == [(part, False), (f"{part} · pinned", True)]


def numbers(app: AppTest) -> tuple[str, str]:
    """The first and the last numbered comment of a pane."""
    first, *_, last = (text.value for text in app.markdown if text.value.startswith("number "))
    return first, last


def test_a_full_pane_draws_the_newest_first_and_a_refused_text_stays(empty_home: Path) -> None:
    run = Store(empty_home).open(add_scenario(empty_home, "eager_backend"))
    most = MOST_COMMENTS + MOST_FURTHER_OF_ADMINS
    all_comments = tuple(Comment(f"{place:012}", 1e9 + place, "", f"number {place}") for place in range(most))
    write_atomically(run.path / "comments.json", msgspec.json.encode(Talk(all_comments)))
    app = opened("run/overview.py", run.id, comments="open")
    assert numbers(app) == ("number 380", "number 399")
    app.button(key="earlier-True").click().run()
    assert numbers(app) == ("number 360", "number 399")
    for typed, field in (("one more", "comment-form-text"), ("once more", "comment-form-text1")):
        app.text_area(key=field).set_value(typed)
        next(button for button in app.button if button.label == "Comment").click().run()
        assert [error.value for error in app.error] == ["A run has at most 400 comments; delete some first"]
    assert app.text_area(key="comment-form-text2").value == "once more"


def following() -> None:
    """A page with a pane that was drawn at the moment in the session."""
    import streamlit as st

    from core.runs.comments import talk_moment, talk_of
    from pages.parts.comments.comments import follow_comments

    run, moment = st.session_state.run, st.session_state.pop("drawn_at", None)
    st.write(" ".join(comment.text for comment in talk_of(run).comments))
    st.session_state.times = st.session_state.get("times", 0) + 1
    follow_comments(run, moment or talk_moment(run))


def drawn_at(moment: object, run: Run) -> tuple[list[str], int]:
    """Return the final text of a page drawn at a moment, and how often it was drawn."""
    app = AppTest.from_function(following)
    app.session_state.run, app.session_state.drawn_at = run, moment
    app.run()
    return [text.value for text in app.markdown], app.session_state.times


def test_an_open_pane_draws_the_page_again_once_another_person_has_written(empty_home: Path) -> None:
    run = Store(empty_home).open(add_scenario(empty_home, "eager_backend"))
    add_comment(run, Author(), Anchor(), "first")
    before = talk_moment(run)
    add_comment(run, Author("ada@example.org", is_admin=False), Anchor(), "second")
    assert drawn_at(before, run) == (["first second"], 2)
    assert drawn_at(talk_moment(run), run) == (["first second"], 1)
