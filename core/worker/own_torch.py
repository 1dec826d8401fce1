"""The torch that a script sees: imported by the script itself, with torch's own backends.

The worker has imported torch before the script begins. What torch reads from the environment at its import is read
again when the script imports torch: TORCH_LOGS, TORCH_TRACE, and the settings of its config modules. A model's file is
loaded for each model copy, and registers its backends and ops each time.
"""

import functools
import importlib.util
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch
import torch._logging._internal as torch_logging
from torch._dynamo.backends import registry
from torch._library.custom_ops import OPDEFS
from torch._ops import OpOverload

from core.base.machine import own_module

NAME = torch.__name__
CONFIGS = ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config", "torch.fx.experimental._config")
PREFIXES = ("TORCH", "PYTORCH", "INDUCTOR", "TRITON", "AOT", "COMPILE")
LOGS = {"TORCH_LOGS", "TORCH_LOGS_OUT", "TORCH_LOGS_FORMAT"}
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
PLAIN = (bool, int, float, str, type(None))


class _TorchsNames(dict[str, Any]):
    """Torch's table of backends, which hides Compileboard's own; they can still be named."""

    def __init__(self, table: dict[str, Any], functions: dict[str, Any]) -> None:
        super().__init__(table)
        self._functions = functions

    def __iter__(self) -> Iterator[str]:
        return (name for name in super().__iter__() if not _is_ours(self._functions.get(name)))


class _TorchsFunctions(dict[str, Any]):
    """Torch's table of loaded backends, in which a script may register a name of ours for itself."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) and not _is_ours(self[str(name)])


def _is_ours(function: object) -> bool:
    return getattr(function, "__module__", "").startswith(own_module("core."))


@contextmanager
def own_backends_hidden() -> Iterator[None]:
    """List only torch's backends in this context, and those that its code registers."""
    functions = _TorchsFunctions(registry._COMPILER_FNS)
    names = _TorchsNames(registry._BACKENDS, functions)
    with patch.object(registry, "_COMPILER_FNS", functions), patch.object(registry, "_BACKENDS", names):
        yield


@contextmanager
def importing_torch(logs: bool = True) -> Iterator[None]:
    """Have the first import of torch in this context read the environment, as torch's import does.

    Without `logs`, TORCH_LOGS is left out: the job chooses torch's messages.
    """
    finder = _Finder(dict(os.environ), logs)
    sys.meta_path.insert(0, finder)
    del sys.modules[NAME]
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.meta_path.remove(finder)
        sys.modules[NAME] = torch


class _Finder(Loader):
    """Finder and loader of the torch that is imported already."""

    def __init__(self, environment: dict[str, str], logs: bool) -> None:
        self._environment = environment
        self._logs = logs
        self._spec = torch.__spec__

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Return torch's spec at its first import; None for other modules."""
        if name != NAME:
            return None
        spec = ModuleSpec(name, self, origin=torch.__file__, is_package=True)
        spec.submodule_search_locations = list(torch.__path__)
        return spec

    def create_module(self, _: ModuleSpec) -> ModuleType:
        """Return torch (required by importlib)."""
        return torch

    def exec_module(self, module: ModuleType) -> None:
        """Read the changed environment (required by importlib)."""
        module.__spec__ = self._spec
        sys.meta_path.remove(self)
        before = self._environment
        changed = {name for name in {*os.environ, *before} if os.environ.get(name) != before.get(name)}
        if self._logs and changed & LOGS:
            torch_logging._init_logs()
        _read_environment(changed)


def _read_environment(changed: set[str]) -> None:
    """Set what torch reads from these variables at its import."""
    directory = os.environ.get("TORCH_TRACE") if "TORCH_TRACE" in changed else None
    if directory:
        handler = torch_logging._track_handler(torch_logging.LazyTraceHandler(directory))
        handler.setFormatter(torch_logging.TorchLogsFormatter(trace=True))
        torch_logging.trace_log.addHandler(handler)
    threads = next((os.environ[name] for name in THREADS if name in changed & set(os.environ)), "")
    if threads.isdecimal() and int(threads):
        torch.set_num_threads(int(threads))
    if any(name.startswith(PREFIXES) for name in changed):
        for name in CONFIGS:
            _read_config(name)


def _read_config(name: str) -> None:
    """Set the settings of a config module whose defaults differ in the environment of now."""
    config: Any = importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"{name}.of_now", config.__file__)
    assert spec is not None
    assert spec.loader is not None
    fresh: Any = importlib.util.module_from_spec(spec)
    # The module converts itself by its name.
    sys.modules[spec.name] = fresh
    try:
        spec.loader.exec_module(fresh)
    finally:
        del sys.modules[spec.name]
    for key, entry in fresh._config.items():
        value, known = _value(entry), _value(config._config.get(key))
        if isinstance(value, PLAIN) and isinstance(known, PLAIN) and value != known:
            setattr(config, key, value)


def _value(entry: Any) -> Any:
    """Return the value of a setting that nobody has set."""
    unset = getattr(sys.modules["torch.utils._config_module"], "_UNSET_SENTINEL", None)
    values = (getattr(entry, name, unset) for name in ("env_value_force", "env_value_default", "default"))
    return next((value for value in values if value is not unset), None)


class _RegistrationTable(dict[str, Any]):
    """Torch's table of backends while a file is loaded: the file's own names may be registered again."""

    def __contains__(self, name: object) -> bool:
        return False


@contextmanager
def registering(files: Collection[str]) -> Iterator[None]:
    """Let each model copy register the backends and ops of its files; the last copy's are used."""
    backends = registry._COMPILER_FNS
    table = _RegistrationTable(backends)
    registry._COMPILER_FNS = table
    custom_ops = dict(OPDEFS)
    try:
        with _defining_ops(files):
            yield
    finally:
        registry._COMPILER_FNS = backends
        backends.update(table)
        for name, earlier in custom_ops.items():
            _share(earlier, OPDEFS.get(name, earlier))


# Libraries of ops that the files of model copies made.
_libraries: list[torch.library.Library] = []


@contextmanager
def _defining_ops(files: Collection[str]) -> Iterator[None]:
    """Let each model copy define the ops of its files, by functions of `torch.library` or a `Library`.

    Torch has one definition of an op: that of the newest copy, which the earlier copies then call.
    """
    original, earlier = torch.library.Library.__init__, list(_libraries)
    replaced: dict[tuple[str, str], Any] = {}

    def made(library: torch.library.Library, ns: str, *args: Any, **kwargs: Any) -> None:
        is_of_file = _caller() in files
        for old in [each for each in earlier if is_of_file and each.ns == ns]:
            replaced.update({(ns, name): op for name, op in vars(getattr(torch.ops, ns)).items() if _is_op(op)})
            earlier.remove(old)
            _libraries.remove(old)
            old._destroy()
        original(library, ns, *args, **kwargs)
        if is_of_file:
            _libraries.append(library)

    with patch.object(torch.library.Library, "__init__", made):
        yield
    for (ns, name), op in replaced.items():
        latest = getattr(getattr(torch.ops, ns), name, op)
        for overload in op.overloads() if latest is not op else ():
            _call_latest(getattr(op, overload), getattr(latest, overload, None))
        _call_latest(op, latest)


def _caller() -> str:
    """Return the file that makes a library; functions of `torch.library` make theirs for their caller."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename in (torch.library.__file__, functools.__file__) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_filename


def _is_op(value: object) -> bool:
    return callable(getattr(value, "overloads", None))


def _call_latest(earlier: Any, latest: Any) -> None:
    """Let an op that a copy has stored call the newest definition."""
    if latest is not None and latest is not earlier:
        own = {name: value for name, value in vars(earlier).items() if isinstance(value, OpOverload)}
        vars(earlier).update({**vars(latest), **own})


def _share(earlier: Any, latest: Any) -> None:
    """Let all definitions of a custom op share one state.

    A new definition makes torch free the operator of the previous definition, which still calls that operator.
    """
    if earlier is not latest:
        vars(earlier).update(vars(latest))
        latest.__dict__ = vars(earlier)
