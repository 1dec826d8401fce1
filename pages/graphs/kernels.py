"""Kernels page: traffic, arithmetic and time of each kernel call, compared with the device's limits."""

from functools import partial

import streamlit as st

from core.views.kernels import kernel as views
from pages.parts.backends.alternatives import edit_and_run
from pages.parts.kernels.ledger import call_bar, kernels_of, launches
from pages.parts.kernels.source import chosen_kernel
from pages.parts.run.submit import measure_again, retarget, time_kernels
from pages.session.require import require_view
from pages.session.server import theme
from pages.session.tables import Parts, draw

view = require_view("This page shows the kernels that Inductor generated.")
if view is None:
    draw(views.NO_KERNEL)
    st.stop()
kernels = kernels_of(view)
parts: Parts = {
    views.CALL: lambda: st.html(call_bar(kernels, theme())),
    views.TIME_AGAIN: partial(measure_again, view),
    views.MEASURE: partial(time_kernels, view),
    views.LAUNCHES: partial(launches, view, kernels),
    views.KERNEL: partial(chosen_kernel, view, kernels, partial(retarget, view), partial(edit_and_run, view)),
}
draw(views.kernel_launches(kernels, view.text, view.going), parts)
