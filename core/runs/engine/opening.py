"""Choice of the engine, so that commands, pages and the Runner name no specific engine.

The address is `--engine` or `COMPILEBOARD_ENGINE`: empty for this machine, `sandbox` for a sandbox on it,
`ray://HOST:PORT` for a Ray cluster, `workers://HOST:PORT` for workers that connect to that address.
"""

from __future__ import annotations

import os
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from core.base.errors import SettingError
from core.base.machine import Environment, own_module
from core.runs.engine import transports
from core.runs.engine.local import LocalEngine
from core.runs.engine.queues import Engine
from core.runs.store import Store

if TYPE_CHECKING:
    from core.runs.engine.cluster.nodes import Transport

VARIABLE = "COMPILEBOARD_ENGINE"
SANDBOX = "sandbox"
TRANSPORTS = "core.runs.engine.transports"


def open_engine(store: Store, code_allowed: bool = True, address: str | None = None) -> Engine:
    """Return the engine that executes the runs of a store; the caller must close it.

    If `code_allowed` is False, the engine uses no node that runs visitors' code. If `address` is None,
    `COMPILEBOARD_ENGINE` is used. Raises SettingError.
    """
    address = os.environ.get(VARIABLE, "") if address is None else address
    if not address:
        return open_local_engine(store)
    # What one machine does not need is not imported for it.
    from core.runs.engine.cluster.remote import RemoteEngine

    return RemoteEngine(store, _transport(address, store, code_allowed), code_allowed)


def open_local_engine(store: Store) -> Engine:
    """Return the engine of this machine, regardless of `COMPILEBOARD_ENGINE`; the caller must close it."""
    return LocalEngine(store.cache_dir)


def tried_kinds(address: str | None = None) -> tuple[str, ...]:
    """Return the kinds of models whose fixes are tried without a request, by the address of the engine.

    In a sandbox, these are also users' models; on a cluster, there are none.
    """
    address = os.environ.get(VARIABLE, "") if address is None else address
    return {"": ("sample",), SANDBOX: ("sample", "code", "file")}.get(address, ())


def _transport(address: str, store: Store, code_allowed: bool) -> Transport:
    opened: Transport = import_module(transport_module(address)).transport(address, store, code_allowed)
    return opened


def transport_module(address: str) -> str:
    """Return the name of the module of an address's transport; raises SettingError for an unknown scheme.

    The address's scheme is the name of the transport's module in `transports`.
    """
    modules = {name: own_module(f"{TRANSPORTS}.{name}") for _, name, _ in iter_modules(transports.__path__)}
    scheme = address.partition("://")[0]
    if scheme not in modules:
        *forms, last = (import_module(module).FORM for module in modules.values())
        raise SettingError(f"the engine is {address[:80]!r}; write {', '.join(forms)} or {last}, or leave it empty")
    return modules[scheme]


def environment_here() -> Environment:
    """Return the capabilities of torch on this machine; raises WorkerError if torch cannot start."""
    engine = open_local_engine(Store())
    try:
        return engine.environment()
    finally:
        engine.close()
