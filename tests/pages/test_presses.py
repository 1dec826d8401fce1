"""Clicks that another rerun comes in between."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.apps import picked_in


def page() -> None:
    import streamlit as st

    from pages.session.url import drop_press, pressed, set_state, state_of

    if state_of("press") and state_of("rerun_before"):
        set_state("rerun_before", False)
        set_state("run", state_of("run_then"))
        st.rerun()
    if not state_of("without") and pressed("Go", key="go"):
        st.write(f"of {state_of('run')}")
    drop_press()


def clicked(**state: object) -> AppTest:
    app = AppTest.from_function(page)
    for name, value in {"run": "a", "run_then": "a", **state}.items():
        app.session_state[name] = value
    return app.run().button[0].click().run()


def test_a_click_counts_once_even_if_a_rerun_ends_the_page_before_its_button() -> None:
    cut = clicked(rerun_before=True)
    assert [text.value for text in cut.markdown] == ["of a"]
    assert not cut.run().markdown


def test_a_click_does_not_count_for_another_run_or_later() -> None:
    other_run = clicked(rerun_before=True, run_then="b")
    assert not other_run.markdown
    assert not other_run.run().markdown


def views() -> None:
    """A page whose run is cut short before its views are drawn, if the session says so; its rows may move meanwhile."""
    import pandas as pd
    import streamlit as st

    from pages.components.boxes.view import Chip, chips
    from pages.session.tables import newly_picked, opened_or_ticked
    from pages.session.url import drop_press, press, set_state, state_of, taken

    if state_of("cut"):
        set_state("cut", False)
        st.rerun()
    chips([Chip("0", page="a.py")], key="chips", on_pick=lambda page: press("chips", page))
    rows = ["x", "y", "z"] if not state_of("grown") else ["new", "x", "y", "z"]
    frame = pd.DataFrame({"name": rows})
    chosen = newly_picked(frame, rows, "picked")
    opened, ticked = opened_or_ticked(frame, rows, "opened", "name")
    st.write(f"{taken('chips')} {chosen} {opened} {ticked}")
    drop_press()


def shown_after(*states: tuple[str, dict[str, str]], before: str = "") -> list[str]:
    """Return the texts of the page of views after a click, which is a widget state, and after one more run."""
    app = AppTest.from_function(views).run()
    ids = {
        "picked": app.dataframe[0].proto.id,
        "opened": app.dataframe[1].proto.id,
        "opens": app.dataframe[1].proto.button_click_widgets["name"],
    }
    widgets = app._tree.get_widget_states()
    for name, value in states:
        widgets.widgets.add(id=ids[name], **value)
    app.session_state["cut"] = True
    if before:
        app.session_state[before] = True
    app._run(widgets)
    texts = [app.markdown[0].value]
    return [*texts, app.run().markdown[0].value]


def selection(**of: object) -> dict[str, str]:
    return {"string_value": json.dumps({"selection": {"rows": [], "columns": [], "cells": [], **of}})}


@pytest.mark.parametrize("before", ["", "grown"])
def test_a_row_whose_button_was_clicked_is_opened_once_even_if_the_rows_have_moved(before: str) -> None:
    click = {"string_trigger_value": {"data": json.dumps({"row": 1, "label": "y"})}}
    assert shown_after(("opens", click), before=before) == ["None None y []", "None None None []"]  # type: ignore[arg-type]


def test_what_is_selected_in_tables_is_kept_when_a_rerun_ends_the_page_before_them() -> None:
    states = ("picked", selection(cells=[[1, "name"]])), ("opened", selection(rows=[0, 2]))
    assert shown_after(*states) == ["None y None ['x', 'z']", "None None None ['x', 'z']"]


def test_a_chip_that_was_clicked_is_opened_once_even_if_a_rerun_ends_the_page_before_it() -> None:
    app = AppTest.from_function(views).run()
    app.session_state["cut"] = True
    assert picked_in(app, "chips", "picked", "a.py").markdown[0].value == "a.py None None []"
    assert app.run().markdown[0].value == "None None None []"
    assert picked_in(app, "chips", "picked", "elsewhere.py").markdown[0].value == "None None None []"
