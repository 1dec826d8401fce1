"""The comments beside a page: the marks that its views get, and what the pane shows and does."""

from pathlib import Path

from core import Store
from core.runs.comments import Anchor, Author, add_comment, pin_part, talk_of
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
