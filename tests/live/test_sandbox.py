"""Runs in a sandbox: what hostile code sees and changes there, and what it leaves."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import CompileJob, Model, Run, Runner, Store
from core.base.errors import SettingError
from core.runs.engine.opening import VARIABLE, open_engine
from core.runs.engine.transports import sandbox
from core.runs.engine.transports.sandbox import HIDE, SandboxTransport, options

TRIES = """
import json, os, pathlib, socket, subprocess, torch

def says(what):
    try:
        return what()
    except OSError as error:
        return type(error).__name__

hidden = pathlib.Path({home!r})
seen = {{
    "write to the system": says(lambda: open("/etc/compileboard", "w").close()),
    "write to the project": says(lambda: open("dashboard.py", "a").close()),
    "change a setting of the system": says(lambda: open("/proc/sys/kernel/core_pattern", "a").close()),
    "the network": says(lambda: socket.create_connection(("192.0.2.1", 80), 1).close()),
    "the server's port": says(lambda: socket.create_connection(("127.0.0.1", {port}), 1).close()),
    "files of the store": says(lambda: sorted(path.name for path in hidden.iterdir())),
    "a secret of the owner's": says(lambda: pathlib.Path({secret!r}).read_text()),
    "a secret in the environment": os.environ.get("OWNERS_TOKEN"),
    "the server's process": says(lambda: os.kill({server}, 0)),
    "rights": open("/proc/self/status").read().partition("CapEff:")[2].split()[0],
    "mount": subprocess.run(["mount", "-o", "remount,rw", "/"], capture_output=True).returncode != 0,
}}
print("seen:" + json.dumps(seen), flush=True)
subprocess.Popen(["sleep", "1000"], start_new_session=True)
model, inputs = torch.nn.Linear(8, 4), (torch.ones(2, 8),)
"""


def require_sandbox(store: Store) -> None:
    if shutil.which(sandbox.PROGRAM) is None:
        pytest.skip("bubblewrap is not installed")
    try:
        SandboxTransport(store).close()
    except SettingError as error:
        pytest.skip(str(error))


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    store = Store(tmp_path / "home")
    require_sandbox(store)
    (tmp_path / "key").write_text("the owner's key")
    monkeypatch.setenv(VARIABLE, "sandbox")
    monkeypatch.setenv(HIDE, str(tmp_path / "key"))
    monkeypatch.setenv("OWNERS_TOKEN", "secret")
    runner = Runner(store, open_engine(store))
    yield runner
    runner.engine.close()


def processes() -> set[str]:
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listed.splitlines() if "sleep 1000" in line}


def test_code_in_a_sandbox_sees_and_changes_nothing_outside(tmp_path: Path, runner: Runner) -> None:
    before = processes()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = TRIES.format(
            home=str(runner.store.home),
            secret=str(tmp_path / "key"),
            server=os.getpid(),
            port=listener.getsockname()[1],
        )
        job = CompileJob(Model("code", code), measure=False, time_limit_s=300)
        run: Run = runner.wait(runner.submit(job))
    assert (run.status().state, run.status().reason, run.status().node.startswith("sandbox on ")) == ("done", "", True)
    seen = json.loads(run.output_tail().partition("seen:")[2].splitlines()[0])
    assert seen == {
        "write to the system": "OSError",
        "write to the project": "OSError",
        "change a setting of the system": "OSError",
        "the network": "OSError",
        "the server's port": "ConnectionRefusedError",
        "files of the store": [],
        "a secret of the owner's": "PermissionError",
        "a secret in the environment": None,
        "the server's process": "ProcessLookupError",
        "rights": "0000000000000000",
        "mount": True,
    }
    assert processes() == before
    assert [path.name for path in run.trace_dir.glob("*.log")] != []


def test_a_machine_without_a_sandbox_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "home")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingError, match="needs bubblewrap, which is not installed"):
        SandboxTransport(store)
    program = tmp_path / sandbox.PROGRAM
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SettingError, match="this machine has no sandbox: bwrap: No permissions"):
        SandboxTransport(store)


def test_secrets_are_hidden_after_what_python_needs_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, home = tmp_path / "project", tmp_path / "project" / "home"
    for path in (home, project / ".streamlit"):
        path.mkdir(parents=True)
    (project / ".streamlit" / "secrets.toml").write_text("")
    (tmp_path / "people.toml").write_text("")
    monkeypatch.setattr(sandbox, "PROJECT_DIR", project)
    monkeypatch.setattr(sandbox, "HIDDEN", (str(tmp_path),))
    found = " ".join(
        options(home, {"COMPILEBOARD_PEOPLE": str(tmp_path / "people.toml"), "AWS_SECRET": "x", "PATH": "/b"})
    )
    shown = found.index(f"--ro-bind {project} {project}")
    assert found.index(f"--tmpfs {tmp_path}") < shown
    for hidden in (f"--tmpfs {home}", f"--ro-bind /dev/null {project}/.streamlit/secrets.toml",
                   f"--ro-bind /dev/null {tmp_path}/people.toml"):  # fmt: skip
        assert found.index(hidden) > shown
    assert ("AWS_SECRET" in found, "--setenv PATH /b" in found) == (False, True)
