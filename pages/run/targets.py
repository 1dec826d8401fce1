"""Targets page: predicted calls on each device, and the kernels of two runs side by side."""

from functools import partial

import streamlit as st

from core import likeliest
from core.views import compare as views
from core.views import pairs, speedup
from core.views.kernels import kernel
from pages.parts.compare.aspects import chosen_kernels
from pages.parts.compare.runs import hour_price, kernel_pairs_view, labels, other_runs, picked_other, right_or_retarget
from pages.parts.run.submit import retarget
from pages.session.require import require_view
from pages.session.shown import open_view
from pages.session.tables import draw

view = require_view("This page compares the code for two targets.")
if view is None or not view.compilation.kernels:
    draw(kernel.NO_KERNEL)
    st.stop()
if view.report.setting.target:
    draw(speedup.predicted_calls(view.report, hour_price()))
others = other_runs(view)
if not others:
    draw(views.NO_OTHER, {views.RETARGET: partial(retarget, view)})
    st.stop()
names = labels(others)
other_id = picked_other(names, likeliest(others, view.job).run.id) or ""
right = open_view(other_id) if other_id else None
kernels = kernel_pairs_view(view, view.compilation.id, right) if right is not None else None
key = f"targets-{view.compilation.id}-{other_id}"
parts = {views.CHOICE: partial(right_or_retarget, view, names), pairs.CHOSEN: partial(chosen_kernels, kernels, key)}
draw(views.targets(kernels, other_id), parts)
