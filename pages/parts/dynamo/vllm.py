"""Sections of the vLLM page: choice of a call, piecewise compilations, records and configuration."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.base import words as fmt
from core.report import PiecewiseCompilation
from core.views.vllm import VllmView
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.palette import TALL
from pages.session import url
from pages.session.shown import RunView
from pages.session.tables import data_frame, in_words, picked

COLUMNS = {"tokens": st.column_config.TextColumn(width=120), "equal to": st.column_config.TextColumn(width=90)}
OUTPUT_CODE = "inductor_output_code"
FORMS = {"ops": fmt.number, "seconds": fmt.duration_s, "records": fmt.number}


def choose_call(vllm: VllmView) -> VllmView:
    """Draw the choice of a call if there is more than one; return the view of the chosen call."""
    labels = {str(number): label for number, label in enumerate(vllm.labels, 1)}
    if len(labels) == 1:
        return vllm
    url.read(url.VLLM_CALL, labels, "1")
    chosen = st.selectbox("Call", list(labels), format_func=labels.__getitem__, key=url.VLLM_CALL, width=380)
    url.write(url.VLLM_CALL)
    return replace(vllm, place=int(chosen) - 1)


def piece_table(vllm: VllmView) -> PiecewiseCompilation | None:
    """Draw the piecewise compilations of the call; return the selected one, the first by default."""
    if not vllm.compilations:
        st.write(vllm.no_compilation)
        return None
    table = in_words(data_frame(vllm.rows), FORMS)
    chosen = picked(table, vllm.compilations, f"pieces-{vllm.place}", column_config=COLUMNS, height=TALL)
    return chosen or vllm.compilations[0]


def piece_details(view: RunView, vllm: VllmView, piece: PiecewiseCompilation) -> None:
    """Draw one of torch's records within a piecewise compilation, with a choice of the record."""
    if not piece.artifacts:
        st.write(vllm.no_record_of(piece))
        return
    kinds = [artifact.kind for artifact in piece.artifacts]
    key = f"piece-{vllm.place}-{piece.subgraph}-{piece.first}"
    first = kinds.index(OUTPUT_CODE) if OUTPUT_CODE in kinds else 0
    place = st.selectbox("Record", range(len(kinds)), first, format_func=kinds.__getitem__, key=key)
    artifact = piece.artifacts[place]
    picture = CodePicture(artifact.kind, "python", code_lines(view.text(artifact.text)))
    url.select(code_view(picture, key=f"{key}-{place}", height=TALL, selected=url.selected()))


def configuration(vllm: VllmView) -> None:
    """Draw the settings that calls share, those that differ, and the records that the log has."""
    settings, records = st.columns([3, 2], gap="medium")
    with settings:
        for caption, rows in vllm.config_tables:
            st.caption(caption)
            st.dataframe(rows)
    with records:
        st.caption("Records")
        st.dataframe(vllm.record_rows)
