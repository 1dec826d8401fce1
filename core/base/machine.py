"""Facts about this machine and process: paths, C++ compiler, torch's capabilities, load.

`build_once` builds a file once; later calls and other processes use the built file.
"""

import hashlib
import os
import shutil
import site
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import psutil
from filelock import FileLock

# The directory that our modules are imported from: the repository, or the one that a wheel is installed in.
PROJECT_DIR = Path(__file__).resolve().parents[__name__.count(".")]
# The directory of dashboard.py: the repository, or the package of an installed wheel.
DASHBOARD_DIR = Path(__file__).resolve().parents[2]
# In a wheel, core and pages are below this package; in the repository it is empty (see setup.py).
PACKAGE = __name__.removesuffix("core.base.machine").removesuffix(".")
# The command line as a user types it.
PROGRAM = ("python", "-m", PACKAGE or "core")
ConfigModule = Literal["inductor", "dynamo"]


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """A backend in torch's list: its name and tags, and its file relative to the packages directory.

    `place`, the file, is empty if another function created the backend, or if the backend is imported only at its first
    use. `missing` is a requirement that this machine or `torch.compile` does not meet: a package, or an argument that
    `torch.compile` does not pass. It is empty if no such requirement is known.
    """

    name: str
    tags: tuple[str, ...] = ()
    place: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """An option of `torch._inductor.config` or `torch._dynamo.config` in the fork server's process.

    `value` and `default` are written as Python source, and `changed` is True if they differ. An alias has neither;
    `alias` is the full name of its option. `variables` are the environment variables that torch reads for the default,
    and `environment` are the set variables, as `NAME=value`. `comment` is torch's comment on the option, and
    `deprecated` is torch's deprecation message. `line` is the line of the assignment, 0 if unknown.
    """

    module: ConfigModule
    name: str
    value: str
    default: str = ""
    changed: bool = False
    kind: str = ""
    alias: str = ""
    variables: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    comment: str = ""
    line: int = 0
    deprecated: str = ""

    @property
    def full_name(self) -> str:
        """Name with its module, as Python code reads it."""
        return f"torch._{self.module}.config.{self.name}"

    @property
    def is_set(self) -> bool:
        """True if the value differs from the default, or an environment variable sets it."""
        return self.changed or bool(self.environment)


def visible_cards() -> list[str]:
    """Return the cards in CUDA_VISIBLE_DEVICES, by index or id; empty if the variable names none."""
    return [card for card in map(str.strip, os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")) if card]


@dataclass(frozen=True, slots=True)
class Environment:
    """Capabilities of torch on this machine: versions, devices, backends, modes, options, C++ compiler.

    `devices` maps a device to its description, `logs` a name of TORCH_LOGS to torch's description. `options` are
    the configuration options. Fields are empty if torch does not report them; `problem` is why torch cannot be
    started.
    """

    torch: str = ""
    python: str = ""
    devices: dict[str, str] = field(default_factory=dict)
    backends: tuple[str, ...] = ()
    entries: tuple[BackendEntry, ...] = ()
    modes: dict[str, dict[str, bool | int | float | str | None]] = field(default_factory=dict)
    options: tuple[ConfigOption, ...] = ()
    logs: dict[str, str] = field(default_factory=dict)
    cpus: int = 0
    compiler: str | None = None
    problem: str = ""


def cpp_compiler() -> str | None:
    """Return the C++ compiler that Inductor would use; None if there is none."""
    return shutil.which(os.environ.get("CXX", "g++"))


def package_version(name: str) -> str:
    """Return the version of an installed package, without importing it; empty if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


@cache
def code_version() -> str:
    """Return a digest of the sizes and times of core's files; caches of another digest are outdated."""
    core = Path(__file__).resolve().parents[1]
    files = sorted((str(path.relative_to(core)), path.stat()) for path in core.rglob("*.py"))
    texts = (f"{name} {status.st_size} {status.st_mtime_ns}" for name, status in files)
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=16).hexdigest()


def own_module(name: str) -> str:
    """Return the name by which this process imports a module of Compileboard, such as `core.worker`."""
    return f"{PACKAGE}.{name}" if PACKAGE else name


def own_process(name: str, *arguments: str) -> tuple[str, ...]:
    """Return the command of a module of ours in a new process, which must start in `PROJECT_DIR`."""
    return (sys.executable, "-m", own_module(name), *arguments)


def python_path() -> str:
    """Return a PYTHONPATH with which another Python finds Compileboard.

    Compileboard's directory comes first, then the entries of the current PYTHONPATH. Compileboard's directory is left
    out if it is a directory of installed packages: Python searches PYTHONPATH before the standard library, so an
    installed package could hide a module of the standard library.
    """
    installed = (*site.getsitepackages(), site.getusersitepackages())
    ours = "" if str(PROJECT_DIR) in installed else str(PROJECT_DIR)
    return os.pathsep.join(filter(None, [ours, os.environ.get("PYTHONPATH", "")]))


def default_home() -> Path:
    """Return the directory of the default store: `COMPILEBOARD_HOME`, otherwise `~/.compileboard`."""
    return Path(os.environ.get("COMPILEBOARD_HOME") or "~/.compileboard").expanduser()


def temporary_dir() -> Path:
    """Return the directory of temporary files; TMPDIR or `/tmp` if the disk is full."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        return Path(os.environ.get("TMPDIR") or "/tmp")


def build_cache(part: str) -> Path:
    """Return the cache directory for a part's built files."""
    return Path(os.environ.get("COMPILEBOARD_CACHE") or temporary_dir() / "compileboard") / part


def build_once(path: Path, make: Callable[[Path], None]) -> bool:
    """Build a file unless it exists; return True if it was built now.

    `make` gets a path with the same name in a fresh directory. One process builds at a time; the others use its result.
    """
    if path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    # A lock of the system ends with its process; a soft lock file would remain after a crash and block all later
    # builds.
    lock = FileLock(path.parent / "lock", fallback_to_soft=False)
    with lock, tempfile.TemporaryDirectory(dir=path.parent) as folder:
        if path.exists():
            return False
        make(Path(folder) / path.name)
        shutil.move(Path(folder) / path.name, path)
    return True


TASKS = Path("/proc/self/task")
# CPU times that count as work; `steal` is the hypervisor's work for other machines.
WORKING = ("user", "nice", "system", "irq", "softirq", "steal")


@dataclass(frozen=True, slots=True)
class Load:
    """Load of the machine by other processes during a measurement.

    `others` is the share of the CPUs that other processes used. `waited` is the share of runnable time in which
    the run's threads waited for a CPU. `stolen` is the share of the CPUs that a hypervisor gave to other
    machines; `others` includes it. A share is None if the system does not report it.
    """

    others: float | None = None
    waited: float | None = None
    stolen: float | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Seconds so far: wall clock, all work on this process's CPUs, and this process's work.

    `ran_s` and `waited_s` are the seconds that the process's threads ran and waited for a CPU. `stolen_s` are the
    seconds that a hypervisor gave these CPUs to other machines. None if the system does not report them.
    """

    clock_s: float
    busy_s: float
    own_s: float
    ran_s: float | None
    waited_s: float | None
    stolen_s: float | None = None


class LoadWatch:
    """Watch of the load since its creation."""

    def __init__(self) -> None:
        self._cpus = _cpus()
        self._start = _reading(self._cpus)

    def load(self) -> Load:
        """Return the load since the watch was created."""
        return shares(self._start, _reading(self._cpus), len(self._cpus))


def shares(then: Reading, now: Reading, cpus: int) -> Load:
    """Return the load between two readings on a number of CPUs."""
    others_s = (now.busy_s - then.busy_s) - (now.own_s - then.own_s)
    total_s = (now.clock_s - then.clock_s) * cpus
    return Load(min(1.0, max(0.0, others_s / total_s)), _waited_share(then, now), _stolen_share(then, now, total_s))


def _stolen_share(then: Reading, now: Reading, total_s: float) -> float | None:
    if then.stolen_s is None or now.stolen_s is None:
        return None
    return min(1.0, max(0.0, now.stolen_s - then.stolen_s) / total_s)


def _waited_share(then: Reading, now: Reading) -> float | None:
    if then.ran_s is None or now.ran_s is None or then.waited_s is None or now.waited_s is None:
        return None
    ran_s, waited_s = max(0.0, now.ran_s - then.ran_s), max(0.0, now.waited_s - then.waited_s)
    return waited_s / (ran_s + waited_s) if ran_s + waited_s else 0.0


def _reading(cpus: list[int]) -> Reading:
    times = psutil.cpu_times(percpu=True)
    busy_s = sum(getattr(times[cpu], name, 0.0) for cpu in cpus for name in WORKING)
    stolen_s = sum(times[cpu].steal for cpu in cpus) if hasattr(times[0], "steal") else None
    ran_s, waited_s = _thread_seconds()
    return Reading(time.perf_counter(), busy_s, time.process_time(), ran_s, waited_s, stolen_s)


def _cpus() -> list[int]:
    """Return the CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(psutil.cpu_count() or 1))


def _thread_seconds() -> tuple[float, float] | tuple[None, None]:
    """Return the seconds that the threads ran and waited for a CPU, by Linux's `schedstat`, if there."""
    try:
        counts = [(task / "schedstat").read_text().split() for task in TASKS.iterdir()]
    except OSError:
        return None, None
    return sum(int(ran) for ran, _, _ in counts) / 1e9, sum(int(waited) for _, waited, _ in counts) / 1e9


def memory_bytes() -> tuple[int, int]:
    """Return the available and the total bytes of memory."""
    memory = psutil.virtual_memory()
    return int(memory.available), int(memory.total)
