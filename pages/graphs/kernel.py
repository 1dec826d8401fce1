"""Kernel page: one kernel from source to machine code, on this machine or for a target."""

from functools import partial

import streamlit as st

from core.views import kernels as views
from pages.parts.kernel.ladder import chosen_kernel, compare_view, compiled_views
from pages.parts.kernel.tool import interpreter_view, reproduce_view
from pages.session import url
from pages.session.require import require_view
from pages.session.tables import draw

view = require_view("This page shows one kernel, from its source to machine code.")
generated = views.KernelView.generated(view.report, view.compilation) if view is not None else {}
if view is None or not generated:
    draw(views.NOT_GENERATED)
    st.stop()

title = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    kernel = chosen_kernel(view, generated)
    panels = kernel.panels
    url.read(url.VIEW, panels, panels[0])
    shape = st.segmented_control("View", panels, key=url.VIEW, label_visibility="collapsed") or panels[0]
url.write(url.VIEW)
drawers = {"reproduce": reproduce_view, "interpreter": interpreter_view, "compare": compare_view}
panel = partial(drawers[shape], view, kernel) if shape in drawers else partial(compiled_views, view, kernel, shape)
draw(views.one_kernel(generated, view.text, kernel.kernel.id, shape), {views.PANEL: panel}, title)
