"""Sandbox of bubblewrap on this machine as the transport to a host in it.

The sandbox's root is empty. System libraries, Python, torch and Compileboard's code are shown in it; files are written
in memory. The server and the host talk through a pipe.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from core.base.errors import SettingError
from core.base.files import one_line
from core.base.machine import DASHBOARD_DIR, PACKAGE, PROJECT_DIR, own_process, python_path
from core.runs.engine.cluster.bridge import (
    BridgeCall,
    BridgeNodes,
    BridgeOutput,
    BridgeReply,
    BridgeTransport,
    answer_calls,
)
from core.runs.engine.cluster.host import Host
from core.runs.store import Store

FORM = "sandbox"
PROGRAM = "bwrap"
# Variables with more paths that runs may read, and that none may read, separated as in PATH.
SHOW, HIDE = "COMPILEBOARD_SANDBOX_SHOW", "COMPILEBOARD_SANDBOX_HIDE"
MISSING = "the engine `sandbox` needs bubblewrap, which is not installed (apt-get install bubblewrap)"
HOME_INSIDE = "/tmp/compileboard"
# Programs, libraries and headers of the system; only links may have other names (`/lib` → `usr/lib`).
ROOT_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
LIBRARIES = ("bin", "include", "lib", "lib32", "lib64", "libexec", "nvvm", "targets", "*-linux-gnu", "pyvenv.cfg")
SYSTEM = (
    *("/usr/sbin", "/usr/share", "/nix/store", "/etc/alternatives", "/etc/ld.so.*", "/etc/localtime"),
    *(f"{prefix}/{part}" for prefix in ("/usr", "/usr/local") for part in LIBRARIES),
)
# What the kernel says of CPUs, devices and drivers.
HARDWARE = ("/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/module")
TOOLKITS = ("/usr/local/cuda*", "/opt/rocm*")
TOOLKIT_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "ROCM_HOME", "ROCM_PATH")
# Settings of the whole system, which root of a namespace without rights may still write.
SETTINGS = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
# Bytes of memory for the files in the sandbox, with those of shared memory; bytes of a directory that hides others.
MOST_BYTES = 8 * 1024**3  #: limit: files that runs write in the sandbox
SHARED_BYTES, HIDING_BYTES = 2 * 1024**3, 4096
WRITABLE = {"/tmp": MOST_BYTES - SHARED_BYTES, "/dev/shm": SHARED_BYTES}
CARDS = ("nvidia*", "dri", "kfd", "accel*")
# Variables that decide what a compiler and torch do; all others may hold secrets, and stay outside.
KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "CC", "CXX", "LD_LIBRARY_PATH", *TOOLKIT_VARIABLES)
KEPT_PREFIXES = ("CUDA_", "NVIDIA_", "TORCH", "TRITON_", "OMP_", "MKL_", "ROCR_", "HIP_")
SECRET = re.compile(r"key|token|secret|passw|pwd|credential|auth|login|cookie", re.IGNORECASE)
STREAMLIT = Path(".streamlit") / "secrets.toml"
TRY_S = 20.0
# Prints each path of the arguments that has content, run in the sandbox.
READABLE = """
import os, sys
for path in sys.argv[1:]:
    try:
        content = os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
    except OSError:
        continue
    if content:
        print(path)
"""


class SandboxTransport(BridgeTransport):
    """Host in a sandbox on this machine.

    If the host ends, its runs are lost. Raises SettingError if no sandbox can be started, or if a secret stays
    readable in it.
    """

    def __init__(self, store: Store) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            raise SettingError(MISSING)
        prefix, variables = [program, *options(store.home, os.environ)], variables_of(os.environ)
        _check([*prefix, "--"], variables, secrets_of(store.home, os.environ))
        command = (
            *prefix,
            "--",
            *own_process("core.runs.engine.transports.sandbox", f"sandbox on {os.uname().nodename}"),
        )
        super().__init__("sandbox", "the sandbox", command, keeps_earlier=False, environment=variables)


def transport(address: str, store: Store, code_allowed: bool) -> SandboxTransport:
    """Return the transport of an engine's address."""
    return SandboxTransport(store)


def options(home: Path, environment: Mapping[str, str]) -> list[str]:
    """Return bubblewrap's options for a server with a store's home and an environment.

    The root is empty. System libraries, Python, torch and Compileboard's code are shown in it, read-only. Then the
    store's home, secret files and a local archive are hidden, in case they are below a shown directory. The environment
    is that of bubblewrap's process, since its first process in the sandbox shows it to all others there.
    """
    shown, links = _shown(environment)
    hidden = [path for path in secrets_of(home, environment) if any(_overlap(path, each) for each in shown)]
    return [
        *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--dev", "/dev", "--proc", "/proc"),
        *(option for path in SETTINGS for option in ("--ro-bind-try", path, path)),
        *(option for path in ROOT_LINKS for option in _root_options(Path(path))),
        *_each("--dev-bind", (str(path) for pattern in CARDS for path in sorted(Path("/dev").glob(pattern)))),
        *(option for path, size in WRITABLE.items() for option in ("--size", str(size), "--tmpfs", path)),
        *("--symlink", "/tmp", "/var/tmp", "--remount-ro", "/dev"),
        *_each("--ro-bind-try", map(str, shown)),
        *(option for path in links for option in ("--symlink", str(path.resolve()), str(path))),
        *(option for path in hidden for option in _hiding_options(path)),
        *("--dir", HOME_INSIDE, "--dir", str(PROJECT_DIR), "--remount-ro", "/", "--chdir", str(PROJECT_DIR)),
    ]


def secrets_of(home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the paths that exist and that no run may read, with links resolved.

    These are the store, a local archive, the files of the sign-in, and the paths that the owner hides.
    """
    hidden = environment.get(HIDE, "").split(os.pathsep)
    files = environment.get("STREAMLIT_SECRETS_FILES", "").replace(",", os.pathsep).split(os.pathsep)
    archive = environment.get("COMPILEBOARD_ARCHIVE", "").removeprefix("file://")
    named = (environment.get("COMPILEBOARD_PEOPLE", ""), archive, *hidden, *files)
    folders = (PROJECT_DIR, DASHBOARD_DIR, Path.cwd(), Path.home())
    paths = (home, *(folder / STREAMLIT for folder in folders), *(Path(name) for name in named if name))
    return tuple(dict.fromkeys(path.resolve() for path in paths if path.exists()))


def variables_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the sandbox: what a compiler and torch need, without secrets."""
    kept = {
        name: value
        for name, value in environment.items()
        if (name in KEPT or name.startswith(KEPT_PREFIXES)) and not SECRET.search(name) and "://" not in value
    }
    ours = {"COMPILEBOARD_HOME": HOME_INSIDE, "HOME": HOME_INSIDE, "TMPDIR": "/tmp", "PYTHONPATH": python_path()}
    return {**kept, **ours, "USER": "compileboard"}


def _each(option: str, paths: Iterable[str]) -> list[str]:
    return [word for path in paths for word in (option, path, path)]


def _root_options(path: Path) -> tuple[str, ...]:
    """Return the options for a directory of the root, which is a link on most systems."""
    if path.is_symlink():
        return ("--symlink", os.readlink(path), str(path))
    return ("--ro-bind-try", str(path), str(path))


def _hiding_options(path: Path) -> tuple[str, ...]:
    if path.is_dir():
        return ("--size", str(HIDING_BYTES), "--tmpfs", str(path), "--remount-ro", str(path))
    return ("--ro-bind", os.devnull, str(path))


def _overlap(first: Path, second: Path) -> bool:
    return first.is_relative_to(second) or second.is_relative_to(first)


def _shown(environment: Mapping[str, str]) -> tuple[list[Path], list[Path]]:
    """Return the paths to show, each once and none below another, and links to them."""
    system = (found for pattern in (*SYSTEM, *HARDWARE, *TOOLKITS) for found in Path("/").glob(pattern.lstrip("/")))
    toolkits = (Path(environment[name]) for name in TOOLKIT_VARIABLES if environment.get(name))
    libraries = environment.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    owners = environment.get(SHOW, "").split(os.pathsep)
    named = (*_python(), *toolkits, *_compilers(environment), *(Path(name) for name in (*libraries, *owners)))
    wanted = {*system, *(path for path in named if path.is_absolute() and path.exists() and not _is_wide(path))}
    shown = _highest((path.resolve() for path in wanted), ROOT_LINKS)
    return shown, _highest((path for path in wanted if path != path.resolve()), (*ROOT_LINKS, *shown))


def _highest(paths: Iterable[Path], above: Iterable[Path | str]) -> list[Path]:
    """Return the paths that are below none of the others and of `above`."""
    highest: list[Path] = []
    for path in sorted(set(paths)):
        if not any(map(path.is_relative_to, (*highest, *above))):
            highest.append(path)
    return highest


def _is_wide(path: Path) -> bool:
    """Return True if a directory has people's files or the project's as a whole, not libraries alone."""
    whole = (Path.home().resolve(), *(() if PACKAGE else (PROJECT_DIR,)))
    return any(each.is_relative_to(path.resolve()) for each in whole)


def _python() -> set[Path]:
    """Return the paths of Python, of its packages and of Compileboard."""
    executable, links = Path(sys.executable), set()
    while executable.is_symlink():
        executable = executable.parent / os.readlink(executable)
        links.add(executable)
    prefixes = (path for prefix in (sys.prefix, sys.base_prefix) for path in _parts(Path(prefix)))
    return {*prefixes, *links, *map(Path, _import_path()), *_packages(), Path(__file__).parents[3]}


def _parts(prefix: Path) -> Iterator[Path]:
    """Yield the programs, libraries and headers below the prefix of an installation."""
    return (path for part in LIBRARIES for path in prefix.glob(part))


def _import_path() -> list[str]:
    """Return `sys.path` of a Python that starts in the sandbox; this process may have more in its own."""
    command = [sys.executable, "-c", "import sys; print(*filter(None, sys.path), sep='\\n')"]
    environment = {**os.environ, "PYTHONPATH": python_path()}
    told = subprocess.run(command, cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, check=False)
    return told.stdout.splitlines()


def _packages() -> Iterator[Path]:
    """Yield the directories of torch and Triton, which may be installed from a checkout."""
    for name in ("torch", "triton"):
        spec = importlib.util.find_spec(name)
        yield from map(Path, (spec.submodule_search_locations or ()) if spec else ())


def _compilers(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the paths of the compilers that the environment names."""
    for name in ("CC", "CXX"):
        found = shutil.which(environment.get(name, "").partition(" ")[0])
        if found:
            yield from _parts(Path(found).resolve().parent.parent)


def _check(prefix: Sequence[str], variables: Mapping[str, str], secret: Sequence[Path]) -> None:
    """Start Python in a sandbox that looks for the secrets; raises SettingError if it fails, or reads one."""
    command = [*prefix, sys.executable, "-c", READABLE, *map(str, secret)]
    try:
        tried = subprocess.run(command, env=variables, capture_output=True, timeout=TRY_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SettingError(f"this machine has no sandbox: {one_line(str(error), 300)}") from None
    if tried.returncode:
        reason = one_line(tried.stderr.decode("utf-8", "replace"), 300)
        raise SettingError(f"this machine has no sandbox: {reason}")
    if readable := tried.stdout.decode("utf-8", "replace").splitlines():
        raise SettingError(f"runs in the sandbox could read {readable[0]}; move it away from Python and from {SHOW}")


NODES_S = 1.0
# Calls that are answered at once: a large file keeps no other call waiting.
THREADS = 8


def main(name: str) -> None:
    """Answer calls until the input ends, and report the host every second."""
    output = BridgeOutput()
    host = Host(name=name)

    def report() -> None:
        while True:
            output.write(BridgeNodes(host.id, (host.id,)))
            time.sleep(NODES_S)

    def answer(call: BridgeCall) -> None:
        output.write(BridgeReply(call.number, host.answer(call.data)))

    threading.Thread(target=report, daemon=True).start()
    answer_calls(answer, THREADS)
    host.close()
    # Calls that hang would keep the process.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
