"""The menu: the only place that names a page's script, title, icon and section."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the menu; its name is that of its script, and the last part of its URL."""

    section: str
    name: str
    title: str
    icon: str

    @property
    def script(self) -> str:
        """The script's path below `pages/`, which Streamlit uses as name: a section is a folder."""
        return f"{self.section.lower()}/{self.name}.py"


NEW_RUN = Page("Run", "new_run", "New run", ":material/add_circle:")
OVERVIEW = Page("Run", "overview", "Overview", ":material/summarize:")
COMPARE = Page("Run", "compare", "Compare", ":material/compare:")
RUNS = Page("Run", "runs", "Runs", ":material/history:")
COMPILATIONS = Page("Dynamo", "compilations", "Compilations", ":material/lan:")
GRAPH_BREAKS = Page("Dynamo", "graph_breaks", "Graph breaks", ":material/link_off:")
GUARDS = Page("Dynamo", "guards", "Guards", ":material/shield:")
RECOMPILES = Page("Dynamo", "recompiles", "Recompiles", ":material/replay:")
DYNAMIC_SHAPES = Page("Dynamo", "dynamic_shapes", "Dynamic shapes", ":material/straighten:")
BYTECODE = Page("Dynamo", "bytecode", "Bytecode", ":material/data_object:")
FX_GRAPH = Page("Graphs", "fx_graph", "FX graph", ":material/account_tree:")
PASSES = Page("Graphs", "passes", "Passes", ":material/movie:")
PARTITION = Page("Graphs", "partition", "Forward and backward", ":material/swap_vert:")
FUSION = Page("Graphs", "fusion", "Fusion", ":material/merge:")
KERNELS = Page("Graphs", "kernels", "Kernels", ":material/memory:")
KERNEL = Page("Graphs", "kernel", "One kernel", ":material/stairs:")
TARGETS = Page("Graphs", "targets", "Targets", ":material/compare_arrows:")
BACKEND = Page("Backends", "backend", "Backend", ":material/handshake:")
PIPELINE = Page("Backends", "pipeline", "Pipeline", ":material/conveyor_belt:")
AOTINDUCTOR = Page("Backends", "aotinductor", "AOTInductor", ":material/package_2:")
COMPILE_TIME = Page("Performance", "compile_time", "Compile time", ":material/timer:")
SPEEDUP = Page("Performance", "speedup", "Speedup", ":material/speed:")
MEMORY = Page("Performance", "memory", "Memory", ":material/stacked_bar_chart:")
SWEEP = Page("Performance", "sweep", "Sweep", ":material/apps:")
NUMERICS = Page("Performance", "numerics", "Numerics", ":material/exposure:")

# In the order of the menu; the first is the page that opens without a path.
PAGES = {
    page.name: page
    for page in (
        *(NEW_RUN, OVERVIEW, COMPARE, RUNS),
        *(COMPILATIONS, GRAPH_BREAKS, GUARDS, RECOMPILES, DYNAMIC_SHAPES, BYTECODE),
        *(FX_GRAPH, PASSES, PARTITION, FUSION, KERNELS, KERNEL, TARGETS),
        *(BACKEND, PIPELINE, AOTINDUCTOR),
        *(COMPILE_TIME, SPEEDUP, MEMORY, NUMERICS, SWEEP),
    )
}


def of_script(script: str | None) -> Page | None:
    """Return the page of a script; None for no script and for a script without a page."""
    return next((page for page in PAGES.values() if page.script == script), None)
