"""Clicks that another rerun comes in between."""

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from pages.session.presses import drop_press, pressed
    from pages.session.state import held, hold

    if held("press") and held("rerun_before"):
        hold("rerun_before", False)
        hold("run", held("run_then"))
        st.rerun()
    if not held("without") and pressed("Go", key="go"):
        st.write(f"of {held('run')}")
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
