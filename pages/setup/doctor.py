"""Doctor page: tools, packages, devices and folders here, each with a remedy if it is missing."""

import streamlit as st

from core import CompileJob, Model
from core.views.setup import DoctorView
from pages.parts.run.launch import torch_is_starting
from pages.parts.run.submit import submit_or_open
from pages.session import server
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.url import pressed

environment = server.environment()
doctor = DoctorView(server.runner().store.home, environment)
page_title(doctor.title)
if environment is None:
    torch_is_starting("What it finds is added when it has started.")
st.markdown(doctor.table)
with st.container(horizontal=True, vertical_alignment="center"):
    if pressed("Compile one function", key="compile-one", icon=":material/play_arrow:", type="primary"):
        submit_or_open(CompileJob(Model("sample", "sin_cos")))
    st.caption("A run of the sample `sin_cos`: if it ends, torch.compile works here.")
    json_twin("doctor", doctor.checks, key="doctor")
