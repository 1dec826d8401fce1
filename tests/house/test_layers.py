"""Who may import whom, as ARCHITECTURE.md says."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from pages.menu import PAGES
from tests.support.places import ROOT

# What each part of core may import of ours, beside itself.
LAYERS = {
    "errors": set(),
    "syntax": set(),
    "decoder": {"errors", "words"},
    "files": {"errors", "words"},
    "run_id": set(),
    "status": set(),
    "words": set(),
    "machine": set(),
    "tolerances": set(),
    "tidy": {"files", "run_id"},
    "trace": {"errors", "decoder", "files"},
    "report": {"errors", "decoder"},
    "records": {"report"},
    "layout": {"errors", "decoder", "words"},
    "arguments": {"errors", "syntax"},
    "targets": set(),
    "gallery": {"errors", "syntax"},
    "ops": {"report"},
    "code": {"report", "targets", "decoder", "syntax", "words"},
    "parsers": {"trace", "report", "records", "code", "errors", "decoder", "syntax"},
    "analysis": {"report", "code", "ops", "targets", "words"},
    "graph": {"report", "ops", "analysis", "layout", "words"},
    "job": {"errors", "arguments", "targets", "decoder", "words"},
    "store": {"errors", "trace", "job", "decoder", "files", "run_id", "status", "tidy", "words"},
    "comparable": {"job", "status", "store"},
    "engine": {"errors", "store", "targets", "decoder", "status", "machine"},
    "permission": {"errors", "job", "arguments", "gallery", "store", "tools", "words"},
    "limits": {"errors", "job", "store", "words"},
    "runner": {
        *("engine", "permission", "limits", "errors", "job", "store", "gallery", "tools", "files", "status"),
        "words",
    },
    "stored": {"errors", "report", "parsers", "store", "graph", "decoder", "files"},
    "progress": {"trace", "parsers", "report"},
    "tools": {
        *("errors", "job", "store", "report", "parsers", "stored", "code", "targets", "decoder", "files"),
        *("syntax", "status", "words", "tolerances"),
    },
    "worker": {
        *("errors", "job", "store", "arguments", "report", "code", "ops", "analysis", "targets", "tools", "engine"),
        *("trace", "decoder", "files", "records", "status", "words", "machine", "tolerances"),
    },
    "samples": set(),
}
# What each part of pages may import of pages, beside itself; the scripts are those of the menu.
SCREEN_LAYERS = {
    "menu": set(),
    "gate": set(),
    "look": set(),
    "components": set(),
    "components/chips": {"components/modules"},
    "components/code": {"components/modules", "look"},
    "components/graph": {"components/modules", "look"},
    "components/keys": {"components/modules"},
    "components/modules": set(),
    "components/progress": {"components/modules", "look"},
    "components/upload": {"components/modules"},
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
PUBLIC = {
    "core",
    "core.words",
    "core.report",
    "core.ops",
    "core.code",
    "core.analysis",
    "core.analysis.kernels",
    "core.layout",
    "core.tools",
    "core.graph",
}
FILES = [
    "dashboard.py",
    *sorted(path.relative_to(ROOT).as_posix() for top in ("core", "pages") for path in (ROOT / top).rglob("*.py")),
]
CORE = [name for name in FILES if name.startswith("core/")]
SCREEN = [name for name in FILES if not name.startswith("core/")]


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text(encoding="utf-8"))


def imports(name: str) -> Iterator[tuple[str, list[str]]]:
    """What a file imports, wherever in it: the full name of a module, and the names that are taken from it, if any."""
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            yield node.module or "", [alias.name for alias in node.names]


def imported(name: str) -> Iterator[str]:
    """Full names of the modules that a file imports; for `from core import x`, `core`."""
    return (module for module, _ in imports(name))


def modules_of(name: str) -> Iterator[str]:
    """The same, but for `from core import x`, `core.x` if x is a module."""
    for module, taken in imports(name):
        folder = ROOT / module.replace(".", "/")
        for one in taken:
            is_module = (folder / one).is_dir() or (folder / f"{one}.py").exists()
            yield f"{module}.{one}" if is_module else module
        if not taken:
            yield module


def in_a_circle(below: Mapping[str, set[str]]) -> set[str]:
    """What is left when all that has nothing below it is taken away, again and again."""
    left = dict(below)
    while lowest := [name for name, needed in left.items() if not needed & set(left)]:
        for name in lowest:
            del left[name]
    return set(left)


def layer_of(name: str) -> str:
    return name.removeprefix("core/").removesuffix(".py").split("/")[0]


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
    layer = layer_of(name)
    found = {part(module) for module in imported(name) if module.split(".")[0] == "core"}
    if layer in ("__init__", "__main__", "cli"):
        assert "worker" not in found
    else:
        assert found - {layer} <= LAYERS[layer]


def test_the_layers_of_core_are_those_that_there_are() -> None:
    used = {layer: set[str]() for layer in LAYERS}
    for name in CORE:
        if (layer := layer_of(name)) in used:
            used[layer] |= {part(module) for module in imported(name) if module.startswith("core.")} - {layer}
    assert used == LAYERS


def test_no_module_of_core_imports_itself_in_a_circle() -> None:
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): name for name in CORE}
    below = {module: (set(modules_of(name)) & set(modules)) - {module} for module, name in modules.items()}
    assert in_a_circle(below) == set()


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
    found = {f"{module}.{one}" for module, taken in imports(name) for one in taken}
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
    assert in_a_circle(SCREEN_LAYERS) == set()


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
    used = {ast.unparse(node) for node in ast.walk(tree_of(name)) if isinstance(node, ast.Attribute)} & KEPT
    assert used <= MAY_READ.get(place(name), set())


@pytest.mark.parametrize("name", SCREEN)
def test_the_menu_alone_names_scripts_of_pages(name: str) -> None:
    texts = {node.value for node in ast.walk(tree_of(name)) if isinstance(node, ast.Constant)}
    assert texts & {page.script for page in PAGES.values()} == set()


def test_no_folder_of_the_screen_holds_more_than_one_can_look_through() -> None:
    folders = Counter(path.parent for path in (ROOT / "pages").rglob("*") if path.suffix in (".py", ".js", ".css"))
    assert {folder: count for folder, count in folders.items() if count > MOST_FILES} == {}


@pytest.mark.parametrize("name", [name for name in FILES if name != "core/decoder.py"])
def test_json_is_decoded_in_one_place_alone(name: str) -> None:
    used = {ast.unparse(node) for node in ast.walk(tree_of(name)) if isinstance(node, ast.Attribute)}
    named = {alias.name for node in ast.walk(tree_of(name)) if isinstance(node, ast.ImportFrom) for alias in node.names}
    others = {"json.load", "json.loads", "json.JSONDecoder", "msgspec.json.decode", "msgspec.json.Decoder"}
    assert used & others == set()
    assert named & {"loads", "JSONDecoder", "Decoder"} == set()


# What the parts and scripts of pages do not do: what may fail goes through `pages/session/attempt.py`.
TRIES = [name for name in SCREEN if place(name).startswith(("parts", "scripts"))]


@pytest.mark.parametrize("name", TRIES)
def test_no_part_of_a_page_catches_errors(name: str) -> None:
    assert [node.lineno for node in ast.walk(tree_of(name)) if isinstance(node, ast.Try)] == []


@pytest.mark.parametrize("name", [name for name in SCREEN if place(name) == "scripts"])
def test_a_script_of_a_page_reads_from_top_to_bottom(name: str) -> None:
    assert [node.name for node in ast.walk(tree_of(name)) if isinstance(node, ast.FunctionDef | ast.ClassDef)] == []


@pytest.mark.parametrize("name", TRIES)
def test_tables_tell_what_was_picked_in_one_way(name: str) -> None:
    assert [
        ast.unparse(node) for node in ast.walk(tree_of(name)) if ast.unparse(node).endswith(".selection.rows")
    ] == []


# What changes the store: a page asks for it at a door, which asks who is there.
CHANGES = {"submit", "start_tool", "add_log", "delete", "forget", "cancel"}
DOORS = "pages/session/doors.py"


@pytest.mark.parametrize("name", [name for name in SCREEN if name != DOORS])
def test_pages_change_the_store_through_its_doors_alone(name: str) -> None:
    calls = [node for node in ast.walk(tree_of(name)) if isinstance(node, ast.Attribute) and node.attr in CHANGES]
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
