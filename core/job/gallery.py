"""Gallery of sample models: title, lesson and torch.compile settings of each, read without running it.

A sample is a Python file that defines `model` (any callable) and `inputs` (the arguments of one call) or `calls`
(several, in a list or from a generator function). The first line of its docstring is its title, the rest is its lesson.
Further literals configure the run: `group`, `training`, `torch_compile` (parameters that differ from the default) and
`twin` (the sample that fixes this one).
"""

import ast
import contextlib
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from core.base.errors import JobError
from core.base.syntax import NOT_READ, module
from core.job.text import MAX_CODE_BYTES

SAMPLES = Path(__file__).parents[1] / "samples"
LITERALS = frozenset({"group", "training", "torch_compile", "twin"})
OF_A_JOB = ("training", "torch_compile")
NO_LITERAL = object()

ORDER = (
    "sin_cos",
    "matmul_relu_softmax",
    "mlp",
    "gelu_layernorm_residual",
    "transformer_block",
    "attention_by_hand",
    "small_gpt",
    "llama_block",
    "lstm_cell_loop",
    "small_resnet",
    "small_vit",
    "small_unet",
    "mixture_of_experts",
    "dlrm",
    "training_step",
    "optimizer_step",
    "graph_break_zoo",
    "graph_break_zoo_repaired",
    "recompile_zoo",
    "dynamic_batch",
    "control_flow",
    "escape_hatches",
    "flex_attention",
    "custom_op_embedding",
)


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
    """Return the samples in the order of the gallery: by group, and within a group from easy to hard."""
    unordered = [_read_sample(path) for path in SAMPLES.glob("*.py") if not path.stem.startswith("_")]
    return tuple(sorted(unordered, key=_place))


def sample(name: str) -> Sample:
    """Return the sample with a name; raises JobError, with the most similar names, if there is none."""
    by_name = {entry.name: entry for entry in samples()}
    if name in by_name:
        return by_name[name]
    close = difflib.get_close_matches(name, by_name, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(by_name)}"
    raise JobError("sample", f"there is no sample `{name[:100]}`; {hint}")


def _place(entry: Sample) -> tuple[int, str]:
    return ORDER.index(entry.name) if entry.name in ORDER else len(ORDER), entry.name


def literals(code: str) -> dict[str, Any]:
    """Return a file's settings for its own run: `group`, `training`, `torch_compile`, `twin`, if they are literals.

    Empty for code that is not Python; running it shows the user the error.
    """
    return {name: value for name, value in _settings(code).items() if value is not NO_LITERAL}


def unread(code: str) -> tuple[str, ...]:
    """Return the names among `training` and `torch_compile` whose value is known only by running the file."""
    return tuple(name for name in OF_A_JOB if _settings(code).get(name) is NO_LITERAL)


def _settings(code: str) -> dict[str, Any]:
    """Return the last value of each name, `NO_LITERAL` if it is not a literal; none of code that no job may have."""
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
        if isinstance(target, ast.Name) and statement.value is not None:
            yield target.id, statement.value


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
