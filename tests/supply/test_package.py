"""The package: what a wheel holds, how its code is rewritten, and that each entry works where it alone is installed.

A notebook, executed where the package is installed: its cells, and the exported page in a browser without a network.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from playwright.sync_api import Browser, expect

from core.base.machine import PROGRAM, own_module, own_process
from tests.supply import pins
from tests.support.package import Installed, built_wheel, environment, names_in, setup
from tests.support.places import ROOT, TRACES

LOG = next(TRACES.glob("*/*.log*"))
# Folders of users: a package, and a module that hides one of Python's.
USERS = {
    "core/__init__.py": "raise SystemExit('core')",
    "pages/__init__.py": "",
    "random.py": "raise SystemExit('random')",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed.of(wheel, tmp_path_factory.mktemp("installed") / "environment")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder, with a `core`, a `pages` and a `random` of its own."""
    for name, text in USERS.items():
        (tmp_path / "user" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "user" / name).write_text(text)
    return tmp_path / "user"


def test_imports_and_commands_are_rewritten_and_nothing_else() -> None:
    source = """'''Run `python -m core run`, `python -m core.worker`, or `streamlit run dashboard.py`.'''
import core as face, os
from core.base import words  # from core
from pages import menu
def f(é, core): import pages.look as look; return core.base, "core.base", f"{é} python -m core run {core}"
"""
    expected = """'''Run `python -m compileboard run`, `python -m compileboard.core.worker`, or `python -m compileboard dashboard`.'''
import compileboard.core as face, os
from compileboard.core.base import words  # from core
from compileboard.pages import menu
def f(é, core): import compileboard.pages.look as look; return core.base, "core.base", f"{é} python -m compileboard run {core}"
"""  # noqa: E501
    assert setup.rewritten(source) == expected


def test_an_import_that_binds_core_is_refused() -> None:
    with pytest.raises(setup.BuildError, match="line 2: `import core.base` needs `as`"):
        setup.rewritten("import os\nimport core.base\n")


@pytest.mark.server
def test_the_wheel_is_one_package_with_all_of_core_and_pages_the_skill_and_no_test_or_document(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "core", "pages"],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=True,
    )
    ours = {name for name in tracked.stdout.splitlines() if (ROOT / name).exists()}
    left_out = {name for name in ours if name.endswith((".ts", "deno.json", "deno.lock")) or "/fuzz/" in name}
    moved = {"core/library/face.py", "core/library/plugin.py"}
    own = {"__init__.py", "__main__.py", "plugin.py", "dashboard.py", ".streamlit/config.toml", "docs/skill/SKILL.md"}
    names = {name for name in names_in(wheel) if ".dist-info/" not in name}
    assert names == {f"compileboard/{name}" for name in (ours - left_out - moved) | own}
    assert {name.rpartition(".")[2] for name in names} >= {"js", "css", "woff2", "cpp", "h", "json", "xz", "svg"}


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.server
def test_every_module_of_the_wheel_imports_only_what_the_wheel_or_its_requirements_bring(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        sources = {name: file.read(name).decode() for name in file.namelist() if name.endswith(".py")}
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in sources}
    wanted = {module for source in sources.values() for module in imported(source)}
    tops = {module.partition(".")[0] for module in wanted}
    assert tops & {"core", "pages", "dashboard", "tests", "docs", "setup"} == set()
    packages = {module.rpartition(".")[0] for module in modules}
    assert {module for module in wanted if module.startswith("compileboard.")} <= modules | packages


@pytest.mark.server
def test_no_text_of_the_wheel_names_a_command_of_the_repository(wheel: Path) -> None:
    old = re.compile(rb"python -m core\b|streamlit run dashboard\.py|from core import")
    with zipfile.ZipFile(wheel) as file:
        assert [
            name for name in file.namelist() if name.startswith("compileboard/") and old.search(file.read(name))
        ] == []


def test_each_requirement_is_a_range_around_the_version_that_the_tests_run_with() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    ranges = {str(canonicalize_name(item.name)): item for item in map(Requirement, declared)}
    pinned = dict(pins.pins(pins.REQUIREMENTS))
    assert ranges.keys() == pinned.keys()
    assert [str(ranges[name]) for name, version in pinned.items() if version not in ranges[name].specifier] == []
    assert [str(item) for item in ranges.values() if "==" in str(item.specifier)] == []


def test_each_extra_is_a_range_around_the_version_of_its_group() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra, declared in project["optional-dependencies"].items():
        ranges = {str(canonicalize_name(item.name)): item for item in map(Requirement, declared)}
        versions = dict(pins.pins(extra))
        assert ranges.keys() == versions.keys()
        assert [name for name, version in versions.items() if version not in ranges[name].specifier] == []


def test_the_wheel_is_for_the_versions_of_python_that_the_readme_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.search(r"With Python (\S+) to (\S+) and", (ROOT / "README.md").read_text())
    assert named is not None
    minor = int(named[2].partition(".")[2])
    assert project["requires-python"] == f">={named[1]},<3.{minor + 1}"


def test_in_the_repository_our_modules_have_their_own_names() -> None:
    assert PROGRAM == ("python", "-m", "core")
    assert own_module("core.worker") == "core.worker"
    assert own_process("core.worker", "cuda") == (sys.executable, "-m", "core.worker", "cuda")


@pytest.mark.server
def test_importing_the_package_loads_none_of_its_modules(installed: Installed, tmp_path: Path) -> None:
    code = "import sys, compileboard; print([name for name in sys.modules if name.startswith('compileboard.')])"
    assert installed.output(installed.python("-c", code), tmp_path, tmp_path) == "[]\n"


@pytest.mark.torch
def test_modules_import_where_the_package_is_installed(installed: Installed, wheel: Path, tmp_path: Path) -> None:
    """All but pages' scripts, and what runs a model or a kernel when it is imported."""
    modules = sorted(
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in names_in(wheel)
        if name.startswith("compileboard/core/") and name.endswith(".py")
        if not name.startswith("compileboard/core/samples/") and not name.endswith("/vector_add.py")
    )
    code = "import importlib, json, sys; [importlib.import_module(name) for name in json.load(sys.stdin)]"
    done = subprocess.run(
        installed.python("-c", code),
        input=json.dumps(modules),
        text=True,
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.server
def test_commands_work_beside_folders_named_as_ours(installed: Installed, folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert "Sine and cosine" in installed.output(installed.command("samples"), home, folder)
    assert "1 graph" in installed.output(installed.command("report", str(LOG)), home, folder)
    assert "usage: python -m compileboard" in installed.output(installed.command("--help"), home, folder)
    assert "needs a clone" in installed.output(installed.command("seeds"), home, folder, code=3)
    installed.output(installed.command("skill", "--to", str(tmp_path / "skills")), home, folder)
    skill = tmp_path / "skills" / "compileboard" / "SKILL.md"
    assert skill.read_bytes() == (ROOT / "docs" / "skill" / "SKILL.md").read_bytes()


@pytest.mark.torch
def test_a_run_compiles_where_the_package_is_installed(installed: Installed, folder: Path, tmp_path: Path) -> None:
    command = installed.command("run", "sin_cos", "--no-measure")
    assert "1 graph, 0 graph breaks, 5 ops fused into 1 kernel" in installed.output(command, tmp_path / "home", folder)


@pytest.mark.server
def test_the_dashboard_starts_where_the_package_is_installed(
    installed: Installed, folder: Path, tmp_path: Path
) -> None:
    command = installed.command("dashboard", "--no-browser", "--", "--client.toolbarMode", "viewer")
    with subprocess.Popen(
        command, cwd=folder, env=environment(tmp_path / "home"), text=True, stdout=subprocess.PIPE
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert (fetched(f"{address}/_stcore/health"), "<title>" in fetched(address)) == ("ok", True)
            assert fetched(f"{address}/app/static/samples/sin_cos.svg").startswith("<svg")
        finally:
            dashboards = psutil.Process(server.pid).children()
            server.terminate()
            assert psutil.wait_procs(dashboards, 30)[1] == []


def fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as response:
        return str(response.read().decode())


EXAMPLES = ROOT / "docs" / "examples"


# The readers one after another; torch is imported once, and what one has compiled is forgotten.
READERS = """
import runpy, torch
for side in ("after", "before"):
    torch.compiler.reset()
    print(f"reads: {side}")
    runpy.run_path(f"{side}/recompile_reader.py", run_name="__main__")
"""
TESTS = ("-m", "pytest", "-v", "-p", "no:cacheprovider", "--strict-markers", "--import-mode=importlib")


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """The examples, where they may write."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    return tmp_path


def size(name: str) -> int:
    """Lines of a file without its docstrings, imports, and empty lines."""
    tree = ast.parse((EXAMPLES / name).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:]
        if isinstance(node, ast.Module):
            node.body = [each for each in node.body if not isinstance(each, ast.Import | ast.ImportFrom)]
    return sum(bool(line.strip()) for line in ast.unparse(tree).splitlines())


def test_examples_are_shorter_and_their_sizes_are_those_of_the_document() -> None:
    names = ("test_compile.py", "recompile_reader.py")
    sizes = {name: (size(f"before/{name}"), size(f"after/{name}")) for name in names}
    document = (ROOT / "docs" / "your-own-work.md").read_text()
    assert all(after < before for before, after in sizes.values())
    assert [name for name, (before, after) in sizes.items() if f"| {before} | {after} |" not in document] == []


@pytest.mark.long
@pytest.mark.torch
def test_examples_of_tests_pass_where_the_package_is_installed(installed: Installed, examples: Path) -> None:
    """By the plugin's entry point."""
    tests = installed.python(*TESTS, "before/test_compile.py", "after/test_compile.py")
    printed = installed.output(tests, examples / "home", examples)
    ended = dict(re.findall(r"^(\S+) (PASSED|SKIPPED)", printed, re.MULTILINE))
    names = ("test_no_recompile_over_resolutions", "test_no_graph_break", "test_memory")
    assert set(ended) == {f"{side}/test_compile.py::{name}" for side in ("before", "after") for name in names}
    # By hand, bytes can be counted on a GPU alone.
    assert {test for test, state in ended.items() if state == "SKIPPED"} <= {"before/test_compile.py::test_memory"}


@pytest.mark.torch
def test_an_example_names_each_recompile_as_the_reader_did_by_hand(installed: Installed, examples: Path) -> None:
    printed = installed.output(installed.python("-c", READERS), examples / "home", examples)
    _, *sides = re.split(r"^reads: \w+$", printed, flags=re.MULTILINE)
    reason = "tensor 'image' size mismatch at index 2. expected {}, actual {}"
    assert len(sides) == 2
    for side in sides:
        found = re.findall(r"^(step=\d): .*denoiser.py:\d+.*(tensor 'image'.*)$", side, re.MULTILINE)
        assert found == [("step=1", reason.format(80, 96)), ("step=2", reason.format(96, 112))]


@pytest.fixture(scope="module")
def notebook(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example notebook, executed by nbclient, beside its page as nbconvert exports it."""
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copy(EXAMPLES / "notebook.ipynb", folder)
    convert = ("-m", "nbconvert", "--log-level=ERROR", "notebook.ipynb", "--to")
    # The templates of pages are beside nbconvert, so in the environment of the tests.
    for command in (
        installed.python(*convert, "notebook", "--execute", "--inplace"),
        [sys.executable, *convert, "html"],
    ):
        installed.output(command, folder / "home", folder)
    return folder / "notebook.ipynb"


def outputs(notebook: Path) -> list[list[dict[str, Any]]]:
    """The outputs of each cell with code."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.long
@pytest.mark.torch
def test_cells_of_a_notebook_draw_runs_and_print_recompiles(notebook: Path) -> None:
    imports, shown, recorded, drawn = outputs(notebook)
    assert imports == []
    for cell, title, words in (
        (shown, "Sequential", "1 graph, 0 graph breaks"),
        (drawn, "batches", "1 recompile"),
    ):
        # Torch's CUDA build may warn that there is no CUDA.
        (output,) = (each for each in cell if "No CUDA runtime is found" not in "".join(each.get("text", "")))
        page = "".join(output["data"]["text/html"])
        assert page.startswith("<iframe srcdoc=")
        assert f'sandbox="allow-scripts allow-popups" title="{title}"' in page
        assert words in page
        assert words in "".join(output["data"]["text/plain"])
    (printed,) = recorded
    assert (printed["name"], len(printed["text"])) == ("stdout", 1)
    assert "size mismatch at index 0. expected 8, actual 16" in printed["text"][0]


@pytest.mark.torch
@pytest.mark.browser
def test_an_exported_notebook_draws_its_graphs_without_a_network(notebook: Path, chromium: Browser) -> None:
    context = chromium.new_context(offline=True)
    page = context.new_page()
    raised: list[str] = []
    page.on("pageerror", lambda error: raised.append(str(error)))
    page.goto(notebook.with_suffix(".html").as_uri())
    for title in ("Sequential", "batches"):
        # Chromium draws no frame that is out of sight.
        frame = page.locator(f'iframe[title="{title}"]')
        frame.scroll_into_view_if_needed()
        graph = frame.content_frame.locator(".graph").first
        graph.scroll_into_view_if_needed()
        expect(graph.get_by_role("application")).to_be_visible(timeout=10_000)
    context.close()
    # The exported page itself asks for MathJax and RequireJS.
    assert [text for text in raised if "MathJax" not in text and "require" not in text.lower()] == []
