"""Torch's caches: a run's own directories, filled by an earlier process, and a recorder of cache keys.

A run with `caches` "cold", "warm" or "bundle" has separate directories, which the supervisor removes after the run.
"cold" ones are empty at the start. For the others, a forked process makes the compiled calls first. "warm" keeps its
directories. "bundle" keeps only what `torch.compiler.save_cache_artifacts` returns in it: the run starts with empty
directories and loads that. With `torch._dynamo.config.caching_precompile`, both have Dynamo's code, too.

Torch logs the components of an FX graph's key, and those of AOTAutograd's only if a logger is at DEBUG. The graph
module, AOTAutograd's settings and torch's source are each a single hash there.
"""

import logging
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import torch
import torch._dynamo.config
import torch._functorch.config
import torch._inductor.config
from torch._dynamo.utils import counters
from torch._inductor.codecache import FxGraphCachePickler
from torch.compiler._cache import CacheArtifactManager

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.base.words import duration_s, number
from core.job import Conditions
from core.report.records import Emit
from core.report.records.compilation import CacheKeyRecord
from core.report.run import CachePart, FilledCaches

# Torch computes the components of AOTAutograd's key only if this logger is at DEBUG.
KEY_LOGGER = "torch._functorch._aot_autograd.autograd_cache"
# Environment variables of compilers; those that name a folder or a host are left out.
VARIABLES = re.compile(
    r"(?!\w*(?:_DIR|_PATH|_HOME|_TRACE|_ADDR|_FILE)$)(?:TORCH|TRITON_|OMP_|MKL_|PYTORCH_|PYTHONHASHSEED)"
)
MAX_VALUE_CHARS = 200  #: a setting or an environment variable in the record of a cache key
MAX_PARTS = 2_000  #: constants and attributes of a graph module in the record of a cache key
DIRECTORY, INDUCTOR, TRITON = "caches", "inductor", "triton"
BUNDLE, FILLED = "bundle", "filled.json"
FAILED = 1
# Suffix → kind of a file that lies in no folder of a cache.
SUFFIXES = {".best_config": "autotuning", ".py": "python", ".cpp": "c++", ".h": "c++", ".so": "c++", ".o": "c++"}


def use_run_caches(conditions: Conditions, run: Path) -> None:
    """Set Inductor's and Triton's cache directories in the run's directory, unless `caches` is `objects`."""
    if conditions.caches == "objects":
        return
    for name, part in (("TORCHINDUCTOR_CACHE_DIR", INDUCTOR), ("TRITON_CACHE_DIR", TRITON)):
        os.environ[name] = str(run / DIRECTORY / part)


@contextmanager
def lookups(conditions: Conditions) -> Iterator[None]:
    """Enable the FX graph cache and AOTAutograd cache for a run whose caches an earlier process filled.

    For any other run, disable them: a cache hit would hide the compilation.
    """
    on = conditions.are_caches_filled
    # The cache key must be the same in the process that fills the caches.
    level = max(1, torch._inductor.config.trace.provenance_tracking_level)
    settings: dict[str, Any] = {"fx_graph_cache": on, "trace.provenance_tracking_level": level}
    with torch._inductor.config.patch(settings), torch._functorch.config.patch(enable_autograd_cache=on):
        yield


def fill_caches(conditions: Conditions, run: Path, fill: Callable[[], tuple[float, ...]]) -> FilledCaches | None:
    """Fill the caches in a separate process, by `fill`, which returns the seconds of each call.

    With `caches` "bundle", the directories are emptied then, and the bundle is loaded. Return None unless the job
    requests filled caches.
    """
    if not conditions.are_caches_filled:
        return None
    folder = run / DIRECTORY
    folder.mkdir(exist_ok=True)
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _leave(conditions, folder, fill)
    exit_code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    took_s = time.perf_counter() - start
    filled = FilledCaches(took_s=took_s, exit_code=exit_code)
    with suppress(OSError, DecodeError):
        left = decoded_as((folder / FILLED).read_bytes(), FilledCaches)
        filled = replace(left, took_s=took_s, exit_code=exit_code)
    filled = replace(filled, files=tuple(_files(folder)))
    return _load_bundle(folder, filled) if conditions.caches == BUNDLE else filled


def _leave(conditions: Conditions, folder: Path, fill: Callable[[], tuple[float, ...]]) -> None:
    """Make the compiled calls, write the bundle, and end this process."""
    code = FAILED
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with lookups(conditions):
            calls_s = fill()
            start = time.perf_counter()
            # It also writes Dynamo's code into its cache.
            saved = torch.compiler.save_cache_artifacts()
            save_s = time.perf_counter() - start
        left = FilledCaches(calls_s=calls_s, save_s=save_s, took_s=0.0, exit_code=0)
        if saved is not None:
            (folder / BUNDLE).write_bytes(saved[0])
        (folder / FILLED).write_bytes(msgspec.json.encode(left))
        code = 0
    finally:
        os._exit(code)


def _load_bundle(folder: Path, filled: FilledCaches) -> FilledCaches:
    """Empty the directories and load the bundle; return the record with its parts and its seconds."""
    for part in (INDUCTOR, TRITON):
        shutil.rmtree(folder / part, ignore_errors=True)
    try:
        data = (folder / BUNDLE).read_bytes()
    except OSError:
        return filled
    parts = CacheArtifactManager.deserialize(data) or {}
    start = time.perf_counter()
    is_loaded = torch.compiler.load_cache_artifacts(data) is not None
    return replace(
        filled,
        bundle=tuple(
            CachePart(kind, len(entries), sum(len(entry.content) for entry in entries))
            for kind, entries in parts.items()
        ),
        bundle_bytes=len(data),
        load_s=time.perf_counter() - start if is_loaded else None,
    )


def _files(folder: Path) -> Iterator[CachePart]:
    """Yield the number and size of the files in each of torch's folders, and of other files by suffix."""
    sizes: dict[str, list[int]] = {}
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file() and path.parent != folder:
                root, first, *_ = path.relative_to(folder).parts
                is_named = root == INDUCTOR and len(first) > 2 and (folder / root / first).is_dir()
                kind = root if root == TRITON else first if is_named else SUFFIXES.get(path.suffix, "other")
                sizes.setdefault(kind, []).append(path.stat().st_size)
    yield from (CachePart(kind, len(each), sum(each)) for kind, each in sorted(sizes.items()))


def cache_hit_words(filled: FilledCaches) -> str:
    """Return a note on the first process, and this process's hits by torch's counters."""
    duration = duration_s(filled.took_s)
    if filled.exit_code:
        code = filled.exit_code
        return f"The process that was to fill the caches ended after {duration} with exit code {code}. {_hits()}"
    left = "a bundle" if filled.bundle_bytes else "its caches"
    return (
        f"A first process made the same compiled calls in {duration}, loading the model included, and left {left}. "
        f"{_hits()}"
    )


def _hits() -> str:
    caches = (
        ("FX graphs", counters["inductor"], "fxgraph_cache_"),
        ("AOTAutograd's results", counters["aot_autograd"], "autograd_cache_"),
    )
    parts = []
    for what, group, prefix in caches:
        hits, missed = group[f"{prefix}hit"], group[f"{prefix}miss"] + group[f"{prefix}bypass"]
        parts.append(f"{number(hits)} of {number(hits + missed)} {what}")
    return f"This one found {' and '.join(parts)} there."


class QuietFilter(logging.Filter):
    """Filter of a logger at DEBUG for the messages that its former level let pass."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self._level = level

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the former level let the message pass, too."""
        return record.levelno >= self._level


@contextmanager
def watching_cache_keys(emit: Emit) -> Iterator[None]:
    """Record the parts of each cache key that torch hashes without printing them, by `CACHE_KEYS`."""
    CACHE_KEYS.begin(emit)
    try:
        yield
    finally:
        CACHE_KEYS.end(emit)


class CacheKeys:
    """Recorder of cache keys for all recordings of this process, which may overlap in any order.

    During a recording, torch also logs the components of AOTAutograd's key. Its other messages stay as they are.
    """

    def __init__(self) -> None:
        self._emitters: list[Emit] = []
        self._original = FxGraphCachePickler.debug_lines
        self._quiet = QuietFilter(0)
        self._level = 0

    def begin(self, emit: Emit) -> None:
        """Pass the record of each key to `emit`."""
        if not self._emitters:
            logger, original = logging.getLogger(KEY_LOGGER), FxGraphCachePickler.debug_lines
            self._original, self._level, self._quiet = original, logger.level, QuietFilter(logger.getEffectiveLevel())

            def debug_lines(pickler: FxGraphCachePickler, details: Any) -> list[str]:
                lines = original(pickler, details)
                key = _cache_key(pickler, details)
                for emit in list(self._emitters):
                    emit(key)
                return lines

            FxGraphCachePickler.debug_lines = debug_lines  # type: ignore[method-assign]
            logger.addFilter(self._quiet)
            logger.setLevel(logging.DEBUG)
        self._emitters.append(emit)

    def end(self, emit: Emit) -> None:
        """Stop passing records to `emit`; after the last recording, torch is as before."""
        if emit not in self._emitters:
            return
        self._emitters.remove(emit)
        if not self._emitters:
            logger = logging.getLogger(KEY_LOGGER)
            logger.removeFilter(self._quiet)
            logger.setLevel(self._level)
            FxGraphCachePickler.debug_lines = self._original  # type: ignore[method-assign]


CACHE_KEYS = CacheKeys()


def _cache_key(pickler: FxGraphCachePickler, details: Any) -> CacheKeyRecord:
    triton = sys.modules.get("triton")
    versions = {
        "torch": torch.__version__,
        "torch's source": getattr(details, "torch_version", b"").hex()[:16],
        "triton": str(getattr(triton, "__version__", "")),
        "python": platform.python_version(),
    }
    is_aot = hasattr(details, "aot_config")
    settings = torch._functorch.config.get_serializable_config_copy() if is_aot else {}
    return CacheKeyRecord(
        cache="aotautograd" if is_aot else "fx_graph",
        graph=dict(_part_hashes(pickler, details.gm)),
        settings={name: repr(value)[:MAX_VALUE_CHARS] for name, value in settings.items()},
        versions=versions,
        environment={
            name: value[:MAX_VALUE_CHARS] for name, value in sorted(os.environ.items()) if VARIABLES.match(name)
        },
    )


def _part_hashes(pickler: FxGraphCachePickler, module: Any) -> Iterator[tuple[str, str]]:
    """Return name → torch's hash for the constants and attributes of a graph module."""
    parts = {name: value for name, value in vars(module).items() if name not in ("_graph", "_code", "_modules")}
    nested = {
        f"{name}.{inner}": value for name in ("_buffers", "_parameters") for inner, value in parts.pop(name, {}).items()
    }
    for name, value in list((parts | nested).items())[:MAX_PARTS]:
        with suppress(Exception):
            yield name, pickler.get_hash(value)
    for name, submodule in list(module.named_children())[:MAX_PARTS]:
        with suppress(Exception):
            yield name, pickler.get_hash(submodule)
