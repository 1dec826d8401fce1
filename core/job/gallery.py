"""The gallery of sample models: what each is called, teaches and asks of torch.compile, read without running it.

A sample is a Python file that defines `model` (any callable) and `inputs` (the arguments of one call) or `calls`
(several, in a list or from a generator function). The first line of its docstring is its title, the rest what it
teaches. Further literals say how to run it: `group`, `training`, `torch_compile` (parameters that differ from the
default) and `twin` (the sample that repairs this one).
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
    "flex_attention",
    "custom_op_embedding",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One model of the gallery; `name` is its file's, `teaches` a sentence or two."""

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
    """All samples in the order of the gallery: by group, and within a group from easy to hard."""
    found = [_read(path) for path in SAMPLES.glob("*.py") if not path.stem.startswith("_")]
    return tuple(sorted(found, key=_place))


def sample(name: str) -> Sample:
    """The sample of this name; raises JobError, with the names nearest to it, where there is none."""
    by_name = {one.name: one for one in samples()}
    if name in by_name:
        return by_name[name]
    close = difflib.get_close_matches(name, by_name, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(by_name)}"
    raise JobError("sample", f"there is no sample `{name[:100]}`; {hint}")


def _place(one: Sample) -> tuple[int, str]:
    return ORDER.index(one.name) if one.name in ORDER else len(ORDER), one.name


def literals(code: str) -> dict[str, Any]:
    """What a file says of its own run: `group`, `training`, `torch_compile`, `twin`, where they are literals.

    Code that is no Python says nothing here; running it tells the user why.
    """
    return {name: value for name, value in _settings(code).items() if value is not NO_LITERAL}


def unread(code: str) -> tuple[str, ...]:
    """Return those of `training` and `torch_compile` whose value only running the file would give."""
    return tuple(name for name in OF_A_JOB if _settings(code).get(name) is NO_LITERAL)


def _settings(code: str) -> dict[str, Any]:
    """The last value of each name, `NO_LITERAL` where it is none."""
    try:
        tree = module(code)
    except NOT_READ:
        return {}
    found = {}
    for statement in tree.body:
        for name, value in _assigned(statement):
            if name in LITERALS:
                found[name] = NO_LITERAL
                with contextlib.suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    found[name] = ast.literal_eval(value)
    return found


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement assigns to, each with the value, with an annotation or without."""
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return
    for target in targets:
        if isinstance(target, ast.Name) and statement.value is not None:
            yield target.id, statement.value


def _read(path: Path) -> Sample:
    code = path.read_text(encoding="utf-8")
    title, _, teaches = (ast.get_docstring(module(code, str(path))) or "").partition("\n")
    said = literals(code)
    return Sample(
        name=path.stem,
        title=title,
        teaches=" ".join(teaches.split()),
        group=said.get("group", ""),
        training=said.get("training", False),
        torch_compile=said.get("torch_compile", {}),
        twin=said.get("twin"),
        path=path,
    )
