"""Runs in a sandbox: what hostile code sees and changes there, and what it leaves."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import core
from core import CompileJob, Model, Run, Runner, Store
from core.base.errors import SettingError
from core.base.machine import PROJECT_DIR
from core.runs.engine.opening import VARIABLE, open_engine
from core.runs.engine.transports import sandbox
from core.runs.engine.transports.sandbox import HIDE, SHOW, SandboxTransport, options, variables_of

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
    "write to the project": says(lambda: open({project!r}, "a").close()),
    "change a setting of the system": says(lambda: open("/proc/sys/kernel/core_pattern", "a").close()),
    "the network": says(lambda: socket.create_connection(("192.0.2.1", 80), 1).close()),
    "the server's port": says(lambda: socket.create_connection(("127.0.0.1", {port}), 1).close()),
    "files of the store": says(lambda: sorted(path.name for path in hidden.iterdir())),
    "a secret of the owner's": says(lambda: pathlib.Path({secret!r}).read_text()),
    "the sign-in's secret": says(lambda: (hidden.parent / "cfg" / "secrets.toml").read_text()),
    "a run in the archive": says(lambda: (hidden.parent / "archive" / "run").read_text()),
    "passwords": says(lambda: open("/etc/shadow").read()),
    "neighbours": says(lambda: os.listdir("/opt")),
    "beside the code": sorted(set(os.listdir()) - {{".venv"}}),
    "secrets in the environments": [
        path for path in pathlib.Path("/proc").glob("[0-9]*/environ") if b"secret" in path.read_bytes()
    ],
    "writable": [
        path
        for path in ("/", "/dev", "/run", "/home", "/root", "/srv", "/mnt", "/media", "/var", "/tmp", "/dev/shm")
        if os.access(path, os.W_OK)
    ],
    "gigabytes": sum(os.statvfs(path).f_blocks * os.statvfs(path).f_frsize >> 30 for path in ("/tmp", "/dev/shm")),
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
    for name in ("OWNERS_TOKEN", "NVIDIA_API_KEY", "TORCH_AUTH"):
        monkeypatch.setenv(name, "secret")
    for path in (tmp_path / "cfg" / "secrets.toml", tmp_path / "archive" / "run"):
        path.parent.mkdir()
        path.write_text("another secret")
    monkeypatch.setenv("STREAMLIT_SECRETS_FILES", str(tmp_path / "cfg" / "secrets.toml"))
    monkeypatch.setenv("COMPILEBOARD_ARCHIVE", f"file://{tmp_path}/archive")
    # A sandbox has a cache of its own: it would compile a header.
    monkeypatch.setenv("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")
    runner = Runner(store, open_engine(store))
    yield runner
    runner.engine.close()


def processes() -> set[str]:
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listed.splitlines() if "sleep 1000" in line}


@pytest.mark.promise("sandbox")
def test_code_in_a_sandbox_sees_and_changes_nothing_outside(tmp_path: Path, runner: Runner) -> None:
    """In a sandbox, code reads and changes nothing outside and has no network; its files take bounded memory."""
    before = processes()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = TRIES.format(
            home=str(runner.store.home),
            project=core.__file__,
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
        "files of the store": "FileNotFoundError",
        "a secret of the owner's": "FileNotFoundError",
        "the sign-in's secret": "FileNotFoundError",
        "a run in the archive": "FileNotFoundError",
        "passwords": "FileNotFoundError",
        "neighbours": "FileNotFoundError",
        "beside the code": [],
        "secrets in the environments": [],
        "writable": ["/tmp", "/dev/shm"],
        "gigabytes": 8,
        "the server's process": "ProcessLookupError",
        "rights": "0000000000000000",
        "mount": True,
    }
    assert processes() == before
    assert [path.name for path in run.trace_dir.glob("*.log")] != []


@pytest.mark.promise("sandbox")
def test_a_machine_without_a_sandbox_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bubblewrap, or without namespaces, nothing runs, and the reason is given."""
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


def inside(store: Store, script: str) -> list[str]:
    """Return the lines that a shell prints in a sandbox."""
    require_sandbox(store)
    command = [sandbox.PROGRAM, *options(store.home, os.environ), "--", "sh", "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, env=variables_of(os.environ), check=True)
    return result.stdout.splitlines()


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that the owner shows, under the name of a link, with secrets and the store in it."""
    shared = tmp_path / "shared"
    for name in ("cfg/secrets.toml", "people.toml", "archive/run", "data/weights", "tool/key"):
        (shared / name).parent.mkdir(parents=True, exist_ok=True)
        (shared / name).write_text(name)
    (tmp_path / "link").symlink_to(shared)
    monkeypatch.setenv(SHOW, str(tmp_path / "link"))
    monkeypatch.setenv("STREAMLIT_SECRETS_FILES", str(shared / "cfg" / "secrets.toml"))
    monkeypatch.setenv("COMPILEBOARD_PEOPLE", str(shared / "people.toml"))
    monkeypatch.setenv("COMPILEBOARD_ARCHIVE", str(shared / "archive"))
    monkeypatch.setenv(HIDE, str(tmp_path / "link" / "tool"))
    return shared


@pytest.mark.promise("sandbox")
def test_what_the_owner_shows_has_no_secrets_under_any_name(tmp_path: Path, shared: Path) -> None:
    """Paths that the owner shows to the sandbox expose no secret, also through links."""
    store = Store(shared / "home")
    (store.home / "workers-token").write_text("token")
    script = f"for each in {shared} {tmp_path}/link; do cd $each; cat */* *.toml */*/* 2>/dev/null; echo; done"
    assert inside(store, script) == ["data/weights", "data/weights"]


@pytest.mark.promise("sandbox")
def test_a_sandbox_that_would_show_a_secret_is_not_started(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a secret were readable in the sandbox, nothing runs."""
    program = tmp_path / sandbox.PROGRAM
    program.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SettingError, match=f"runs in the sandbox could read {shared}/home; move it"):
        SandboxTransport(Store(shared / "home"))


def test_an_environment_behind_a_link_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "home")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / ".venv").symlink_to(sys.prefix)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "app" / ".venv"))
    script = f"{tmp_path}/app/.venv/bin/python -c 'import sys, msgspec; print(sys.prefix)'"
    assert inside(store, script) == [str(tmp_path / "app" / ".venv")]


def test_no_directory_as_a_whole_is_shown_that_has_the_home_or_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "letter").write_text("private")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv(SHOW, os.pathsep.join(("/", str(tmp_path), str(PROJECT_DIR))))
    script = f"ls {tmp_path} {PROJECT_DIR}/dashboard.py 2>/dev/null; true"
    assert inside(Store(tmp_path / "home"), script) == []
