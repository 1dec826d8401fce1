"""The main script: page config, the menu, the header, and then the page that the URL names."""

import sys
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
if str(HERE.parent) not in sys.path:
    sys.path.insert(0, str(HERE.parent))

from core import CompileboardError  # noqa: E402
from pages.look.images import image  # noqa: E402
from pages.look.text import plain  # noqa: E402
from pages.session.header import header  # noqa: E402

st.set_page_config(page_title="Compileboard", page_icon=image("icon.png"), layout="wide")
st.logo(image("logo.svg") or "Compileboard", icon_image=image("icon.svg"), size="large")

page = st.navigation(
    {
        "Run": [
            st.Page("run/new_run.py", title="New run", icon=":material/add_circle:", default=True),
            st.Page("run/overview.py", title="Overview", icon=":material/summarize:"),
            st.Page("run/runs.py", title="Runs", icon=":material/history:"),
        ],
        "Dynamo": [
            st.Page("dynamo/graph_breaks.py", title="Graph breaks", icon=":material/link_off:"),
            st.Page("dynamo/guards.py", title="Guards", icon=":material/shield:"),
            st.Page("dynamo/recompiles.py", title="Recompiles", icon=":material/replay:"),
        ],
        "Graphs": [
            st.Page("graphs/fx_graph.py", title="FX graph", icon=":material/account_tree:"),
            st.Page("graphs/passes.py", title="Passes", icon=":material/movie:"),
            st.Page("graphs/partition.py", title="Forward and backward", icon=":material/swap_vert:"),
            st.Page("graphs/fusion.py", title="Fusion", icon=":material/merge:"),
            st.Page("graphs/kernels.py", title="Kernels", icon=":material/memory:"),
            st.Page("graphs/kernel.py", title="Kernel", icon=":material/stairs:"),
            st.Page("graphs/targets.py", title="Targets", icon=":material/compare_arrows:"),
        ],
        "Performance": [
            st.Page("performance/compile_time.py", title="Compile time", icon=":material/timer:"),
            st.Page("performance/speedup.py", title="Speedup", icon=":material/speed:"),
        ],
    }
)
try:
    header()
    page.run()
except CompileboardError as error:
    st.error(plain(str(error), 600), icon=":material/error:")
