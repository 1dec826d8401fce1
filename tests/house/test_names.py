"""One name means one thing."""

import ast
from collections import defaultdict

import pytest

from tests.support.imports import FILES, tree_of

# Classes that share a name with another, and why each may.
TWICE = {
    "Edge": "of a graph as it is looked at, and of boxes that are laid out, which know of no graph",
    "Resources": "what a kernel takes, by its assembly and by its binary",
    "Source": "the user's file in a report, and a kernel's source in the worker",
    "Wrapper": "Inductor's wrapper, as it is read and as it is timed",
}
# Files that stand alone, to be read and changed.
EXAMPLES = ("core/samples/", "core/accelerator/backends/")
# Folders whose docstrings are checked.
CHECKED_FOLDERS = (
    "core/accelerator/",
    "core/analysis/",
    "core/base/",
    "core/code/",
    "core/graph/",
    "core/ops/",
    "core/runs/recordings/",
    "core/runs/tools/",
    "core/sweep/",
    "core/worker/absent/",
    "core/worker/aoti/",
    "core/worker/backends/",
    "core/worker/conditions/",
    "core/worker/measuring/",
    "core/worker/memory/",
    "core/worker/numerics/",
    "core/worker/recorders/",
    "core/worker/results/",
)
# First words of a docstring that begins with a clause instead of a verb or a noun.
CLAUSE_OPENERS = frozenset(
    [
        "Also",
        "As",
        "At",
        "By",
        "For",
        "From",
        "How",
        "In",
        "Of",
        "Once",
        "One",
        "That",
        "Those",
        "What",
        "When",
        "Where",
        "Whether",
        "Which",
        "Who",
        "Whose",
        "Why",
        "With",
    ]
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def test_no_public_class_has_the_name_of_another() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name in FILES:
        for node in tree_of(name).body if not name.startswith(EXAMPLES) else ():
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in TWICE} == {}


@pytest.mark.parametrize("folder", CHECKED_FOLDERS)
def test_docstrings_begin_with_a_verb_or_a_noun(folder: str) -> None:
    texts = [
        (name, text)
        for name in FILES
        if name.startswith(folder)
        for node in ast.walk(tree_of(name))
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node))
    ]
    assert texts
    assert [(name, text) for name, text in texts if text.split()[0].rstrip(",;:") in CLAUSE_OPENERS] == []
