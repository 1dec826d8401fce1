"""Another torch.compile configuration, timed alternately with the run's own: a sentence, both medians, all samples."""

from __future__ import annotations

import streamlit as st

from core.analysis import Speed, rival_sentence, rival_speed
from core.base import words as fmt
from core.report import Report
from pages.look.charts import PLOTLY_CONFIG
from pages.look.palette import Theme
from pages.look.text import prose
from pages.parts.performance.charts import samples_chart
from pages.session.figures import kept

NAMES = ("this run's call", "the other call")


def rival_section(report: Report, run_id: str, on: Theme) -> None:
    """Draw the comparison with the alternative configuration; nothing if the job has none."""
    rival = report.rival
    if rival is None:
        return
    st.header("Against another call of torch.compile", anchor=False)
    sentence = rival_sentence(report)
    st.write(prose(sentence[:1].upper() + sentence[1:]) + ".")
    found = rival_speed(rival)
    if found is None:
        return
    st.caption(_how(found))
    figure = kept(
        lambda: samples_chart(rival.compiled_s, rival.rival_s, rival.warm_up, on, NAMES),
        "rival",
        run_id,
        report.log_bytes,
        on,
    )
    left, _ = st.columns(2, gap="medium")
    left.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="rival")


def _how(found: Speed) -> str:
    return (
        "Both were compiled in one process and timed in turn, so that no drift between processes is in the ratio: "
        f"medians {fmt.duration_s(found.eager_s)} and {fmt.duration_s(found.compiled_s)}, of "
        f"{fmt.count(found.samples, 'pair')} of samples, {fmt.count(found.calls_per_sample, 'call')} each."
    )
