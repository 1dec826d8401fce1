"""Gallery of sample models and of exercises, read without running them.

A sample is a Python file that defines `model` (any callable) and `inputs` (the arguments of one call) or `calls`
(several, in a list or from a generator function). The first line of its docstring is its title, the rest is its lesson.
Further literals configure the run: `group`, `training`, `torch_compile` (parameters that differ from the default) and
`twin` (the sample that fixes this one).

An exercise is a model that is broken in one way: a file in `core/samples/exercises/`, and a row of
`gallery.toml`. The file's docstring has the title and the task. A solution is compiled, and compared with the
exercise's own code in eager.
"""

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from core.base.decoder import toml_as
from core.base.errors import JobError
from core.base.syntax import NOT_READ, module
from core.base.words import suggestion
from core.job.model import CompileJob, CompileOptions, Model
from core.job.text import MAX_CODE_BYTES

SAMPLES = Path(__file__).parents[1] / "samples"
LITERALS = frozenset({"group", "training", "torch_compile", "twin"})
OF_A_JOB = ("training", "torch_compile")
NO_LITERAL = object()


@dataclass(frozen=True, slots=True)
class Sample:
    """A model of the gallery; `name` is its file's name, `teaches` its lesson in one or two sentences."""

    name: str
    title: str
    teaches: str
    group: str
    training: bool
    torch_compile: Mapping[str, object]
    twin: str | None
    path: Path


@cache
def samples() -> tuple[Sample, ...]:
    """Return the samples in the order of `ORDER`; samples that are not listed there come last."""
    unordered = [_read_sample(path) for path in SAMPLES.glob("*.py") if not path.stem.startswith("_")]
    return tuple(sorted(unordered, key=_place))


def sample(name: str) -> Sample:
    """Return the sample with a name; raises JobError, with the most similar names, if there is none."""
    by_name = {entry.name: entry for entry in samples()}
    if name in by_name:
        return by_name[name]
    raise JobError("sample", f"there is no sample `{name[:100]}`; {suggestion(name, by_name, 3)}")


def _place(entry: Sample) -> tuple[int, str]:
    return ORDER.index(entry.name) if entry.name in ORDER else len(ORDER), entry.name


def literals(code: str) -> dict[str, Any]:
    """Return the settings that a file of Python defines as literals."""
    return {name: value for name, value in _settings(code).items() if value is not NO_LITERAL}


def unread(code: str) -> tuple[str, ...]:
    """Return those of `training` and `torch_compile` that the file defines, but not as literals."""
    return tuple(name for name in OF_A_JOB if _settings(code).get(name) is NO_LITERAL)


def _settings(code: str) -> dict[str, Any]:
    """Return the last value of each setting in a file's code, `NO_LITERAL` if it is none."""
    if len(code) > MAX_CODE_BYTES:
        return {}
    try:
        tree = module(code)
    except NOT_READ:
        return {}
    settings = {}
    for statement in tree.body:
        for name, value in _assignments(statement):
            if name in LITERALS:
                settings[name] = NO_LITERAL
                with contextlib.suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    settings[name] = ast.literal_eval(value)
    return settings


def _assignments(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a statement assigns, each with its value, annotated or not."""
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return
    for target in targets:
        if statement.value is not None:
            yield from _named(target, statement.value)


def _named(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of a target, each with its own part of the value, else with the target."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        matched = len(parts) == len(target.elts) and not any(isinstance(part, ast.Starred) for part in parts)
        for index, name in enumerate(target.elts):
            yield from _named(name, parts[index] if matched else target)


def _read_sample(path: Path) -> Sample:
    code = path.read_text(encoding="utf-8")
    title, _, teaches = (ast.get_docstring(module(code, str(path))) or "").partition("\n")
    settings = literals(code)
    return Sample(
        name=path.stem,
        title=title,
        teaches=" ".join(teaches.split()),
        group=settings.get("group", ""),
        training=settings.get("training", False),
        torch_compile=settings.get("torch_compile", {}),
        twin=settings.get("twin"),
        path=path,
    )


FILES = Path(__file__).parents[1] / "samples" / "exercises"


@dataclass(frozen=True, slots=True)
class Exercise:
    """A model that is broken in one way; `name` is the name of its file.

    `hints` are Markdown, shown one after the other. `checks` are limits by the names of the checks in
    `core.views.exercises`. `compile` and `training` override the settings in the solution's code.
    """

    name: str
    topic: str
    checks: Mapping[str, int]
    hints: tuple[str, ...]
    compile: CompileOptions = field(default_factory=CompileOptions)
    training: bool = False

    @property
    def title(self) -> str:
        """Return the first line of the docstring."""
        return _docstring(self.name).partition("\n")[0]

    @property
    def task(self) -> str:
        """Return the rest of the docstring in one line."""
        return " ".join(_docstring(self.name).partition("\n")[2].split())

    @property
    def code(self) -> str:
        """Return the broken code: the file without its docstring."""
        return _code(self.name)

    def job(self, code: str) -> CompileJob:
        """Return the job that checks a solution."""
        job = CompileJob(Model("code", code), training=self.training, compile=self.compile, exercise=self.name)
        return replace(job, measure=False, from_file=())

    def is_checked_by(self, job: CompileJob) -> bool:
        """Return True if a job checks a solution of this exercise, regardless of the job's limits."""
        check = self.job(job.model.value)
        return job == replace(check, time_limit_s=job.time_limit_s, memory_limit_bytes=job.memory_limit_bytes)


def exercise(name: str) -> Exercise:
    """Return the exercise with a name; raises JobError, with the most similar name, if there is none."""
    if name in BY_NAME:
        return BY_NAME[name]
    raise JobError("exercise", f"there is no exercise `{name[:100]}`; {suggestion(name, BY_NAME)}")


def exercise_problem(name: str) -> str:
    """Return why a text can't be the name of an exercise in any version; empty if it can."""
    return "" if re.fullmatch(r"\w{0,100}", name) else f"`{name[:60]}` is no name of an exercise"


@cache
def _docstring(name: str) -> str:
    return ast.get_docstring(module(_text(name))) or ""


@cache
def _code(name: str) -> str:
    text = _text(name)
    end = module(text).body[0].end_lineno or 0
    return "\n".join(text.splitlines()[end:]).strip() + "\n"


def _text(name: str) -> str:
    return (FILES / f"{name}.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Gallery:
    """The tables of `gallery.toml`."""

    order: tuple[str, ...]
    exercises: tuple[Exercise, ...]


_gallery = toml_as(Path(__file__).with_name("gallery.toml"), _Gallery)
ORDER, EXERCISES = _gallery.order, _gallery.exercises
BY_NAME = {row.name: row for row in EXERCISES}
