"""Script that interprets one program of a Triton kernel and records its memory accesses.

Usage: `python -m core.worker.interpreted SCRIPT ANSWER X,Y,Z`. SCRIPT launches Triton kernels on CPU
tensors; the loads and stores of program X,Y,Z of the first launch are recorded. The script's `result` (a tensor, or a
dictionary of tensors) is compared with its `expected`.
"""

import runpy
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import torch

from core.base.tolerances import BY_ELEMENT, BY_ELEMENT_OTHERWISE
from core.base.words import number
from core.runs.tools.tasks import InterpretAnswer, TouchedElements, Trouble
from core.worker.results.scaled import is_close

MAX_OFFSETS = 20_000  #: limit: elements that a kernel touched


@dataclass(slots=True)
class _Tensor:
    """A tensor argument of the launch, as the interpreter copied it, and its accessed elements."""

    name: str
    tensor: torch.Tensor
    loaded: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)

    def offsets(self, addresses: Any) -> list[int]:
        """Return those of the given addresses that are in this tensor's storage, as offsets in elements."""
        storage = self.tensor.untyped_storage()
        first, size = storage.data_ptr(), self.tensor.element_size()
        inside = addresses[(addresses >= first) & (addresses < first + storage.nbytes())]
        return [int(address) for address in (inside.astype("int64") - self.tensor.data_ptr()) // size]


class Watch:
    """Recorder of the memory accesses of one program in the first kernel launch.

    It wraps the interpreter's loads, stores and atomics.
    """

    def __init__(self, program: tuple[int, ...]) -> None:
        self.program = program
        self.kernel = ""
        self.grid: tuple[int, ...] = ()
        self.tensors: list[_Tensor] = []
        self._launches = 0

    def install(self) -> None:
        """Patch the interpreter of this Triton."""
        from triton.runtime import interpreter

        builder = interpreter.interpreter_builder
        self._hook(builder, "create_masked_load", lambda at: at.loaded)
        self._hook(builder, "create_masked_store", lambda at: at.stored, mask=2)
        self._hook(builder, "create_atomic_rmw", lambda at: at.stored, pointers=1, mask=3)
        original = interpreter.GridExecutor._init_args_hst
        watch = self

        def copied(executor: Any, arguments: Any, keywords: Any) -> Any:
            host = original(executor, arguments, keywords)
            watch._launched(executor, *host)
            return host

        interpreter.GridExecutor._init_args_hst = copied

    def _launched(self, executor: Any, arguments: Any, keywords: dict[str, Any]) -> None:
        self._launches += 1
        if self._launches > 1:
            return
        named = {**dict(zip(executor.arg_names, arguments, strict=False)), **keywords}
        grid = executor.grid(named) if callable(executor.grid) else executor.grid
        self.kernel = executor.fn.__name__
        self.grid = tuple(int(size) for size in grid)
        if any(axis >= size for axis, size in zip(self.program, (*self.grid, 1, 1), strict=False)):
            # Raised before any program runs, since a grid may be large.
            raise SystemExit(f"there is no program {self.program}: the grid is {self.grid}")
        self.tensors = [_Tensor(name, value) for name, value in named.items() if isinstance(value, torch.Tensor)]

    def _hook(self, builder: Any, name: str, elements_of: Any, pointers: int = 0, mask: int = 1) -> None:
        original = getattr(builder, name)

        def watched(*arguments: Any, **keywords: Any) -> Any:
            if self._launches == 1 and tuple(builder.grid_idx) == self.program:
                self._record_access(arguments[pointers].data, arguments[mask].data, elements_of)
            return original(*arguments, **keywords)

        setattr(builder, name, watched)

    def _record_access(self, addresses: Any, mask: Any, elements_of: Any) -> None:
        wanted = addresses[mask.astype(bool)].ravel()
        for tensor in self.tensors:
            elements_of(tensor).extend(tensor.offsets(wanted))

    def touched(self) -> tuple[TouchedElements, ...]:
        """Return the accessed elements of all tensors of the launch."""
        return tuple(
            TouchedElements(
                argument.name,
                str(argument.tensor.dtype).removeprefix("torch."),
                tuple(argument.tensor.shape),
                tuple(argument.tensor.stride()),
                tuple(dict.fromkeys(argument.loaded))[:MAX_OFFSETS],
                tuple(dict.fromkeys(argument.stored))[:MAX_OFFSETS],
                len(argument.loaded),
                len(argument.stored),
            )
            for argument in self.tensors
        )


def compared(result: Any, expected: Any) -> tuple[bool | None, str]:
    """Return True if the result is close to the expected one, and the difference as text.

    The first value is None if there is nothing to compare.
    """
    if result is None or expected is None:
        return None, "the script leaves no `result` and `expected` to compare"
    results = result if isinstance(result, dict) else {"result": result}
    references = expected if isinstance(expected, dict) else {"result": expected}
    worst, same, words = 0.0, True, []
    for name, reference in references.items():
        actual = results[name]
        wanted = reference.reshape(actual.shape).to(actual.dtype)
        tolerance = BY_ELEMENT.get(str(actual.dtype).removeprefix("torch."), BY_ELEMENT_OTHERWISE)
        close = is_close(wanted, actual, tolerance)
        difference = (actual.double() - wanted.double()).abs().nan_to_num().max().item() if actual.numel() else 0.0
        worst, same = max(worst, difference), same and close
        words.append(
            f"{name}: {'is' if close else 'is not'} what eager computes (largest difference {number(difference)})"
        )
    return (same if words else None), "; ".join(words) or "there was nothing to compare"


def main(script: str, answer: str, program: str) -> None:
    """Run the script, and write the result or the error."""
    x, y, z = (int(part) for part in program.split(","))
    watch = Watch((x, y, z))
    watch.install()
    result: InterpretAnswer | Trouble
    try:
        namespace = runpy.run_path(script, run_name="__main__")
        result = _result(watch, namespace, (x, y, z))
    except SystemExit as error:
        result = Trouble(str(error) or "the script ended itself")
    except BaseException as error:
        result = Trouble(f"{type(error).__name__}: {error}"[:2_000])
    Path(answer).write_bytes(msgspec.json.encode(result))


def _result(watch: Watch, namespace: dict[str, Any], program: tuple[int, ...]) -> InterpretAnswer | Trouble:
    if not watch.kernel:
        return Trouble("the script launched no Triton kernel: call one, `kernel[grid](…)`, on CPU tensors")
    same, words = compared(namespace.get("result"), namespace.get("expected"))
    return InterpretAnswer(watch.kernel, watch.grid, program, watch.touched(), same, words, "")


if __name__ == "__main__":
    main(*sys.argv[1:])
