"""One name means one thing."""

import ast
from collections import defaultdict

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


def test_no_public_class_has_the_name_of_another() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name in FILES:
        for node in tree_of(name).body if not name.startswith(EXAMPLES) else ():
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in TWICE} == {}
