"""Which guards are about a value."""

from __future__ import annotations

from core.report import Compilation, FxNode, Guard


def guards_on(compilation: Compilation, node: FxNode) -> tuple[Guard, ...]:
    """The guards on the value that an input of Dynamo's graph stands for; none for a node that is no input."""
    if node.op not in ("placeholder", "get_attr"):
        return ()
    wanted = _letters(node.name)
    return tuple(guard for guard in compilation.guards if _letters(guard.source) == wanted)


def mentions(guard: Guard, text: str) -> bool:
    """Whether a guard mentions a text in any of its fields, in whatever case."""
    fields = (guard.kind, guard.source, guard.expression, guard.code, guard.location, guard.hint)
    return text.lower() in " ".join(str(field or "") for field in fields).lower()


def _letters(name: str) -> str:
    """`L['self'].norm.weight` and the placeholder `L_self_norm_weight_` that Dynamo made of it, as one."""
    return "_".join(part for part in "".join(c if c.isalnum() else "_" for c in name.lower()).split("_") if part)
