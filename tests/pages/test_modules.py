"""Modules of JavaScript become one script, in the order of their imports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages.components.modules import DECLARED, joined
from tests.support.places import ROOT

SCRIPTS = sorted(path for top in ("pages", "benchmarks", "tests") for path in (ROOT / top).rglob("*.js"))
PAGES = [path for path in SCRIPTS if path.is_relative_to(ROOT / "pages")]
MOST_LINES = 300
IMPORTED = re.compile(r"\bimport \{([^}]*)\}")


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def written(folder: Path, **texts: str) -> Path:
    """Write modules by their names; gives the entry, which is called so."""
    for name, script in texts.items():
        (folder / f"{name}.js").write_text(script, encoding="utf-8")
    return folder / "entry.js"


def test_each_file_comes_once_and_after_what_it_imports(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        entry='// A\nimport { one, two } from "./one.js";\nimport { base } from "./base.js";\n\nexport default two;\n',
        one='import { base } from "./base.js";\n\nexport const one = base + 1;\nexport async function two() {}\n',
        base="export class base {}\n",
    )
    assert joined(entry) == (
        "class base {}\n\nconst one = base + 1;\nasync function two() {}\n\n// A\nexport default two;\n"
    )


def test_a_file_may_lie_in_another_folder_and_names_on_several_lines(tmp_path: Path) -> None:
    (tmp_path / "view").mkdir()
    written(tmp_path, shared="export const a = 1;\nexport const b = 2;\n")
    entry = written(tmp_path / "view", entry='import {\n  a,\n  b,\n} from "../shared.js";\n\na + b;\n')
    assert joined(entry) == "const a = 1;\nconst b = 2;\n\na + b;\n"


def test_several_entries_share_what_they_import(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        entry='import { a } from "./a.js";\n\nconst x = a;\n',
        other='import { a } from "./a.js";\n\nconst y = a;\n',
        a="export const a = 1;\n",
    )
    script = joined(entry, tmp_path / "other.js")
    assert sorted(script.split("\n")) == ["", "", "", "const a = 1;", "const x = a;", "const y = a;"]
    assert script.startswith("const a")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {"entry": 'import { a } from "./a.js";\n', "a": 'import { b } from "./entry.js";\nexport const a = 1;\n'},
            "exports no b",
        ),
        (
            {
                "entry": 'import { a } from "./a.js";\nexport const b = 1;\n',
                "a": 'import { b } from "./entry.js";\nexport const a = 1;\n',
            },
            "circle: .*a.js",
        ),
        ({"entry": 'import { a } from "./a.js";\n'}, "there is no .*a.js"),
        (
            {"entry": 'import { a, b } from "./a.js";\n', "a": "export const a = 1;\nconst b = 2;\n"},
            "a.js exports no b",
        ),
        ({"entry": 'import { a as b } from "./a.js";\n', "a": "export const a = 1;\n"}, "exports no a as b"),
        (
            {"entry": 'import { a } from "./a.js";\n\nfunction b() {}\n', "a": "export const a = 1;\nlet b;\n"},
            "b is .*twice",
        ),
        ({"entry": "const a = 1;\nfunction a() {}\n"}, "a is declared twice"),
        ({"entry": 'import * as a from "./a.js";\n', "a": ""}, "not known: import"),
        ({"entry": 'import "https://elsewhere/a.js";\n'}, "not known: import"),
        ({"entry": "const a = 1;\nexport { a };\n"}, "not known: export"),
    ],
)
def test_what_would_fail_as_modules_fails_here(tmp_path: Path, files: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        joined(written(tmp_path, **files))


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
    exported = {name for path in PAGES for export, name in DECLARED.findall(text(path)) if export}
    assert exported - imported == set()
