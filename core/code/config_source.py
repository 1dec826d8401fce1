"""Source of a torch configuration module: comment, environment variables and line of each option, and its uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.base.syntax import module

VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
# Keywords of torch's `Config(…)` that name environment variables.
ENVIRONMENT_KEYWORDS = ("env_name_default", "env_name_force")
MOST_USES = 40
# Folders of torch that are searched; in a module's own folder, `config.NAME` is its option.
FOLDERS = ("_inductor", "_dynamo", "_functorch", "_higher_order_ops", "fx", "utils", "export", "distributed", "nn")


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """Line of an option's assignment, the comment above it, and the environment variables that it reads."""

    line: int
    comment: str
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConfigUse:
    """A line of torch that reads an option; `path` is relative to the torch package."""

    path: str
    line: int
    text: str


def config_sources(text: str) -> dict[str, ConfigSource]:
    """Return the options of a configuration module by name, such as `triton.cudagraphs`.

    Raises SyntaxError, TooDenseError.
    """
    tree = module(text)
    source = _Module(text.splitlines(), {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)})
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    return dict(source.options(tree.body, "", classes))


@dataclass(frozen=True, slots=True)
class _Module:
    lines: Sequence[str]
    functions: Mapping[str, ast.FunctionDef]

    def options(
        self, body: Sequence[ast.stmt], prefix: str, classes: Mapping[str, ast.ClassDef]
    ) -> Iterator[tuple[str, ConfigSource]]:
        """Yield the assignments of a body; a class is a prefix, and has the options of its bases."""
        for statement in body:
            match statement:
                case ast.ClassDef(name=name, bases=bases):
                    for base in (
                        classes[base.id] for base in bases if isinstance(base, ast.Name) and base.id in classes
                    ):
                        yield from self.options(base.body, f"{prefix}{name}.", classes)
                    yield from self.options(statement.body, f"{prefix}{name}.", classes)
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                    yield f"{prefix}{name}", self._source(statement)
                case ast.If(body=inner, orelse=other):
                    yield from self.options([*inner, *other], prefix, classes)

    def _source(self, statement: ast.Assign | ast.AnnAssign) -> ConfigSource:
        variables = dict.fromkeys(self._variables(statement.value) if statement.value is not None else ())
        return ConfigSource(statement.lineno, self._comment(statement), tuple(variables))

    def _comment(self, statement: ast.stmt) -> str:
        """Return the comment lines directly above a statement, and the one behind it, without their marks."""
        first = statement.lineno - 1
        while first and self.lines[first - 1].strip().startswith("#"):
            first -= 1
        above = [line.strip().lstrip("#").strip() for line in self.lines[first : statement.lineno - 1]]
        behind = self.lines[(statement.end_lineno or statement.lineno) - 1]
        _, mark, beside = behind[statement.end_col_offset or 0 :].partition("#")
        return "\n".join([*above, *([beside.strip()] if mark else [])]).strip()

    def _variables(self, value: ast.AST) -> Iterator[str]:
        """Yield the environment variables that an expression reads, itself or in a function of the module."""
        for node in ast.walk(value):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                    for statement in self.functions[name].body:
                        yield from self._variables(statement)
                case (
                    ast.Call(args=[ast.Constant(value=str(text)), *_])
                    | ast.Subscript(slice=ast.Constant(value=str(text)))
                ) if VARIABLE.fullmatch(text):
                    yield text
                case ast.keyword(arg=name, value=inner) if name in ENVIRONMENT_KEYWORDS:
                    for leaf in ast.walk(inner):
                        if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str):
                            yield leaf.value


def config_uses(package: Path, owner: str, name: str) -> tuple[ConfigUse, ...]:
    """Return the lines of the torch package that read an option, at most `MOST_USES`."""
    full = re.compile(rf"\b(?:{owner}_config|_{owner}\.config)\.{re.escape(name)}\b")
    short = re.compile(rf"(?<![\w.])(?:{owner}_)?config\.{re.escape(name)}\b|{full.pattern}")
    found: list[ConfigUse] = []
    own = f"_{owner}"
    for folder in sorted(FOLDERS, key=lambda folder: folder != own):
        pattern = short if folder == own else full
        for path in sorted((package / folder).rglob("*.py")):
            found += _uses(path, package, name.rpartition(".")[2], pattern)
            if len(found) >= MOST_USES:
                return tuple(found[:MOST_USES])
    return tuple(found)


def _uses(path: Path, package: Path, word: str, pattern: re.Pattern[str]) -> Iterator[ConfigUse]:
    text = path.read_text("utf-8", errors="replace")
    if word not in text:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if word in line and pattern.search(line) and not line.lstrip().startswith("#"):
            yield ConfigUse(path.relative_to(package).as_posix(), number, line.strip())
