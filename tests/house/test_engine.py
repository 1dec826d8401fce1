"""The engine's seam: who is alive, and where runs are executed, is known behind it alone."""

import ast
import re

from core.runs.engine.queues import Engine
from core.runs.status import Liveness
from tests.support.imports import FILES, dotted, imports, nodes_of, offending
from tests.support.places import ROOT

CORE = [name for name in FILES if name.startswith(("core/", "pages/", "dashboard.py"))]
BEHIND = ("core/runs/engine/", "core/runs/processes/", "core/worker/")
OUTSIDE = [name for name in CORE if not name.startswith(BEHIND)]
# The load of the machine's CPUs, and the name of a file that is being written.
HARMLESS = {
    "core/base/machine.py": {"psutil"},
    "core/base/files.py": {"os.getpid"},
    # The kind of file system below the store.
    "core/runs/index/database.py": {"psutil"},
}
OF_PROCESSES = {"psutil", "os.getpid", "os.kill", "os.killpg", "os.waitpid", "os.getppid", "fcntl"}
# What a handle is made of, and how it is read.
PARTS = {"pid", "pid_created_s", "watcher_pid", "watcher_created_s"}
# An earlier version's handles, and the liveness of a store that was given no engine: the store's alone to ask for.
OPEN = {"LOCAL", "handle_of_pids"}


def processes(name: str) -> set[str]:
    modules = {module for module, _ in imports(name)}
    return ({*dotted(name), *modules} & OF_PROCESSES) - HARMLESS.get(name, set())


def attributes(name: str) -> set[str]:
    nodes = list(nodes_of(name))
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return (read | {node.arg or "" for node in nodes if isinstance(node, ast.keyword)}) & PARTS


def taken(name: str, module: str) -> set[str]:
    return {one for of, names in imports(name) if of == module for one in names}


def test_nobody_outside_the_engine_asks_for_a_process_or_reads_a_process_id() -> None:
    assert offending(OUTSIDE, processes) == {}
    assert offending(OUTSIDE, attributes) == {}


def test_handles_are_read_by_their_engine_alone() -> None:
    assert offending(OUTSIDE, lambda name: taken(name, "core.runs.processes.handles") - OPEN) == {}


def test_an_engine_is_made_in_one_place() -> None:
    made = {name for name in CORE if "LocalEngine" in taken(name, "core.runs.engine.local")}
    # A host executes the runs of other machines on its own.
    hosts = {"core/runs/engine/cluster/host.py", "core/runs/engine/cluster/ray_host.py"}
    assert made == {"core/__init__.py", "core/runs/engine/opening.py", *hosts}
    assert offending(CORE, lambda name: taken(name, "core") & {"LocalEngine"}) == {}


def test_the_guide_names_every_method_of_an_engine() -> None:
    methods = {name for kind in (Engine, Liveness) for name, value in vars(kind).items() if callable(value)}
    rows = re.findall(r"^   \| `(\w+)` \|", (ROOT / "docs/adding-an-engine.md").read_text(encoding="utf-8"), re.M)
    assert sorted(rows) == sorted(name for name in methods if not name.startswith("_"))
