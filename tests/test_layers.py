"""Who may import whom, as ARCHITECTURE.md says."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.menu import PAGES

ROOT = Path(__file__).resolve().parent.parent

# What each part of core may import of ours, beside itself.
LAYERS = {
    "errors": set(),
    "syntax": set(),
    "decoder": {"errors"},
    "files": {"errors"},
    "run_id": set(),
    "status": set(),
    "tidy": {"files", "run_id"},
    "trace": {"errors", "decoder", "files"},
    "report": {"errors", "decoder"},
    "records": {"report"},
    "layout": {"errors", "decoder"},
    "arguments": {"errors", "syntax"},
    "targets": set(),
    "words": set(),
    "gallery": {"errors", "syntax"},
    "parsers": {"trace", "report", "records", "errors", "decoder", "syntax"},
    "analysis": {"report", "targets", "words", "decoder"},
    "graph": {"report", "analysis", "layout", "errors"},
    "job": {"errors", "report", "arguments", "targets", "decoder"},
    "store": {"errors", "trace", "report", "job", "decoder", "files", "run_id", "status", "tidy"},
    "processes": set(),
    "engine_messages": {"decoder"},
    "forkserver": {"errors", "store", "processes", "engine_messages"},
    "engine": {"errors", "store", "targets", "forkserver", "processes", "engine_messages", "status"},
    "permission": {"errors", "job", "arguments", "gallery", "store", "tools"},
    "limits": {"errors", "job", "store", "words"},
    "runner": {
        "engine",
        "permission",
        "limits",
        "errors",
        "report",
        "job",
        "store",
        "gallery",
        "tools",
        "files",
        "status",
    },
    "reports": {"errors", "report", "parsers", "store", "graph", "decoder", "files"},
    "progress": {"trace", "parsers", "report"},
    "tools": {
        "errors",
        "job",
        "store",
        "report",
        "parsers",
        "reports",
        "analysis",
        "targets",
        "decoder",
        "files",
        "syntax",
        "status",
    },
    "worker": {
        *("errors", "job", "store", "arguments", "report", "analysis", "targets", "tools", "processes", "trace"),
        *("decoder", "files", "engine_messages", "records", "status"),
    },
    "samples": set(),
}
# What each part of pages may import of pages, beside itself; the scripts are those of the menu.
SCREEN_LAYERS = {
    "menu": set(),
    "gate": set(),
    "look": set(),
    "components": set(),
    "components/chips": set(),
    "components/code": {"look"},
    "components/graph": {"look"},
    "components/keys": set(),
    "components/progress": {"look"},
    "components/upload": {"look"},
    "session": {"menu", "gate", "look", "components/chips", "components/keys"},
    "parts": set(),
    "parts/code": {"look", "session", "components/code"},
    "parts/dynamo": {"look", "parts/code"},
    "parts/run": {
        *("menu", "gate", "look", "session", "parts/code"),
        *("components/code", "components/progress", "components/upload"),
    },
    "parts/graphs": {"look", "session", "components/code", "components/graph", "parts/code"},
    "parts/kernels": {"menu", "look", "session", "components/code", "parts/code"},
    "parts/kernel": {"gate", "look", "session", "components/code", "parts/code"},
    "parts/targets": {"look", "session", "components/code", "parts/code"},
    "parts/performance": {"look"},
    "scripts": {
        *("menu", "gate", "look", "session", "components/code", "components/graph", "parts/code"),
        *("parts/run", "parts/dynamo", "parts/graphs", "parts/kernels", "parts/kernel", "parts/targets"),
        "parts/performance",
    },
    "app": {"menu", "look", "session"},
    "dashboard": {"gate", "session", "components/graph"},
}
SECTIONS = {page.section.lower() for page in PAGES.values()}
MOST_FILES = 24
PUBLIC = {"core", "core.words", "core.report", "core.analysis", "core.layout", "core.tools", "core.graph"}
FILES = [
    "dashboard.py",
    *sorted(path.relative_to(ROOT).as_posix() for top in ("core", "pages") for path in (ROOT / top).rglob("*.py")),
]
CORE = [name for name in FILES if name.startswith("core/")]
SCREEN = [name for name in FILES if not name.startswith("core/")]


def imported(name: str) -> Iterator[str]:
    """Full names of the modules that a file imports, wherever in it; for `from core import x`, `core`."""
    for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            yield node.module or ""


def part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def tops(name: str) -> set[str]:
    return {module.split(".")[0] for module in imported(name)}


@pytest.mark.parametrize("name", CORE)
def test_core_imports_no_streamlit_and_no_page(name: str) -> None:
    assert tops(name) & {"streamlit", "pages", "dashboard", "plotly", "tests"} == set()


@pytest.mark.parametrize("name", FILES)
def test_only_worker_and_samples_import_torch(name: str) -> None:
    allowed = name.startswith(("core/worker/", "core/samples/"))
    assert allowed or tops(name) & {"torch", "triton"} == set()


@pytest.mark.parametrize("name", CORE)
def test_core_module_imports_only_the_layers_below_it(name: str) -> None:
    layer = name.removeprefix("core/").removesuffix(".py").split("/")[0]
    found = {part(module) for module in imported(name) if module.split(".")[0] == "core"}
    if layer in ("__init__", "__main__", "cli"):
        assert "worker" not in found
    else:
        assert found - {layer} <= LAYERS[layer]


@pytest.mark.parametrize("name", SCREEN)
def test_pages_import_the_public_api_alone(name: str) -> None:
    found = {module for module in imported(name) if module.split(".")[0] == "core"}
    assert found <= PUBLIC


def place(name: str) -> str:
    """The part of the screen that a file, or a module's path, belongs to."""
    folders = name.removeprefix("pages/").removesuffix(".py").split("/")
    if folders[0] in SECTIONS:
        return "scripts"
    return "/".join(folders[:2]) if folders[0] in ("components", "parts") and folders[1] != "__init__" else folders[0]


def screen_imports(name: str) -> set[str]:
    """The parts of the screen that a file imports beside its own; `from pages.look import text` is one of them."""
    found = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    return {place(module.replace(".", "/")) for module in found if module.startswith("pages.")} - {place(name)}


@pytest.mark.parametrize("name", SCREEN)
def test_a_part_of_the_screen_imports_only_those_below_it(name: str) -> None:
    assert screen_imports(name) <= SCREEN_LAYERS[place(name)]


def test_the_layers_of_the_screen_are_those_that_there_are() -> None:
    used = {place(name): set[str]() for name in SCREEN}
    for name in SCREEN:
        used[place(name)] |= screen_imports(name)
    assert used == SCREEN_LAYERS


def test_no_part_of_the_screen_imports_itself_in_a_circle() -> None:
    left = dict(SCREEN_LAYERS)
    while lowest := [name for name, below in left.items() if not below & set(left)]:
        for name in lowest:
            del left[name]
    assert left == {}


@pytest.mark.parametrize("name", [name for name in SCREEN if place(name) == "look"])
def test_what_only_looks_knows_no_streamlit(name: str) -> None:
    assert "streamlit" not in tops(name)


# Where a visitor's session, the URL and the caches may be read: below `session`, and by a component under its own key.
KEPT = {"st.session_state", "st.query_params", "st.cache_data", "st.cache_resource"}
MAY_READ = {
    "session": KEPT,
    "components/code": {"st.session_state"},
    "components/graph": {"st.session_state"},
    "components/keys": {"st.session_state"},
}


@pytest.mark.parametrize("name", SCREEN)
def test_the_session_the_url_and_the_caches_are_read_in_one_place_alone(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & KEPT
    assert used <= MAY_READ.get(place(name), set())


@pytest.mark.parametrize("name", SCREEN)
def test_the_menu_alone_names_scripts_of_pages(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert texts & {page.script for page in PAGES.values()} == set()


def test_no_folder_of_the_screen_holds_more_than_one_can_look_through() -> None:
    folders = Counter(path.parent for path in (ROOT / "pages").rglob("*") if path.suffix in (".py", ".js", ".css"))
    assert {folder: count for folder, count in folders.items() if count > MOST_FILES} == {}


@pytest.mark.parametrize("name", [name for name in FILES if name != "core/decoder.py"])
def test_json_is_decoded_in_one_place_alone(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    others = {"json.load", "json.loads", "json.JSONDecoder", "msgspec.json.decode", "msgspec.json.Decoder"}
    assert used & others == set()
    assert named & {"loads", "JSONDecoder", "Decoder"} == set()


# What changes the store: a page asks for it at a door, which asks who is there.
CHANGES = {"submit", "start_tool", "add_log", "delete", "forget", "cancel"}
DOORS = "pages/session/doors.py"


@pytest.mark.parametrize("name", [name for name in SCREEN if name != DOORS])
def test_pages_change_the_store_through_its_doors_alone(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in CHANGES]
    past = {ast.unparse(call) for call in calls if ast.unparse(call.value) != "doors"}
    assert past <= {"ThreadPoolExecutor(1).submit", "task.cancel"}
    assert "core.tools.tasks" not in set(imported(name))


@pytest.mark.parametrize("module", ["core", "core.cli", "core.layout", "core.gallery"])
def test_importing_core_loads_neither_torch_nor_streamlit(module: str) -> None:
    code = f"import sys, {module}; sys.exit(bool({{'torch', 'streamlit', 'triton'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_every_public_name_is_there() -> None:
    import core

    assert len(set(core.__all__)) == len(core.__all__)
    assert [name for name in core.__all__ if not hasattr(core, name)] == []
