"""Sources of the installed torch and Triton: landmarks of a compilation, and config options.

The sources are read as text; the packages are not imported. Landmarks are the functions and classes that a
compilation executes, each with its lines and the phase in which torch times it. An option has its comment,
environment variables, line and uses.
"""

import ast
import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.base.decoder import toml_as
from core.base.syntax import module

MOST_LINES = 400  #: limit: lines of a function of torch on the page
MOST_FILE_BYTES = 8_000_000  #: a file of torch that is searched for a function
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
# Keywords of torch's `Config(…)` that name environment variables.
ENVIRONMENT_KEYWORDS = ("env_name_default", "env_name_force")
MOST_USES = 40  #: lines of torch that read an option
# Folders of torch that are searched; in a module's own folder, `config.NAME` is its option.
FOLDERS = ("_inductor", "_dynamo", "_functorch", "_higher_order_ops", "fx", "utils", "export", "distributed", "nn")


@dataclass(frozen=True, slots=True)
class Landmark:
    """A function or class of torch or Triton.

    `stop` is its compilation step, `what` its purpose. `phase` is the phase in which torch times it, empty if
    torch does not.
    """

    stop: str
    module: str
    name: str
    what: str
    phase: str = ""

    @property
    def full_name(self) -> str:
        """Return the module and the name, joined by a dot."""
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class LandmarkSource:
    """The lines of a landmark: its file, the number of its first line from 1, and its text."""

    path: Path
    line: int
    text: str


LANDMARKS = toml_as(Path(__file__).with_name("landmarks.toml"), dict[str, tuple[Landmark, ...]])["landmarks"]
BACKENDS = (("triton.backends.nvidia.compiler", "CUDABackend"), ("triton.backends.amd.compiler", "HIPBackend"))


def stage_landmark(stage: str, amd: bool) -> Landmark:
    """Return the function of Triton that makes the file of a stage: `ttir`, `ptx`, `amdgcn` …"""
    module, backend = BACKENDS[amd]
    return Landmark("Triton", module, f"{backend}.make_{stage}", "")


@lru_cache(maxsize=len(LANDMARKS))
def landmark_source(landmark: Landmark) -> LandmarkSource | None:
    """Return the source of a landmark in the installed packages; None if it is not there."""
    path = module_path(landmark.module)
    lines = _lines(path) if path is not None else ()
    at = _definition(lines, landmark.name)
    if path is None or at is None:
        return None
    end = _end(lines, at)
    return LandmarkSource(path, at + 1, "\n".join(lines[at:end]))


def module_path(module: str) -> Path | None:
    """Return the file of a module of torch or Triton; None if the package or the file is not there."""
    package, *parts = module.split(".")
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        base = Path(folder, *parts)
        for path in (base / "__init__.py", base.with_suffix(".py")):
            if path.is_file():
                return path
    return None


# The landmarks of a file stand together, and their sources are kept: no file has to be.
@lru_cache(maxsize=1)
def _lines(path: Path) -> tuple[str, ...]:
    if path.stat().st_size > MOST_FILE_BYTES:
        return ()
    return tuple(path.read_text(encoding="utf-8", errors="replace").split("\n"))


def _definition(lines: tuple[str, ...], name: str) -> int | None:
    """Return the index of the line that defines `function`, `Class` or `Class.function`, or None."""
    at: int | None = 0
    for depth, part in enumerate(name.split(".")):
        start = re.compile(rf"^{' ' * 4 * depth}(?:async )?(?:def|class) {re.escape(part)}\b")
        numbers = range(at or 0, len(lines))
        at = next((number for number in numbers if start.match(lines[number]) and not _overload(lines, number)), None)
        if at is None:
            return None
    return at


def _overload(lines: tuple[str, ...], at: int) -> bool:
    """Return True for an `@overload` signature, which has no body and is only for type checkers."""
    return at > 0 and lines[at - 1].strip().endswith("overload")


def _end(lines: tuple[str, ...], at: int) -> int:
    """Return the index after the last line of a definition, at most `MOST_LINES` after its start.

    A definition ends before the next line that is indented no deeper; the `)` of its signature does not count.
    """
    indent = len(lines[at]) - len(lines[at].lstrip())
    last = min(len(lines), at + MOST_LINES)
    for number in range(at + 1, last):
        text = lines[number]
        if text.strip() and len(text) - len(text.lstrip()) <= indent and not text.lstrip().startswith(")"):
            return number
    return last


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """Line of an option's assignment, its comment, and the environment variables that its value reads."""

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
    """Return the options of a configuration module by name; raises SyntaxError, TooDenseError."""
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
        """Yield the names and sources of the options in a body; those of a class include its bases'."""
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
        """Return a statement's comments without `#`: on the lines directly above, and at its end."""
        first = statement.lineno - 1
        while first and self.lines[first - 1].strip().startswith("#"):
            first -= 1
        above = [line.strip().lstrip("#").strip() for line in self.lines[first : statement.lineno - 1]]
        behind = self.lines[(statement.end_lineno or statement.lineno) - 1]
        _, mark, beside = behind[statement.end_col_offset or 0 :].partition("#")
        return "\n".join([*above, *([beside.strip()] if mark else [])]).strip()

    def _variables(self, value: ast.AST) -> Iterator[str]:
        """Yield the environment variables that an expression reads, directly or in functions of the module."""
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
