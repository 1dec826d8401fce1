"""Meanings of a class's fields: the string literals below the fields."""

from __future__ import annotations

import ast
import inspect
import re
from itertools import pairwise


def meanings(kind: type) -> dict[str, str]:
    """Return field → the text below it, inherited fields included; empty if the class has no such texts."""
    bases = (base for base in reversed(kind.__mro__) if "__dataclass_fields__" in vars(base))
    return {name: text for base in bases for name, text in _field_texts(base).items()}


def _field_texts(kind: type) -> dict[str, str]:
    (body,) = [node.body for node in ast.parse(inspect.getsource(kind)).body if isinstance(node, ast.ClassDef)]
    return {
        field.target.id: re.sub(r"\s+", " ", text.value.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
