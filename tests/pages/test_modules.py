"""JavaScript modules: what a component's script imports, and laws that hold for each file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages.components.exchange import HERE, VERSION, component_script, module_routes
from tests.support.asgi import get
from tests.support.places import ROOT

TOPS = ("pages", "benchmarks", "tests")
SCRIPTS = sorted(path for top in TOPS for path in (ROOT / top).rglob("*.js") if not path.match("*.min.js"))
PAGES = [path for path in SCRIPTS if path.is_relative_to(ROOT / "pages")]
MOST_LINES = 300
IMPORTED = re.compile(r"\bimport \{([^}]*)\}")
DECLARED = re.compile(r"^export (?:async )?(?:const|let|class|function\*?) (\w+)", re.MULTILINE)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_a_components_script_imports_a_module_that_the_server_has() -> None:
    script = component_script(HERE / "graph" / "js" / "view.js")
    assert f'import(new URL("components/{VERSION}/graph/js/view.js", document.baseURI))' in script
    status, headers, body = get(module_routes(), f"/components/{VERSION}/graph/js/view.js")
    assert (status, headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert body == (HERE / "graph" / "js" / "view.js").read_bytes()
    assert "immutable" in headers["cache-control"]


def test_the_route_is_below_the_servers_own_path() -> None:
    assert get(module_routes("/a/b/"), f"/a/b/components/{VERSION}/js/shared.js")[0] == 200


@pytest.mark.parametrize("path", [f"{VERSION}/modules.py", f"{VERSION}/../../dashboard.py", "0/js/shared.js"])
def test_nothing_but_todays_modules_is_served(path: str) -> None:
    assert get(module_routes(), f"/components/{path}")[0] == 404


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_line_of_javascript_is_too_long(path: Path) -> None:
    """The formatter leaves comments and texts as they are."""
    assert [line for line in text(path).splitlines() if len(line) > 120] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_script_is_longer_than_one_can_read(path: Path) -> None:
    assert len(text(path).splitlines()) <= MOST_LINES


def test_what_a_script_exports_another_imports() -> None:
    imported = {
        name for path in SCRIPTS for names in IMPORTED.findall(text(path)) for name in re.findall(r"\w+", names)
    }
    exported = {name for path in PAGES for name in DECLARED.findall(text(path))}
    assert exported - imported == set()
