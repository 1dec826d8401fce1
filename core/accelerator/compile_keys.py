"""Names of compilations that stay unique in a process after a `torch.compiler.reset`."""

from __future__ import annotations

from torch._guards import CompileContext


class CompileKeys:
    """Names of the compilations of one process.

    torch counts its compile ids anew after a reset. A compilation is known by its context, which its backward shares.
    """

    def __init__(self) -> None:
        self._contexts: dict[str, list[CompileContext]] = {}

    def current(self) -> str:
        """Return torch's compile id, such as `0/0`, and `0/0.2` for the second compilation with this id.

        Empty outside a compilation.
        """
        context = CompileContext.try_get()
        if context is None or context.compile_id is None:
            return ""
        name = str(context.compile_id)
        known = self._contexts.setdefault(name, [])
        if not any(other is context for other in known):
            known.append(context)
        place = next(index for index, other in enumerate(known) if other is context)
        return f"{name}.{place + 1}" if place else name
