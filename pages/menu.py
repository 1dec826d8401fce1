"""The menu, the only place that defines a page's script, title, icon, section and entry."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A page; its name is the name of its script, and the last part of its URL.

    A page draws blocks of `core/views`, unless it is made `by_hand`: a graph, a form, a list with actions or a lesson.
    """

    section: str
    name: str
    title: str
    icon: str
    by_hand: bool = False

    @property
    def script(self) -> str:
        """Script path below `pages/`, by which Streamlit identifies the page; its folder is the section."""
        return f"{self.section.lower()}/{self.name}.py"


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """An entry of the menu. It opens its first pane; a row above each pane links to the others.

    A drill-down opens from a pane; the row shows it only while it is open.
    """

    title: str
    panes: tuple[Page, ...]
    drill_downs: tuple[Page, ...] = ()

    @property
    def pages(self) -> tuple[Page, ...]:
        return (*self.panes, *self.drill_downs)


NEW_RUN = Page("Run", "new_run", "New run", ":material/add_circle:", by_hand=True)
OVERVIEW = Page("Run", "overview", "Overview", ":material/summarize:")
TOUR = Page("Run", "tour", "Tour", ":material/tour:", by_hand=True)
RUNS = Page("Run", "runs", "Runs", ":material/history:", by_hand=True)
COMPARE = Page("Run", "compare", "Compare", ":material/compare:")
RANKS = Page("Run", "ranks", "Ranks", ":material/hub:")
TARGETS = Page("Run", "targets", "Targets", ":material/compare_arrows:")
SWEEP = Page("Run", "sweep", "Sweep", ":material/apps:", by_hand=True)
COMPILATIONS = Page("Dynamo", "compilations", "Compilations", ":material/lan:")
BYTECODE = Page("Dynamo", "bytecode", "Bytecode", ":material/data_object:")
LOGS = Page("Dynamo", "logs", "Torch's log", ":material/subject:")
ARTIFACTS = Page("Dynamo", "artifacts", "Artifacts", ":material/inventory_2:")
VLLM = Page("Dynamo", "vllm", "vLLM", ":material/view_module:")
GRAPH_BREAKS = Page("Dynamo", "graph_breaks", "Graph breaks", ":material/link_off:")
RECOMPILES = Page("Dynamo", "recompiles", "Recompiles", ":material/replay:")
GUARDS = Page("Dynamo", "guards", "Guards", ":material/shield:")
DYNAMIC_SHAPES = Page("Dynamo", "dynamic_shapes", "Dynamic shapes", ":material/straighten:")
FX_GRAPH = Page("Graphs", "fx_graph", "FX graph", ":material/account_tree:", by_hand=True)
CAPTURES = Page("Graphs", "captures", "Captures", ":material/difference:")
PASSES = Page("Graphs", "passes", "Passes", ":material/movie:")
PARTITION = Page("Graphs", "partition", "Forward and backward", ":material/swap_vert:")
FUSION = Page("Graphs", "fusion", "Fusion", ":material/merge:", by_hand=True)
KERNELS = Page("Graphs", "kernels", "Kernels", ":material/memory:")
KERNEL = Page("Graphs", "kernel", "One kernel", ":material/stairs:")
DECISIONS = Page("Graphs", "decisions", "Decisions", ":material/rule:")
COMPILE_TIME = Page("Performance", "compile_time", "Compile time", ":material/timer:")
SPEEDUP = Page("Performance", "speedup", "Speedup", ":material/speed:")
FASTER = Page("Performance", "faster", "Faster", ":material/bolt:")
MEMORY = Page("Performance", "memory", "Memory", ":material/stacked_bar_chart:")
TIMELINE = Page("Performance", "timeline", "Timeline", ":material/view_timeline:")
NUMERICS = Page("Performance", "numerics", "Numerics", ":material/exposure:")
BACKEND = Page("Backends", "backend", "Backend", ":material/handshake:")
ACCELERATOR = Page("Backends", "accelerator", "Accelerator", ":material/conveyor_belt:")
AOTINDUCTOR = Page("Backends", "aotinductor", "AOTInductor", ":material/package_2:")
NEIGHBOURS = Page("Backends", "neighbours", "Neighbours", ":material/holiday_village:")
EXERCISES = Page("Learn", "exercises", "Exercises", ":material/school:", by_hand=True)
LANDMARKS = Page("Learn", "landmarks", "Where in torch", ":material/map:")
GLOSSARY = Page("Learn", "glossary", "Glossary", ":material/dictionary:")
OPTIONS = Page("Setup", "options", "Options", ":material/tune:", by_hand=True)
DOCTOR = Page("Setup", "doctor", "Doctor", ":material/stethoscope:")

# In menu order; the first page opens without a path.
ENTRIES = (
    MenuEntry("New run", (NEW_RUN,)),
    MenuEntry("Overview", (OVERVIEW, TOUR)),
    MenuEntry("Runs", (RUNS,)),
    MenuEntry("Compare", (COMPARE, RANKS, TARGETS, SWEEP)),
    MenuEntry("Compilations", (COMPILATIONS, BYTECODE, LOGS, ARTIFACTS, VLLM)),
    MenuEntry("Graph breaks", (GRAPH_BREAKS,)),
    MenuEntry("Recompiles", (RECOMPILES, GUARDS, DYNAMIC_SHAPES)),
    MenuEntry("Graph", (FX_GRAPH, CAPTURES, PASSES, PARTITION)),
    MenuEntry("Fusion", (FUSION,)),
    MenuEntry("Kernels", (KERNELS, DECISIONS), drill_downs=(KERNEL,)),
    MenuEntry("Compile time", (COMPILE_TIME,)),
    MenuEntry("Faster", (FASTER,)),
    MenuEntry("Measurements", (SPEEDUP, MEMORY, NUMERICS, TIMELINE)),
    MenuEntry("Backends", (BACKEND, ACCELERATOR, AOTINDUCTOR, NEIGHBOURS)),
    MenuEntry("Learn", (EXERCISES, LANDMARKS, GLOSSARY)),
    MenuEntry("Setup", (OPTIONS, DOCTOR)),
)
PAGES = {page.name: page for entry in ENTRIES for page in entry.pages}
# Earlier names of pages, which old links contain.
RENAMED = {"pipeline": ACCELERATOR}


def of_script(script: str | None) -> Page | None:
    """Return the page of a script; None for no script and for a script without a page."""
    return next((page for page in PAGES.values() if page.script == script), None)


def entry_of(page: Page) -> MenuEntry:
    return next(entry for entry in ENTRIES if page in entry.pages)
