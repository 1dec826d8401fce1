"""The private names of torch and Triton that the worker leans on are in this torch, and they are all in the table."""

import contextlib
import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.places import ROOT
from tests.support.private_names import FIRST, PRIVATE_NAMES, PrivateName
from tests.support.private_uses import defined, private_uses

# The built-in backends are examples that a user reads and copies.
EXAMPLES = ROOT / "core" / "accelerator" / "backends"
FILES = sorted(
    path
    for room in ("worker", "accelerator")
    for path in (ROOT / "core" / room).rglob("*.py")
    if EXAMPLES not in path.parents
)
# A script that is Triton's own first example, run as a user's would be.
EXAMPLE = "vector_add.py"
# Ends of names, in the partitioner's network and in what GCC makes of OpenMP; and what Python gives a named tuple.
ENDINGS = {"_in", "_out", "_omp_fn", "_fields"}


def lacking() -> Iterator[str]:
    """Names of the table that the installed torch should have and has not."""
    import torch

    version = torch.torch_version.TorchVersion(torch.__version__)
    triton = importlib.util.find_spec("triton") is not None
    for row in PRIVATE_NAMES:
        due = version >= row.since and not (row.until and version >= row.until)
        built = triton if row.module.startswith("triton") else row.build != "cuda" or torch.version.cuda is not None
        if due and built and not is_there(row):
            yield row.full


def is_there(row: PrivateName) -> bool:
    """Whether a name can be read where the table says: of a module, of a class, or of the objects that it makes."""
    parts = row.full.split(".")
    found, rest = imported(parts)
    for index, part in enumerate(rest):
        if not hasattr(found, part):
            return index == len(rest) - 1 and assigns(found, part)
        found = getattr(found, part)
    return True


def imported(parts: list[str]) -> tuple[Any, list[str]]:
    """The module at the start of a name, and the rest of it."""
    found: ModuleType = importlib.import_module(parts[0])
    for count in range(2, len(parts) + 1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            return found, parts[count - 1 :]
    return found, []


def assigns(owner: Any, name: str) -> bool:
    """Whether the source of a class or a module gives its objects an attribute of this name."""
    kind = owner if isinstance(owner, (type, ModuleType)) else type(owner)
    pattern = re.compile(rf"\b{name}\b\"?\s*[:=]")
    return any(pattern.search(source) for source in sources(kind))


def sources(kind: type | ModuleType) -> Iterator[str]:
    """The text of a module, or of a class and those below it; what is written in C++ has none."""
    for item in kind.__mro__ if isinstance(kind, type) else (kind,):
        with contextlib.suppress(OSError, TypeError):
            yield inspect.getsource(item)


@pytest.mark.torch
# Torch's own modules warn of each other while they are imported.
@pytest.mark.filterwarnings("ignore")
def test_every_private_name_of_the_table_is_in_this_torch() -> None:
    assert list(lacking()) == []


@cache
def ours() -> set[str]:
    """Names that our own files define."""
    return {name for file in FILES for name in defined(file)}


@pytest.mark.parametrize("path", [path for path in FILES if path.name != EXAMPLE], ids=lambda path: path.stem)
def test_the_worker_uses_no_private_name_that_is_not_in_the_table(path: Path) -> None:
    used = {name for name in private_uses(path) if name.removeprefix("*.") not in ours() | ENDINGS}
    assert {name for name in used if not in_table(name)} == set()


def in_table(name: str) -> bool:
    """Whether a row is the name, or a part of it, or lies below it; of a name whose owner is not known, the end."""
    if name.startswith("*."):
        return any(row.attribute.rsplit(".", 1)[-1] == name[2:] for row in PRIVATE_NAMES)
    rows = [row.full for row in PRIVATE_NAMES]
    return any(f"{name}.".startswith(f"{row}.") or row.startswith(f"{name}.") for row in rows)


def test_a_row_says_where_why_and_since_when_and_no_name_has_two() -> None:
    assert len({row.full for row in PRIVATE_NAMES}) == len(PRIVATE_NAMES)
    for row in PRIVATE_NAMES:
        assert row.why, row.full
        assert row.since >= FIRST, row.full
