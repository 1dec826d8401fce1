"""Recorders of compiled code: bytecode before and after Dynamo, code reuse in calls, CUDA graphs.

Dynamo moves a frame's most recently used cache entry to the front. The hook after a cache lookup gets neither
the frame nor the code, but the hook's caller is the frame's call site. So if there are as many call sites as
frames with compiled code, each frame was entered once.
"""

import dis
import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
import torch._C._dynamo.eval_frame as dynamo_frames
from torch._dynamo.convert_frame import register_bytecode_hook
from torch._dynamo.eval_frame import _debug_get_cache_entry_list as cache_entries
from torch._dynamo.utils import counters
from torch._guards import CompileContext, compile_context

from core.base.words import count
from core.report.records import Emit
from core.report.records.compilation import BytecodeRecord
from core.worker.recorders.stacks import DeferredRecords

MAX_CODE_CHARS = 200_000  #: limit: a listing of bytecode, and its decompiled source
MAX_CONSTANT_CHARS = 200  #: a constant in a listing
# depyf's time grows with the code; it takes about 0.1 s for this many instructions.
MOST_INSTRUCTIONS = 3_000  #: limit: instructions of a decompiled function
RESUME = re.compile(r"__resume_at_\d+_\d+")
RESUMES = "torch_dynamo_resume_in_"
DECOMPILER = "depyf"


class Constant:
    """Placeholder for a constant that is not a plain Python value, with a short text as its `repr`.

    The constant's own `repr` is not used: it may run the user's code, or differ between runs.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


@contextmanager
def watching_bytecode(emit: Emit, is_recorded: Callable[[], bool], later: DeferredRecords) -> Iterator[None]:
    """Record the bytecode of every frame that Dynamo rewrites, and later the source that depyf decompiles."""
    depyf, modules = _depyf(), _Globals()

    def rewritten(original: CodeType, modified: CodeType) -> None:
        try:
            before, after = _listable(original), _listable(modified)
            record = _record(original, before, after, modules.resumes(modified), depyf is not None)
        except Exception:
            # Skip code that can't be listed; an exception here would end the user's compilation.
            return
        emit(record)
        context = CompileContext.try_get()
        if depyf is None or context is None or not is_recorded():
            return

        def decompiled() -> None:
            with compile_context(context):
                emit(_decompiled(record, before, after, depyf))

        later.add(decompiled)

    handle = register_bytecode_hook(rewritten)
    try:
        yield
    finally:
        handle.remove()


def _depyf() -> ModuleType | None:
    """Return depyf; None if its import fails with any error, since depyf is optional."""
    try:
        return importlib.import_module(DECOMPILER)
    except Exception:
        return None


def _record(
    original: CodeType, before: CodeType, after: CodeType, resumes: dict[str, str], has_decompiler: bool
) -> BytecodeRecord:
    return BytecodeRecord(
        name=original.co_name,
        qualname=getattr(original, "co_qualname", ""),
        file=original.co_filename,
        line=original.co_firstlineno,
        original=_listing(before),
        modified=_listing(after),
        resumes=resumes,
        has_decompiler=has_decompiler,
    )


def _decompiled(record: BytecodeRecord, before: CodeType, after: CodeType, depyf: ModuleType) -> BytecodeRecord:
    new, new_reason = _python(after, depyf)
    # Other functions have their source.
    old, old_reason = _python(before, depyf) if record.name.startswith(RESUMES) else ("", "")
    return replace(
        record,
        decompiler=f"{DECOMPILER} {getattr(depyf, '__version__', '')}".strip(),
        original_python=old,
        modified_python=new,
        not_decompiled=old_reason or new_reason,
    )


def _listing(code: CodeType) -> str:
    return dis.Bytecode(code).dis()[:MAX_CODE_CHARS]


def _listable(code: CodeType) -> CodeType:
    """Return the code with constants that print as short text, the same in every run."""
    return code.replace(co_consts=tuple(map(_constant, code.co_consts)))


def _constant(value: Any) -> Any:
    if isinstance(value, (str, bytes)):
        return value if len(value) <= MAX_CONSTANT_CHARS else value[:MAX_CONSTANT_CHARS]
    if value is None or value is ... or type(value) in (bool, int, float, complex):
        return value
    if type(value) in (tuple, frozenset):
        return type(value)(map(_constant, value))
    if isinstance(value, CodeType):
        return Constant(f"<code of {value.co_name}, line {value.co_firstlineno}>")
    return Constant(f"<{type(value).__name__}>")


class _Globals:
    """Globals of the user's modules, by file, cached: a search through all modules takes milliseconds."""

    def __init__(self) -> None:
        self._of: dict[str, list[dict[str, Any]]] = {}

    def resumes(self, code: CodeType) -> dict[str, str]:
        """Return the resume functions that Dynamo added to the user's module, as global name → code name."""
        wanted = [name for name in code.co_names if RESUME.fullmatch(name)]
        modules = self._modules(code.co_filename) if wanted else []
        found = {name: made[name] for made in modules for name in wanted if name in made}
        return {name: made.__code__.co_name for name, made in found.items() if isinstance(made, FunctionType)}

    def _modules(self, file: str) -> list[dict[str, Any]]:
        if file not in self._of:
            self._of[file] = [vars(module) for module in list(sys.modules.values()) if _is_of(module, file)]
        return self._of[file]


def _is_of(module: Any, file: str) -> bool:
    return isinstance(module, ModuleType) and vars(module).get("__file__") == file


def _python(code: CodeType, depyf: ModuleType) -> tuple[str, str]:
    """Return the decompiled Python source, or why there is none."""
    if len(code.co_code) > 2 * MOST_INSTRUCTIONS:
        return "", f"it has more than {count(MOST_INSTRUCTIONS, 'instruction')}"
    try:
        return str(depyf.decompile(code))[:MAX_CODE_CHARS], ""
    except Exception as error:
        return "", f"{type(error).__name__}: {error}"[:MAX_CONSTANT_CHARS]


MOST_FRAMES = 1_000  #: limit: frames whose reused code is recorded
# By identity, as below: a code that Dynamo makes may have constants without a hash, and then has none itself.
CODES: dict[int, CodeType] = {}
COMPILED: Counter[str] = Counter()


class CodeReuse:
    """Cache lookups of one call: `places` has the call sites with a hit, and `missed` those without.

    `newest` has the last used code of each frame. `compilations` is the number of frames compiled since the
    object was created.
    """

    def __init__(self) -> None:
        self.places: dict[tuple[int, int], CodeType] = {}
        self.missed: dict[tuple[int, int], CodeType] = {}
        self._before = _compiled_frames()

    @property
    def compilations(self) -> int:
        """Return how many frames were compiled; torch's counter leaves out those of `fullgraph=True`."""
        return max(0, *(now - before for now, before in zip(_compiled_frames(), self._before, strict=True)))

    @property
    def newest(self) -> tuple[str, ...]:
        """Return the last used compilation of each frame."""
        entries = (cache_entries(code) for code in CODES.values())
        return tuple(str(found[0].compile_id) for found in entries if found)

    @property
    def is_precompiled(self) -> bool:
        """True if no frame was looked up, and Dynamo loaded compiled code.

        Torch calls no hook for a frame that runs loaded code.
        """
        return not self.places and not self.missed and bool(counters.get("dynamo_cache", {}).get("dynamo_cache_hit"))


def met(code: CodeType) -> None:
    """Register the code of a frame that was compiled."""
    COMPILED["frames"] += 1
    if len(CODES) < MOST_FRAMES:
        CODES[id(code)] = code


def _compiled_frames() -> tuple[int, int]:
    return counters["frames"]["ok"], COMPILED["frames"]


@contextmanager
def watching_reuse() -> Iterator[CodeReuse]:
    """Record cache lookups in this context; a hook set by other code is still called."""
    reuse = CodeReuse()

    def searched(is_hit: bool) -> bool:
        caller = sys._getframe(1)
        (reuse.places if is_hit else reuse.missed)[id(caller.f_code), caller.f_lasti] = caller.f_code
        return is_hit if others is None else others(is_hit)

    others = dynamo_frames.set_guard_complete_hook(searched)
    try:
        yield reuse
    finally:
        dynamo_frames.set_guard_complete_hook(others)


WARM_UPS, RECORDINGS, REPLAYS = "warm_ups", "recordings", "replays"
# Methods of torch's manager, and what a call of each is.
METHODS = {"run_eager": WARM_UPS, "record_function": RECORDINGS, "execute_node": REPLAYS}
graph_counts: Counter[str] = Counter()


@contextmanager
def watching_cudagraphs() -> Iterator[None]:
    """Count the calls that CUDA graphs handle in this process; do nothing without a CUDA device."""
    if not torch.cuda.is_available():
        yield
        return
    from torch._inductor.cudagraph_trees import CUDAGraphTreeManager

    originals = {name: getattr(CUDAGraphTreeManager, name) for name in METHODS}

    def counting(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            graph_counts[METHODS[name]] += 1
            return originals[name](self, *args, **kwargs)

        return method

    for name in METHODS:
        setattr(CUDAGraphTreeManager, name, counting(name))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(CUDAGraphTreeManager, name, original)
