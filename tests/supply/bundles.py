"""python -m tests.supply.bundles: bundle CodeMirror, and the script of an HTML file of a run.

CodeMirror comes from the versions that its deno.json and deno.lock pin. Only this needs the npm registry: the bundles
and the licences of the packages are files of the repository. To update CodeMirror, change the versions in deno.json
first. The script of an HTML file is bundled from pages/components, whose style sheet for graphs it needs, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.places import ROOT

FOLDER = ROOT / "pages" / "components" / "code" / "codemirror"
ENTRY, CONFIG, LOCK, TYPES = "entry.ts", "deno.json", "deno.lock", "codemirror.d.ts"
BUNDLE, LICENCES = "codemirror.min.js", "LICENCES.txt"
COMPONENTS = ROOT / "pages" / "components"
GRAPH_STYLE = COMPONENTS / "graph" / "view.css"
HTML = ROOT / "core" / "views" / "html"
PAGE, PAGE_BUNDLE, STYLE = COMPONENTS / "standalone" / "page.js", HTML / "page.min.js", HTML / "graph.css"
OPTIONS = ("--check", "--node-modules-dir=auto", "--minify", "--platform", "browser", "--output", BUNDLE)


def main() -> None:
    """Bundle in a copy of the folder, so that the packages leave nothing behind, and copy the results back."""
    deno = Path(sys.executable).with_name("deno")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in (ENTRY, CONFIG, LOCK, TYPES):
            shutil.copy(FOLDER / file, folder)
        environment = {**os.environ, "DENO_NO_UPDATE_CHECK": "1"}
        subprocess.run([deno, "bundle", *OPTIONS, ENTRY], cwd=folder, env=environment, check=True)
        shutil.copy(folder / LOCK, FOLDER)
        bundle = (folder / BUNDLE).read_text(encoding="utf-8")
        licences = "\n".join(licence(folder, package) for package in packages())
    (FOLDER / BUNDLE).write_text(head() + bundle, encoding="utf-8")
    (FOLDER / LICENCES).write_text(licences, encoding="utf-8")

    bundle_page(deno, environment)


def bundle_page(deno: Path, environment: dict[str, str]) -> None:
    """Bundle the script of an HTML file, and copy the graphs' style sheet beside it."""
    options = ("--minify", "--platform", "browser", "--format", "iife", "--output", PAGE_BUNDLE)
    subprocess.run([deno, "bundle", *options, PAGE], cwd=ROOT, env=environment, check=True)
    PAGE_BUNDLE.write_text(page_head() + PAGE_BUNDLE.read_text(encoding="utf-8"), encoding="utf-8")
    shutil.copy(GRAPH_STYLE, STYLE)


def page_head() -> str:
    """The first line of the script of an HTML file: the digest of what it was made of."""
    sources = sorted(path for name in ("graph", "js", "standalone") for path in (COMPONENTS / name).rglob("*.js"))
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()
    return f"// Written by `make bundles` from pages/components (sha256 {digest})\n"


def packages() -> list[str]:
    """The locked packages, as in `style-mod@4.1.5`."""
    return sorted(json.loads((FOLDER / LOCK).read_text(encoding="utf-8"))["npm"])


def pinned() -> list[str]:
    """The packages that deno.json asks for, with their versions."""
    imports = json.loads((FOLDER / CONFIG).read_text(encoding="utf-8"))["imports"]
    return [asked.removeprefix("npm:") for asked in imports.values()]


def head() -> str:
    """The bundle's first lines: its types, what it was made of, and the versions of all packages."""
    digest = hashlib.sha256((FOLDER / ENTRY).read_bytes()).hexdigest()
    lines = (
        "@ts-nocheck",
        f'@ts-self-types="./{TYPES}"',
        f"Written by `make bundles` from {ENTRY} (sha256 {digest}); licences in {LICENCES}",
        *packages(),
    )
    return "".join(f"// {line}\n" for line in lines)


def licence(folder: Path, package: str) -> str:
    """A package's licence below its name and version."""
    place = folder / "node_modules" / ".deno" / package.replace("/", "+") / "node_modules" / package.rpartition("@")[0]
    return f"{package}\n\n{(place / 'LICENSE').read_text(encoding='utf-8')}"


if __name__ == "__main__":
    main()
