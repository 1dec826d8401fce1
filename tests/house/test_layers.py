"""Who may import whom, as docs/architecture.md says."""

import ast
import subprocess
import sys

import pytest

from tests.support.imports import FILES, dotted, imported, imports, in_a_circle, modules_of, nodes_of, offending, tops
from tests.support.places import ROOT

# What each part of core may import of ours, beside itself.
LAYERS = {
    "base": set(),
    "report": {"base"},
    "job": {"base"},
    "ops": {"report"},
    "code": {"base", "job", "report"},
    "trace": {"base", "code", "report"},
    "analysis": {"base", "code", "job", "ops", "report"},
    "graph": {"analysis", "base", "ops", "report"},
    "accelerator": {"base", "report"},
    "runs": {"accelerator", "analysis", "base", "code", "graph", "job", "report", "trace"},
    "sweep": {"accelerator", "analysis", "base", "job", "report", "runs"},
    "views": {"accelerator", "analysis", "base", "code", "graph", "job", "report", "runs", "sweep", "trace"},
    "commands": {"accelerator", "analysis", "base", "job", "report", "runs", "sweep", "trace", "views"},
    "worker": {"accelerator", "analysis", "base", "code", "job", "ops", "report", "runs", "trace"},
    # Nothing imports it: a user's process does. It records by the worker's recorders.
    "library": {"analysis", "base", "report", "runs", "trace", "views", "worker"},
    "samples": set(),
}
# The package's own face hands on the names of core's.
FACES = {"core/library/face.py": {""}}
# Names that core's inner packages offer, most of them the report's types: a module is imported by its own name.
MOST_NAMES_OF_FACES = 220
# Modules that hand on names of others, as pyproject.toml lists them.
OFFERING = [f"core/views/{name}.py" for name in ("comments", "fixes", "pairs")]
OFFERING += [f"pages/look/{name}.py" for name in ("charts", "palette", "text")]
CORE = [name for name in FILES if name.startswith("core/")]
TESTS = [
    path.relative_to(ROOT).as_posix() for top in ("tests", "benchmarks", "docs") for path in (ROOT / top).rglob("*.py")
]


def layer_of(name: str) -> str:
    return name.removeprefix("core/").removesuffix(".py").split("/")[0]


def part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_core_imports_no_streamlit_and_no_page() -> None:
    screen = {"streamlit", "pages", "dashboard", "plotly", "tests"}
    assert offending(CORE, lambda name: tops(name) & screen) == {}


def test_only_worker_and_samples_import_torch() -> None:
    allowed = ("core/worker/", "core/samples/", "core/accelerator/")
    others = [name for name in FILES if not name.startswith(allowed)]
    assert offending(others, lambda name: tops(name) & {"torch", "triton"}) == {}


def above(name: str) -> set[str]:
    """What a module of core imports and may not."""
    layer = layer_of(name)
    found = {part(module) for module in imported(name) if module.split(".")[0] == "core"}
    allowed = LAYERS.get(layer, set()) | FACES.get(name, set()) | {layer}
    return found & {"worker"} if layer in ("__init__", "__main__") else found - allowed


def test_core_module_imports_only_the_layers_below_it() -> None:
    assert offending(CORE, above) == {}


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


def in_folder_circles(names: list[str]) -> dict[str, set[str]]:
    """Folders, and what lies directly in each, files and folders, and imports itself in a circle."""
    below: dict[str, dict[str, set[str]]] = {}
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): name for name in names}
    for module, name in modules.items():
        for target in {*modules_of(name)} & {*modules}:
            parts, others = module.split("."), target.split(".")
            shared = next((i for i, pair in enumerate(zip(parts, others, strict=False)) if pair[0] != pair[1]), 0)
            if shared:
                folder = below.setdefault(".".join(parts[:shared]), {})
                folder.setdefault(parts[shared], set()).add(others[shared])
    return {folder: found for folder, inside in below.items() if (found := in_a_circle(inside))}


def test_no_folder_of_core_or_pages_imports_itself_in_a_circle() -> None:
    assert in_folder_circles([name for name in FILES if "/" in name]) == {}


def decoding(name: str) -> set[str]:
    """What of a file decodes JSON."""
    ways = {"json.load", "json.loads", "json.JSONDecoder", "msgspec.json.decode", "msgspec.json.Decoder"}
    named = {one for _, taken in imports(name) for one in taken}
    return {*(dotted(name) & ways), *(named & {"loads", "JSONDecoder", "Decoder"})}


@pytest.mark.promise("logs")
def test_json_is_decoded_in_one_place_alone() -> None:
    """All JSON is decoded by one decoder with limits."""
    assert list(offending(FILES, decoding)) == ["core/base/decoder.py"]


@pytest.mark.parametrize("module", ["core", "core.commands.main", "core.graph.layout", "core.job.gallery"])
def test_importing_core_loads_neither_torch_nor_streamlit(module: str) -> None:
    code = f"import sys, {module}; sys.exit(bool({{'torch', 'streamlit', 'triton'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def names_handed_on(face: str) -> dict[str, bool]:
    """The names that a package's face imports and does not use, and whether another file imports them from it."""
    used = {node.id for node in nodes_of(face) if isinstance(node, ast.Name)}
    used |= {
        alias.name
        for node in nodes_of(face)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    package = face.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, last = package.rpartition(".")
    taken: set[str] = set()
    for name in (*FILES, *TESTS):
        for module, names in imports(name):
            if module == package:
                taken |= {*names}
            if module == parent and last in names:
                taken |= {path.rpartition(".")[2] for path in dotted(name)}
    return {
        name: name in taken
        for module, names in imports(face)
        for name in names
        if not {name, module} & {*used, "__future__"}
    }


def test_packages_inside_of_core_offer_few_names_and_each_is_imported() -> None:
    inner = [name for name in CORE if name.endswith("/__init__.py") and name != "core/__init__.py"]
    names = {face: names_handed_on(face) for face in inner}
    assert sum(map(len, names.values())) <= MOST_NAMES_OF_FACES
    names |= {module: names_handed_on(module) for module in OFFERING}
    assert {face: unused for face, each in names.items() if (unused := [name for name in each if not each[name]])} == {}


def test_every_public_name_comes_from_the_module_that_its_import_names() -> None:
    import core

    homes = core._HOMES
    assert homes == {name: module for module, names in imports("core/__init__.py") for name in names if name in homes}
    assert [*sorted(homes)] == sorted(core.__all__)


def test_every_public_name_is_there() -> None:
    import core

    assert len(set(core.__all__)) == len(core.__all__)
    assert [name for name in core.__all__ if not hasattr(core, name)] == []
