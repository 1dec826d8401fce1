"""Recorder of cache keys: the parts that torch hashes without printing them.

Torch logs the components of an FX graph's key, and those of AOTAutograd's only if a logger is at DEBUG. The graph
module, AOTAutograd's settings and torch's source are each a single hash there.
"""

from __future__ import annotations

import logging
import os
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
import torch._functorch.config
from torch._inductor.codecache import FxGraphCachePickler

from core.report.records import Emit
from core.report.records.compilation import CacheKeyRecord

# Torch computes the components of AOTAutograd's key only if this logger is at DEBUG.
KEY_LOGGER = "torch._functorch._aot_autograd.autograd_cache"
# Environment variables of compilers; those that name a folder or a host are left out.
VARIABLES = re.compile(
    r"(?!\w*(?:_DIR|_PATH|_HOME|_TRACE|_ADDR|_FILE)$)(?:TORCH|TRITON_|OMP_|MKL_|PYTORCH_|PYTHONHASHSEED)"
)
MAX_VALUE_CHARS = 200  #: a setting or an environment variable in the record of a cache key
MAX_PARTS = 2_000  #: constants and attributes of a graph module in the record of a cache key


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
