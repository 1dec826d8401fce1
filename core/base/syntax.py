"""Python's parser, used from several threads.

The parser holds the GIL until it has parsed its text, so a long text is parsed in pieces of whole statements, and other
threads run in between. Up to Python 3.12, the interpreter counts tree depth for all threads together, and an
interrupted parse raises SystemError: so only one thread parses at a time.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Lock

# Errors of Python's parser for text that is not Python, or too deep or too large.
NOT_READ = (SyntaxError, ValueError, RecursionError, MemoryError)
MAX_CHARS = 8_000_000  #: a text that is read as Python
# Nodes of a tree are separated by marks, so the number of marks limits the time and memory of a parse: up to 8 µs and
# 500 bytes each. In graphs printed by torch, one character in five is a mark.
MARKS = "()[]{},;:=.+-*/<>%&|^~@'\"\n"
MAX_MARKS = 2_000_000  #: brackets, operators and other marks of a Python text
# Marks parsed at once, in about a second at most: a single statement can't be divided.
MAX_STATEMENT_MARKS = 200_000  #: marks of one statement or expression
PIECE_CHARS = 100_000
# Nested classes up to this depth are parsed in pieces, as nested graphs are.
MOST_DEPTH = 6  #: nested classes and functions whose statements are parsed separately
HEADER = re.compile(r"\s*(?:class|def)\b.*:\s*")
COMMENT = re.compile(r"\s*(?:#.*)?")
ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_lock = Lock()


class TooDenseError(ValueError):
    """Error for a text with too many characters, or too many marks such as brackets and operators."""


def module(text: str, name: str = "<unknown>") -> ast.Module:
    """Return the syntax tree of a file; raises TooDenseError, and the errors of `ast.parse`."""
    _check(text, MAX_MARKS)
    if len(text) <= PIECE_CHARS:
        _check(text, MAX_STATEMENT_MARKS)
        return _parse(text, name)
    return ast.Module(_Pieces(text, name).statements(), [])


def expression(text: str) -> ast.expr:
    """Return the syntax tree of one expression; raises TooDenseError, and the errors of `ast.parse`."""
    _check(text, MAX_STATEMENT_MARKS)
    with _lock:
        return ast.parse(text, mode="eval").body


def integer(node: ast.expr, values: Mapping[str, int]) -> int:
    """Return the value of an expression; `values` has integers by source, such as `L['x'].size()[0]`.

    Raises LookupError for unknown names and unsupported syntax.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return int(node.value)
    named = values.get(ast.unparse(node))
    if named is not None:
        return named
    if isinstance(node, ast.BinOp):
        return ARITHMETIC[type(node.op)](integer(node.left, values), integer(node.right, values))
    if isinstance(node, ast.Compare):
        sides = [integer(side, values) for side in (node.left, *node.comparators)]
        return all(COMPARISONS[type(op)](*pair) for op, *pair in zip(node.ops, sides, sides[1:], strict=False))
    if isinstance(node, ast.BoolOp):
        parts = [integer(part, values) for part in node.values]
        return any(parts) if isinstance(node.op, ast.Or) else all(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        inner = integer(node.operand, values)
        return not inner if isinstance(node.op, ast.Not) else -inner
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min"):
        return {"max": max, "min": min}[node.func.id](integer(argument, values) for argument in node.args)
    raise LookupError(ast.dump(node)[:80])


def _check(text: str, most_marks: int) -> None:
    if len(text) > MAX_CHARS:
        raise TooDenseError(f"it has more than {MAX_CHARS} characters")
    if len(text) > most_marks and sum(map(text.count, MARKS)) > most_marks:
        raise TooDenseError(f"it has more than {most_marks} brackets, operators and other marks")


def _parse(text: str, name: str) -> ast.Module:
    with _lock:
        return ast.parse(text, name)


class _Pieces:
    """A long text that is parsed in pieces of several lines."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def statements(self) -> list[ast.stmt]:
        """Return all statements of the text."""
        return self._block(range(len(self._lines)), 0)

    def _block(self, block: range, depth: int) -> list[ast.stmt]:
        """Return the statements of a block of lines, all with the same indentation.

        A line that looks like the start of a statement may be inside a string or brackets. A piece that ends before
        such a line cannot be parsed; the next attempt parses a piece of at least twice the size.
        """
        statements: list[ast.stmt] = []
        begin, least = block.start, 0
        for stop in self._stops(block):
            size = self._size(range(begin, stop))
            if size < least and stop != block.stop:
                continue
            try:
                statements += self._piece(range(begin, stop), depth)
            except SyntaxError:
                if stop == block.stop:
                    raise
                least = 2 * size
                continue
            begin, least = stop, 0
        return statements

    def _stops(self, block: range) -> list[int]:
        """Return the index of the line after each piece.

        A piece has several statements of at most `PIECE_CHARS` characters in total, or a single longer statement.
        """
        starts = self._starts(block)
        stops, size = [], 0
        for start, after in zip(starts, [*starts[1:], block.stop], strict=False):
            marks = self._size(range(start, after))
            if size and size + marks > PIECE_CHARS:
                stops.append(start)
                size = 0
            size += marks
        return [*stops, block.stop]

    def _starts(self, block: range) -> list[int]:
        """Return the lines that look like the start of a statement."""
        first = self._lines[self._first(block)]
        indent = re.escape(first[: len(first) - len(first.lstrip())])
        looks = re.compile(rf"{indent}(?=[^\s#)\]}}])(?!(?:else|elif|except|finally)\b)")
        return [number for number in block if looks.match(self._lines[number])]

    def _piece(self, piece: range, depth: int) -> list[ast.stmt]:
        """Return the statements of a piece; a long class or function is parsed as header and pieces."""
        if self._size(piece) > PIECE_CHARS and depth < MOST_DEPTH:
            with suppress(SyntaxError):
                return self._divide(self._first(piece), piece.stop, depth)
        return self._parse_at("\n".join(self._lines[piece.start : piece.stop]), piece.start, depth)

    def _divide(self, first: int, stop: int, depth: int) -> list[ast.stmt]:
        if not HEADER.fullmatch(self._lines[first]):
            raise SyntaxError("it is no header of a class or a function")
        (header,) = self._parse_at(self._lines[first] + "pass", first, depth)
        assert isinstance(header, (ast.ClassDef, ast.FunctionDef))
        header.body = self._block(range(first + 1, stop), depth + 1)
        header.end_lineno, header.end_col_offset = header.body[-1].end_lineno, header.body[-1].end_col_offset
        return [header]

    def _parse_at(self, text: str, line: int, depth: int) -> list[ast.stmt]:
        """Return the statements of a text after the first `line` lines; indented unless `depth` is 0."""
        _check(text, MAX_STATEMENT_MARKS)
        if not depth:
            return _parse("\n" * line + text, self._name).body
        block = _parse("\n" * (line - 1) + "if 1:\n" + text, self._name).body
        if len(block) != 1 or not isinstance(block[0], ast.If):
            raise SyntaxError("it goes beyond its block")
        return block[0].body

    def _first(self, block: range) -> int:
        """Return the index of a block's first line of code; the block's start if it has no code."""
        code = (number for number in block if not COMMENT.fullmatch(self._lines[number]))
        return next(code, block.start)

    def _size(self, block: range) -> int:
        return sum(map(len, self._lines[block.start : block.stop]))
