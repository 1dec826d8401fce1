"""What the documents say is there is there, and what is there they say."""

import ast
import re
from argparse import ArgumentParser
from pathlib import Path

import pytest

import core
from core.commands import output
from core.commands.main import make_parser
from core.report.records import RECORDS
from core.report.records import SCHEMA as RECORDS_SCHEMA
from core.sweep.presets import PRESETS
from docs.make import architecture, limits, options, promises, skill, trace_records, wire_types
from docs.make.below import below
from docs.make.report_schema import PAGE, tables
from docs.make.targets import TABLE, table
from tests.house.test_length import LONG_LINES, MOST_FILES, MOST_LINES, MOST_LONG
from tests.support.documents import blocks, words
from tests.support.imports import nodes_of
from tests.support.places import ROOT

TOP = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")]
DOCUMENTS = [*TOP, *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [path.relative_to(ROOT).as_posix() for path in DOCUMENTS]
OURS = ("core/", "pages/", "tests/", "docs/", "benchmarks/", ".ci/", ".streamlit/")
FILE = re.compile(r"`((?:[\w.]+/)+[\w.]*|[\w]+\.(?:py|md|toml|txt)|Makefile|Dockerfile)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
# Files of the user's, of a run, or that a document proposes.
EXAMPLES = {
    "ir_pre_fusion.txt",
    "ir_post_fusion.txt",
    "model.py",
    "compileboard.toml",
    "FILE.py",
    "script.py",
    "job.json",
    "status.json",
    "report.json",
}
MOST_LETTERS = 120
MOST_WORDS = 50_000
# `make docs` writes what is beneath it.
MADE = "<!-- Below this line"
# Variables that our processes set for one another.
INTERNAL = {"COMPILEBOARD_GROUP", "COMPILEBOARD_CACHE", "COMPILEBOARD_FORK_SERVER", "COMPILEBOARD_FORK_SERVER_PARENT"}
MODULES = {path.name for top in ("core", "pages", "tests") for path in (ROOT / top).rglob("*.py")}


@pytest.mark.parametrize("name", NAMES)
def test_every_path_that_a_document_names_exists(name: str) -> None:
    named = {path for path in FILE.findall(words(name)) if path not in EXAMPLES and "<" not in path}
    missing = {path for path in named if not (ROOT / path).exists() and path not in MODULES}
    assert {path for path in missing if path.startswith(OURS) or "/" not in path} == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_link_to_a_file_leads_somewhere(name: str) -> None:
    targets = re.findall(LINK, words(name))
    assert [target for target in targets if not ((ROOT / name).parent / target).exists()] == []


def test_every_screenshot_is_shown_and_taken_by_a_script() -> None:
    pictures = {path.name for path in (ROOT / "docs" / "screenshots").iterdir()}
    shown = {Path(target).name for name in NAMES for target in LINK.findall(words(name)) if "screenshots/" in target}
    assert pictures == shown
    scripts = "".join(words(f"docs/make/{name}.py") for name in ("screenshots", "real_models", "moving_picture"))
    assert {name for name in pictures if name.endswith(".png") and f'"{Path(name).stem}' not in scripts} == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_make_target_that_a_document_names_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", words("Makefile"), re.MULTILINE))
    inline = re.findall(r"`(?:\w+=\S+ )*make ([a-z-]+)`", words(name))
    fenced = re.findall(r"^make ([a-z-]+)", words(name), re.MULTILINE)
    assert {*inline, *fenced} - targets == set()


def bound(module: str) -> set[str]:
    """The names that a module of ours binds, and a package's modules; empty without such a module."""
    path = ROOT / module.replace(".", "/")
    modules = {child.stem for child in path.glob("*.py")} | {child.name for child in path.glob("*/")}
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not file.exists():
        return modules
    nodes = nodes_of(file.relative_to(ROOT).as_posix())
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    imported = {name.asname or name.name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names}
    return modules | defined | assigned | imported


@pytest.mark.parametrize("name", NAMES)
def test_every_python_example_compiles_and_imports_what_there_is(name: str) -> None:
    nodes = [node for block in blocks(name, "python") for node in ast.walk(ast.parse(block))]
    added = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "core":
            assert {alias.name for alias in node.names} <= set(core.__all__)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("core", "pages", "tests"):
            assert {alias.name for alias in node.names} <= bound(node.module or "") | added


@pytest.mark.parametrize("name", NAMES)
def test_every_name_that_a_document_finds_in_a_file_is_there(name: str) -> None:
    named = re.findall(r"`(\w+)(?:\([^`]*\))?` (?:of|in) `((?:core|pages|tests)/[\w/]+\.py)`", words(name))
    assert [(word, file) for word, file in named if not re.search(rf"\b{word}\b", words(file))] == []


def test_the_api_example_of_the_package_is_in_the_readme() -> None:
    example = [line.strip() for line in (core.__doc__ or "").splitlines() if line.startswith("    ")]
    readme = words("README.md")
    assert [line for line in example if line and not line.startswith("print") and line not in readme] == []


def emitted() -> set[str]:
    """The records that the worker makes, by the names of their types."""
    return {
        getattr(node.func, "id", "")
        for room in ("worker", "accelerator")
        for path in (ROOT / "core" / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    }


def test_every_record_is_one_that_the_worker_makes() -> None:
    assert {kind.__name__ for kind in RECORDS.values()} - emitted() == set()


def test_the_tables_of_the_trace_records_are_those_of_their_types() -> None:
    page = trace_records.PAGE.read_text(encoding="utf-8")
    assert below(trace_records.PAGE).strip() == trace_records.tables().strip(), "run `make docs`"
    assert f"number, at present {RECORDS_SCHEMA};" in page


def test_the_table_of_options_is_that_of_the_code() -> None:
    assert below(options.PAGE).strip() == options.tables().strip(), "run `make docs`"


def test_the_readme_is_no_longer_than_a_visit() -> None:
    assert len(words("README.md").splitlines()) <= 120


def test_every_document_is_linked_from_the_readme_or_a_page_it_links() -> None:
    linked = {(ROOT / name).parent / target for name in NAMES for target in re.findall(LINK, words(name))}
    missing = {path.resolve() for path in DOCUMENTS} - {path.resolve() for path in linked}
    assert {path.relative_to(ROOT).as_posix() for path in missing} - {"README.md", "docs/index.md"} == set()


def test_every_document_is_a_page_of_the_site() -> None:
    pages = re.findall(r": ([\w-]+\.md)$", words("mkdocs.yml"), re.MULTILINE)
    assert sorted(pages) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def test_every_variable_that_the_code_reads_is_documented() -> None:
    files = [ROOT / "dashboard.py", *(path for top in ("core", "pages") for path in (ROOT / top).rglob("*.py"))]
    read = {name for path in files for name in re.findall(r"COMPILEBOARD_[A-Z_]+[A-Z]", path.read_text("utf-8"))}
    assert {name for name in read - INTERNAL if f"`{name}" not in words("docs/deploying.md")} == set()


def commands_of_the_command_line() -> dict[str, ArgumentParser]:
    return make_parser().commands


def test_every_argument_of_the_command_line_says_what_it_does() -> None:
    silent = {
        f"{name} {action.dest}"
        for name, command in commands_of_the_command_line().items()
        for action in command._actions
        if not action.help
    }
    assert silent == set()


def test_every_option_of_the_command_line_is_documented() -> None:
    commands = commands_of_the_command_line()
    flags = {option for command in commands.values() for action in command._actions for option in action.option_strings}
    page = words("docs/cli.md")
    named = set(re.findall(r"--?[a-z][a-z-]*", page + words("docs/options.md")))
    assert flags - {"-h", "--help"} - named == set()
    assert {name for name in commands if f"python -m core {name} " not in page} == set()


def test_every_preset_is_documented() -> None:
    page = words("docs/sweeps.md")
    assert {name for name in PRESETS if f"`{name}`" not in page} == set()


def test_every_exit_code_of_the_command_line_is_documented() -> None:
    numbers = {name: value for name, value in vars(output).items() if type(value) is int}
    codes = {value for name, value in numbers.items() if not name.startswith(("MAX_", "MOST_"))}
    rows = re.findall(r"^\| ([\d, ]+) \|", words("docs/cli.md"), re.MULTILINE)
    assert {int(code) for row in rows for code in row.split(",")} >= codes


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    told = words("docs/python-api.md")
    assert [name for name in core.__all__ if not re.search(rf"`{name}[`(]", told)] == []
    written = {name: getattr(core, name).__doc__ or "" for name in core.__all__ if callable(getattr(core, name))}
    assert [name for name, doc in written.items() if not doc or doc.startswith(f"{name}(")] == []


def test_the_tables_of_the_report_schema_are_those_of_its_types() -> None:
    assert below(PAGE).strip() == tables().strip(), "run `make docs`"


def test_the_browsers_types_are_those_of_its_messages() -> None:
    assert wire_types.FILE.read_text(encoding="utf-8") == wire_types.types(), "run `make docs`"


def test_the_table_of_targets_is_that_of_the_code() -> None:
    assert table() in words("docs/targets.md"), "run `make docs`"


def test_the_promises_are_those_of_the_tests() -> None:
    kept = promises.promises()
    assert [each.test for each in kept if not each.text.endswith(".") or len(each.text) > MOST_LETTERS] == []
    assert {each.section for each in kept} == set(promises.SECTIONS)
    assert below(promises.PAGE).strip() == promises.tables().strip(), "run `make docs`"


def test_what_is_written_by_hand_can_be_read_in_a_day() -> None:
    texts = [
        TABLE.sub("", path.read_text(encoding="utf-8")).partition(MADE)[0] for path in DOCUMENTS if path not in TOP
    ]
    assert sum(len(text.split()) for text in texts) <= MOST_WORDS


def test_the_skill_is_that_of_the_code_and_short() -> None:
    text = skill.PAGE.read_text(encoding="utf-8")
    assert text == skill.skill(), "run `make docs`"
    assert sum(any(map(str.isalnum, word)) for word in text.split()) <= 1_200
    assert re.match(r"---\nname: compileboard\ndescription: [^\n]{1,1024}\n---\n\n# ", text)
    assert set(re.findall(r"`compileboard ([a-z]+)", text)) <= commands_of_the_command_line().keys()


def test_the_policy_of_security_is_short() -> None:
    assert len(words("SECURITY.md").splitlines()) <= 50


def test_the_tables_of_bounds_are_those_of_the_code() -> None:
    assert below(limits.PAGE).strip() == limits.tables().strip(), "run `make docs`"


def test_the_inventory_is_that_of_the_packages() -> None:
    assert below(architecture.PAGE).strip() == architecture.inventory().strip(), "run `make docs`"


def test_every_package_says_what_it_is() -> None:
    assert [name for name in architecture.packages() if not architecture.purpose(name)] == []


def test_every_bound_has_a_comment_with_its_meaning() -> None:
    """Write `#: meaning` behind the constant, or `#: limit: meaning` for docs/limits.md if a user can meet it."""
    assert [f"{bound.file}: {bound.name}" for bound in limits.bounds() if not bound.meaning] == []


def test_each_version_of_the_changelog_has_a_date_and_the_newest_is_the_projects() -> None:
    headings = re.findall(r"^## (.*)$", words("CHANGELOG.md"), re.MULTILINE)
    versions = [re.fullmatch(r"(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)", heading) for heading in headings]
    dates = [version.group(2) for version in versions if version is not None]
    assert (len(dates), dates) == (len(headings), sorted(dates, reverse=True))
    assert f'version = "{headings[0].partition(" ")[0]}"' in words("pyproject.toml")


def test_make_help_lists_every_target() -> None:
    makefile = words("Makefile")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    assert set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)) == set(phony.group(1).split())


def test_the_guide_for_contributors_has_these_numbers() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"more than {MOST_LINES} lines. At most {MOST_LONG * 100:.0f} % of the files" in guide
    assert f"have more than {LONG_LINES}, and there are at most {MOST_FILES} files" in guide
