"""A long text is parsed in pieces, so that no parse holds the interpreter for long, into the tree that it has."""

import ast
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from core.base.syntax import MARKS, MAX_CHARS, MAX_STATEMENT_MARKS, NOT_READ, expression, module

GRAPH = '        relu_{}: "f32[8, 64][64, 1]cpu" = torch.ops.aten.relu.default(x);  x = None  # File: m.py:1 in f\n'
HELD = f"class G(Module):\n    def forward(self, x):\n{''.join(map(GRAPH.format, range(1_200)))}        return (x,)\n"
BRANCH = "if a:\n    b = 1\nelif c:\n    b = 2\nelse:\n    b = [\n1,\n]\n@d\ndef e():\n    '''\nf = 1\n    '''\n"
TEXTS = {
    "a graph": HELD,
    "graphs in a graph": f"class O(Module):\n    a = 1\n    {HELD.replace(chr(10), chr(10) + '    ')}",
    "branches, decorators, strings": BRANCH * 1_500,
    "the same in a function": f"def g():\n    {(BRANCH * 1_500).replace(chr(10), chr(10) + '    ')}\n",
    "a string longer than a piece": f"def g():\n  '''{'x' * 100 + chr(10)}{'y = 1' * 30_000}'''\nz = 1\n"
    + "a\n" * 20_000,
    "lines that end otherwise": "def f(a):\r\n  a = 1\r\n" * 7_000 + "b = 1\r",
}
_compiled: list[list[str]] = []


@pytest.fixture(scope="module", autouse=True)
def _heard() -> None:
    """Python tells of each text that it parses; a hook stays, and says nothing to nobody."""

    def heard(event: str, what: tuple[Any, ...]) -> None:
        if event == "compile":
            for texts in _compiled:
                texts.append(str(what[0]))

    sys.addaudithook(heard)


@pytest.fixture
def parsed() -> Iterator[list[str]]:
    """The texts that Python's parser gets during a test."""
    _compiled.append([])
    yield _compiled[0]
    _compiled.clear()


def marks(text: str) -> int:
    return sum(map(text.lstrip("\n").count, MARKS))


@pytest.mark.promise("messages")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_long_text_has_the_same_tree(text: str, parsed: list[str]) -> None:
    """Parsing in pieces of whole statements gives the same syntax tree."""
    tree = ast.dump(module(text), include_attributes=True)
    pieces = list(parsed)
    assert tree == ast.dump(ast.parse(text), include_attributes=True)
    assert len(pieces) > 1


HOSTILE = {
    "dense": "1;" * (MAX_CHARS // 2),
    "one statement": "a = [" + "1," * 1_000_000 + "]",
    "a string that never ends": "'''" + "x = 1;\n" * 200_000,
    "a bracket that never ends": "a = (\n" + "b\n" * 500_000,
    "short statements": "x = 1\n" * 100_000,
    "classes in classes": "".join(f"{' ' * depth}class A:\n" for depth in range(90)) + (" " * 90 + "x=1\n") * 20_000,
    "wrong at the end": "x = 1\n" * 40_000 + "(",
}


@pytest.mark.promise("messages")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_holds_the_interpreter(text: str, parsed: list[str]) -> None:
    """A long Python text is parsed in bounded pieces, so that no session waits for the parser.

    What is parsed in one go is bounded, and all of it together is in proportion to the text.
    """
    with contextlib.suppress(*NOT_READ):
        module(text)
    given = [marks(piece) for piece in parsed]
    assert max(given, default=0) <= MAX_STATEMENT_MARKS + 10
    assert sum(given) <= 8 * marks(text)


def test_an_expression_is_read_only_if_it_is_short() -> None:
    with pytest.raises(ValueError, match="brackets, operators and other marks"):
        expression("1," * (MAX_STATEMENT_MARKS + 1))


@pytest.mark.parametrize("line", ["    a = 1\n", "def f():\n    a = 1\n  b = 2\n", "if a:\n", "else:\n"])
def test_what_is_no_python_is_refused_however_long(line: str) -> None:
    with pytest.raises(SyntaxError):
        module(line + "c = 1\n" * 20_000)
