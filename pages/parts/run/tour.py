"""Parts of the tour: the stops as boxes, the details of one, the questions, and the claims."""

from __future__ import annotations

import streamlit as st

from core.views.tour import TourView
from pages import menu
from pages.session import url
from pages.session.url import held, hold


def picked_stop(tour: TourView) -> int:
    """Draw the buttons that lead through the stops; return the number of the shown one, from 0."""
    names = [stop.name for stop in tour.stops]
    url.read(url.STOP, names, names[0])

    at = names.index(held(url.STOP, names[0]))

    def go(steps: int) -> None:
        hold(url.STOP, names[at + steps])

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back",
            icon=":material/arrow_back:",
            on_click=go,
            args=(-1,),
            shortcut="b",
            key="tour-back",
            disabled=at == 0,
        )
        st.button(
            "Next",
            icon=":material/arrow_forward:",
            on_click=go,
            args=(1,),
            shortcut="n",
            key="tour-next",
            type="primary",
            disabled=at == len(names) - 1,
        )
        shown = st.segmented_control("Stop", names, key=url.STOP, label_visibility="collapsed") or names[0]
    url.write(url.STOP)
    return names.index(shown)


def boxes(tour: TourView, number: int) -> None:
    """Draw a box for each stop with its time; the shown one is marked."""
    for at, (column, stop) in enumerate(zip(st.columns(len(tour.stops)), tour.stops, strict=True)):
        with column, st.container(border=True, key=f"tour-stop-{at}", height="stretch"):
            mark = ":material/location_on: " if at == number else ""
            st.markdown(f"{mark}{stop.name}")
            st.markdown(f"**{stop.time}**")
            st.caption(stop.facts[0])


def stop_details(tour: TourView, number: int) -> None:
    """Draw what happens at a stop, this run's numbers, the link to the evidence, and a presenter's text."""
    stop, page = tour.stops[number], menu.PAGES[tour.stops[number].page]
    st.header(f"{number + 1}. {stop.name}", anchor=False)
    st.write(stop.sentence)
    for fact in stop.facts:
        st.markdown(f"- {fact}")
    st.page_link(page.script, label=tour.link_label(page.title), icon=page.icon, query_params=url.link())
    with st.expander("Text for a presenter", icon=":material/record_voice_over:"):
        st.write(stop.speech)


def questions(tour: TourView) -> None:
    """Draw the questions with their answers, and a link to the evidence of each."""
    st.header("Questions", anchor=False)
    for answer in tour.answers:
        page = menu.PAGES[answer.page]
        st.markdown(f"**{answer.question}** {answer.answer}")
        st.page_link(page.script, label=page.title, icon=page.icon, query_params=url.link())


def claims(tour: TourView) -> None:
    """Draw common claims, each with what the run has measured."""
    st.header("Common claims", anchor=False)
    for claim, measured in tour.claims:
        st.markdown(f"**“{claim}”** {measured}")
