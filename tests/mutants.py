"""Mutants: how many small changes of the code the fast tests find.

    pip install coverage pytest-cov
    python -m tests.mutants cover FILE
    python -m tests.mutants core FILE [--seed 7] [--times 100] [--only NUMBER…]

`cover` runs the tests of house, core and pages once and writes to FILE which test reaches which line. The second
command changes one place at a time in a copy of the repository, and runs the tests that reach it, then those that
reach its file, the nearest and most specific first, until one fails. A mutant whose tests never end counts as found.

Places are drawn from the code that those tests reach; the last line tells their share. The rest, mostly the worker's,
is run by live tests alone. No place are what nobody can see: options of classes, a sleep, and a limit that is larger
by one.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import Queue
from typing import Any

from tests.support.places import ROOT

SUITES = ("tests/house", "tests/core", "tests/pages")
# Tests with any mark, long ones too.
ALL = ("-m", "")
AT_ONCE = 2
MOST_TESTS = 250
LIMIT_S = 400
LONGEST_ID = 300
SMALL = 16
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of a file: the place of a node, its new code, and the first line of its statement.

    `in_body` is true in a function's body, and false for what is computed when the module is imported.
    """

    file: str
    in_body: bool
    first: int
    line: int
    column: int
    end_line: int
    end_column: int
    new: str

    def applied(self, text: str) -> str:
        """Return the file with the change."""
        lines = text.splitlines(keepends=True)
        first, last = lines[self.line - 1].encode(), lines[self.end_line - 1].encode()
        middle = first[: self.column] + self.new.encode() + last[self.end_column :]
        return "".join([*lines[: self.line - 1], middle.decode(), *lines[self.end_line :]])

    def __str__(self) -> str:
        return f"{self.file}:{self.line} → {' '.join(self.new.split())[:100]}"


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Yield all changes of a file, in the order of its nodes."""
    tree = ast.parse(text)
    skipped = {id(child) for part in _unseen(tree) for child in ast.walk(part)}
    first = {id(tree): 1}
    owner: dict[int, ast.FunctionDef | ast.AsyncFunctionDef | None] = {}
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            first[id(child)] = child.lineno if isinstance(child, ast.stmt) else first[id(node)]
            owner[id(child)] = node if isinstance(node, FUNCTIONS) and child in node.body else owner.get(id(node))
        function = owner.get(id(node))
        for new in _changes(node, function) if id(node) not in skipped else ():
            at: Any = node
            end = at.end_lineno, at.end_col_offset
            yield Mutant(file, function is not None, first[id(node)], at.lineno, at.col_offset, *end, new)


def _unseen(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the parts whose change nobody sees: annotations, options of classes, sleeps, and limits."""
    for node in ast.walk(tree):
        parts = [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.ClassDef):
            parts += [*node.decorator_list, *node.keywords]
        if isinstance(node, ast.Expr) and ast.unparse(node.value).startswith("time.sleep("):
            parts.append(node)
        yield from (part for part in parts if isinstance(part, ast.AST))
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            yield from (node for node in ast.walk(statement.value) if _is_large(node))


def _is_large(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > SMALL


def _changes(node: ast.AST, function: ast.FunctionDef | ast.AsyncFunctionDef | None) -> Iterator[str]:
    """Yield the code that takes a node's place in a function; None is the module."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in OPPOSITES:
            yield _code(node, ops=[OPPOSITES[type(operator)]()])
        case ast.BoolOp(op=operator):
            yield _code(node, op=OPPOSITES[type(operator)]())
        case ast.BinOp(left=left, op=operator):
            if type(operator) in OPPOSITES and not isinstance(left, ast.Constant | ast.JoinedStr):
                yield _code(node, op=OPPOSITES[type(operator)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield _code(operand)
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() as value):
            yield str(value + 1)
        case ast.IfExp(test=test):
            yield _code(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Return(value=ast.Constant(value=None | bool())):
            return
        case ast.Return(value=ast.expr() as value):
            truth = function is not None and function.returns is not None and ast.unparse(function.returns) == "bool"
            yield f"return not ({ast.unparse(value)})" if truth else "return None"
        case ast.Expr(value=ast.Call()):
            yield "pass"


def _code(node: ast.AST, **fields: object) -> str:
    """Return the code of a node with other fields."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return f"({ast.unparse(ast.fix_missing_locations(changed))})"


def reached(data: Path) -> dict[str, dict[int, set[str]]]:
    """Return file → line → the tests that reach it, by the coverage data; the import of a module is no test."""
    from coverage import CoverageData

    coverage = CoverageData(str(data))
    coverage.read()
    lines: dict[str, dict[int, set[str]]] = {}
    for path in coverage.measured_files():
        contexts = coverage.contexts_by_lineno(path)
        name = Path(path).relative_to(ROOT).as_posix()
        lines[name] = {line: {_test(text) for text in texts if text} for line, texts in contexts.items()}
    return lines


def _test(context: str) -> str:
    """Return the id of a test, without its parameters if they are long or bytes."""
    test = re.sub(r"@[^@]*$", "", context.rpartition("|")[0])
    return test if len(test) < LONGEST_ID and "\\" not in test else test.partition("[")[0]


def verdict(mutant: Mutant, tests: list[str], where: Path) -> str:
    """Return `found`, `hangs` or `survives`, by the tests in a copy of the repository.

    A mutant that cannot be imported makes pytest end with a usage error, and is found.
    """
    path = where / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(text), encoding="utf-8")
    try:
        options = (*ALL, "-x", "-q", "-p", "no:cacheprovider", "--no-header", "-W", "ignore")
        command = [sys.executable, "-m", "pytest", *options, *tests]
        ended = subprocess.run(command, cwd=where, capture_output=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        path.write_text(text, encoding="utf-8")
    return "found" if ended.returncode else "survives"


def copied(folder: Path) -> Path:
    """Return a copy of what is under version control."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, names.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder


def judge(top: str, data: Path, seed: int, times: int, only: list[int]) -> None:
    """Draw mutants of a top directory, run their tests, and print the verdicts."""
    files = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / top).rglob("*.py"))]
    every = [mutant for file in files for mutant in mutants(file, (ROOT / file).read_text(encoding="utf-8"))]
    lines = reached(data)
    breadth = Counter(test for of_file in lines.values() for tests in of_file.values() for test in tests)

    @cache
    def of_file(file: str) -> set[str]:
        return set().union(*lines.get(file, {}).values())

    def at_line(mutant: Mutant) -> set[str]:
        at = lines.get(mutant.file, {})
        return set().union(*(at.get(line, set()) for line in range(mutant.first, mutant.end_line + 1)))

    def tests_of(mutant: Mutant) -> list[str]:
        tests = at_line(mutant)
        # What a module computes when it is imported belongs to no test: the file's other tests may still see it.
        rest = of_file(mutant.file) - tests

        def order(test: str) -> tuple[int, int, str]:
            return -len(os.path.commonpath([test, f"tests/{mutant.file}"])), breadth[test], test

        return [test for group in (tests, rest) for test in sorted(group, key=order)][:MOST_TESTS]

    places = [mutant for mutant in every if at_line(mutant) or (not mutant.in_body and of_file(mutant.file))]
    drawn = list(enumerate(random.Random(seed).sample(places, times)))

    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(AT_ONCE) as pool:
        copies: Queue[Path] = Queue()
        for number in range(AT_ONCE):
            copies.put(copied(Path(temporary) / str(number)))

        def judged(mutant: Mutant) -> str:
            where = copies.get()
            try:
                return verdict(mutant, tests_of(mutant), where)
            finally:
                copies.put(where)

        chosen = [(number, mutant) for number, mutant in drawn if not only or number in only]
        verdicts = pool.map(judged, [mutant for _, mutant in chosen])
        counts: Counter[str] = Counter()
        for (number, mutant), said in zip(chosen, verdicts, strict=True):
            counts[said] += 1
            print(f"{number:3} {said:11} {mutant}", flush=True)
    print(", ".join(f"{said} {count}" for said, count in counts.most_common()))
    print(f"the tests reach {len(places):,} of {len(every):,} places")


def cover(data: Path) -> None:
    """Run the fast tests, and write which test reaches which line."""
    options = [
        *ALL,
        "-q",
        "-n",
        str(AT_ONCE),
        "--dist",
        "loadgroup",
        "-p",
        "no:cacheprovider",
        "--no-loadscope-reorder",
    ]
    sources = ["--cov=core", "--cov=pages", "--cov-context=test", "--cov-report="]
    command = [sys.executable, "-m", "pytest", *options, *sources, *SUITES]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(data.absolute())}, check=True)


def main() -> None:
    """Read the command, and run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("what", choices=["cover", "core", "pages"])
    parser.add_argument("data", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--only", type=int, nargs="*", default=[])
    chosen = parser.parse_args()
    if chosen.what == "cover":
        cover(chosen.data)
    else:
        judge(chosen.what, chosen.data, chosen.seed, chosen.times, chosen.only)


if __name__ == "__main__":
    main()
