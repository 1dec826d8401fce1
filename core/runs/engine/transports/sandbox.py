from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from core.base.errors import SettingError
from core.base.files import one_line
from core.base.machine import PROJECT_DIR, own_process, python_path
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
# Variable with more paths that no run may read, separated as in PATH.
HIDE = "COMPILEBOARD_SANDBOX_HIDE"
MISSING = "the engine `sandbox` needs bubblewrap, which is not installed (apt-get install bubblewrap)"
# Directories of the system in which others leave files, and what is there instead of them.
HIDDEN = ("/tmp", "/var/tmp", "/run", "/home", "/root", "/srv", "/mnt", "/media")
HOME_INSIDE = "/tmp/compileboard"
# Settings of the whole system, which root of a namespace without rights may still write.
SETTINGS = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
# Bytes of memory for the files in the sandbox.
MOST_BYTES = 8 * 1024**3
CARDS = ("nvidia*", "dri", "kfd", "accel*")
# Variables that decide what a compiler and torch do; all others may hold secrets, and stay outside.
KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "CC", "CXX", "LD_LIBRARY_PATH")
KEPT_PREFIXES = ("CUDA_", "NVIDIA_", "TORCH", "TRITON_", "OMP_", "MKL_", "ROCR_", "HIP_")
TRY_S = 20.0


class SandboxTransport(BridgeTransport):
    """Host in a sandbox on this machine; raises SettingError if no sandbox can be started.

    If the host ends, its runs are lost.
    """

    def __init__(self, store: Store) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            raise SettingError(MISSING)
        prefix = [program, *options(store.home, os.environ)]
        _try(prefix)
        command = (*prefix, "--", *own_process("core.runs.engine.transports.sandbox", f"sandbox on {_node()}"))
        super().__init__("sandbox", "the sandbox", command, keeps_earlier=False)


def transport(address: str, store: Store, code_allowed: bool) -> SandboxTransport:
    """Return the transport of an engine's address."""
    return SandboxTransport(store)


def options(home: Path, environment: Mapping[str, str]) -> list[str]:
    """Return bubblewrap's options for a server with a store's home and an environment.

    Later options override earlier ones: system directories are hidden, Python's directories in them are shown
    again, then the store's home and secret files are hidden.
    """
    hidden = [*HIDDEN, str(Path.home())]
    shown = sorted({str(path) for path in _needed() if path.is_dir() and any(map(path.is_relative_to, hidden))})
    masked = [path for path in (home, *_secrets(environment)) if path.exists()]
    return [
        *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *(option for path in SETTINGS for option in ("--ro-bind-try", path, path)),
        *_each("--dev-bind", (str(path) for pattern in CARDS for path in sorted(Path("/dev").glob(pattern)))),
        *(option for path in dict.fromkeys(hidden) if Path(path).is_dir() for option in ("--tmpfs", path)),
        *("--size", str(MOST_BYTES), "--tmpfs", "/tmp"),
        *_each("--ro-bind", shown),
        *(option for path in masked for option in _hiding_options(path.resolve())),
        *("--dir", HOME_INSIDE, "--chdir", str(PROJECT_DIR), "--clearenv"),
        *(option for name, value in _variables(environment).items() for option in ("--setenv", name, value)),
    ]


def _each(option: str, paths: Iterable[str]) -> list[str]:
    return [word for path in paths for word in (option, path, path)]


def _hiding_options(path: Path) -> tuple[str, ...]:
    return ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", os.devnull, str(path))


def _secrets(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the secret files of the sign-in, and the paths that the owner hides."""
    more = environment.get(HIDE, "").split(os.pathsep)
    people = environment.get("COMPILEBOARD_PEOPLE", "")
    return (PROJECT_DIR / ".streamlit" / "secrets.toml", *(Path(path) for path in (people, *more) if path))


def _needed() -> set[Path]:
    """Return the directories of Python, of its packages and of Compileboard."""
    imported = {Path(entry) for entry in sys.path if entry}
    return {Path(sys.prefix), Path(sys.base_prefix), PROJECT_DIR, *imported}


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if name in KEPT or name.startswith(KEPT_PREFIXES)}
    ours = {"COMPILEBOARD_HOME": HOME_INSIDE, "HOME": HOME_INSIDE, "TMPDIR": "/tmp", "PYTHONPATH": python_path()}
    return {**kept, **ours, "USER": "compileboard"}


def _try(prefix: Sequence[str]) -> None:
    """Start a sandbox that does nothing; raises SettingError with bubblewrap's reason if this fails."""
    try:
        tried = subprocess.run([*prefix, "--", "true"], capture_output=True, timeout=TRY_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SettingError(f"this machine has no sandbox: {one_line(str(error), 300)}") from None
    if tried.returncode:
        reason = one_line(tried.stderr.decode("utf-8", "replace"), 300)
        raise SettingError(f"this machine has no sandbox: {reason}")


def _node() -> str:
    return os.uname().nodename


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
