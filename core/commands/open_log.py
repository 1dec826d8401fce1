"""`python -m core dashboard`, `open`, `work` and `audit`: servers, and what people do there.

`dashboard` starts the dashboard, and `open` shows a log in it, which another process may still write. `work` executes
the runs of a server on this machine; `audit` prints the changes made by people.
"""

import argparse
import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

from core.base.errors import SettingError, WorkerError
from core.base.files import one_line, read
from core.base.machine import DASHBOARD_DIR
from core.base.words import limit_s as in_words
from core.commands.output import OK, seconds
from core.report import as_json
from core.runs.engine.cluster.host import Host
from core.runs.engine.cluster.workers import Puller
from core.runs.engine.following import start_following
from core.runs.engine.opening import VARIABLE, transport_module
from core.runs.people import MOST_TEXT_CHARS, audit_events
from core.runs.store import Run, Store

HOST, PORT = "127.0.0.1", 8501
STARTS_S = 120.0
POLL_S = 0.1
ENDS_S = 10.0
# Variable for a process of several: the first port, and the secret of all (pages/gate/rules.py).
GROUP = "COMPILEBOARD_GROUP"


def add_open_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", metavar="LOG|DIR|ARCHIVE", type=Path, help="log, directory or archive of logs")
    command.add_argument("--follow", action="store_true", help="follow what another process is writing there")
    _add_address(command)


def add_dashboard_command(command: argparse.ArgumentParser) -> None:
    _add_address(command)
    command.add_argument(
        "--processes", type=int, default=1, metavar="N", help="servers of one store, on ports from --port up (1)"
    )
    command.add_argument("options", nargs="*", metavar="OPTION", help="after --: options of `streamlit run`")


def _add_address(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--port", type=int, metavar="N", help=f"port of a new dashboard ({PORT}, or else any free one)"
    )
    command.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")


def open_command(arguments: argparse.Namespace) -> int:
    """Add a path as a run, and show the run in the store's dashboard, or in a new one."""
    _end_on_sigterm()
    store = Store()
    with _run_of(store, arguments) as (run, copied):
        where = f"/overview?{urlencode({'run': run.id})}"
        running = "" if arguments.port else store.dashboard()
        if running:
            return _show(f"{running}{where}", arguments, copied)
        with _dashboard(arguments.port or _free_port(), {}) as (server, address):
            return _show(f"{address}{where}", arguments, server.wait)


def dashboard_command(arguments: argparse.Namespace) -> int:
    """Serve the dashboard until it ends, or until Ctrl-C or SIGTERM; restart a process that ends alone."""
    _end_on_sigterm()
    port = arguments.port or _free_port()
    if arguments.processes < 2:
        with _dashboard(port, _variables(arguments), arguments.options) as (server, address):
            return _show(address, arguments, server.wait)
    group = f"{port}:{secrets.token_urlsafe(32)}"
    variables = {**_variables(arguments), GROUP: group}
    with contextlib.ExitStack() as stack:

        def start(at: int) -> subprocess.Popen[bytes]:
            return stack.enter_context(_dashboard(at, variables, arguments.options))[0]

        servers = {at: start(at) for at in range(port, port + arguments.processes)}
        print("\n".join(map(_address, servers)))
        return _show(f"{_address(port)}/?token={group.partition(':')[2]}", arguments, lambda: _keep(servers, start))


def _variables(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the variables of the dashboard; raises SettingError for an engine that does not exist."""
    address = os.environ.get(VARIABLE, "") if arguments.engine is None else arguments.engine
    if address:
        transport_module(address)
    return {} if arguments.engine is None else {VARIABLE: arguments.engine}


def _end_on_sigterm() -> None:
    """Make SIGTERM end this process like Ctrl-C, so that its dashboards end too."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _keep(servers: dict[int, subprocess.Popen[bytes]], start: Callable[[int], subprocess.Popen[bytes]]) -> None:
    """Restart each server that ends, on its port; raises WorkerError if a server does not start."""
    while True:
        for port, server in servers.items():
            if (code := server.poll()) is not None:
                print(f"the dashboard on port {port} has ended with exit code {code}, and is started again", flush=True)
                servers[port] = start(port)
        time.sleep(POLL_S)


def _show(url: str, arguments: argparse.Namespace, wait: Callable[[], object]) -> int:
    """Print an address, open it in a browser, and call `wait`, which Ctrl-C and SIGTERM interrupt."""
    print(url, flush=True)
    if not arguments.no_browser:
        webbrowser.open(url)
    with contextlib.suppress(KeyboardInterrupt):
        wait()
    return OK


@contextlib.contextmanager
def _run_of(store: Store, arguments: argparse.Namespace) -> Iterator[tuple[Run, Callable[[], object]]]:
    """Yield the run, and a function that waits until the log is copied completely."""
    if not arguments.follow:
        yield store.add_path(arguments.path), lambda: None
        return
    run, process = start_following(store, arguments.path)
    try:
        yield run, process.wait
    finally:
        process.communicate(timeout=ENDS_S)


@contextlib.contextmanager
def _dashboard(
    port: int, variables: Mapping[str, str], more: Sequence[str] = ()
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a dashboard; yield its process and its address. Raises WorkerError if it cannot listen."""
    if not _listening_port(port):
        raise WorkerError(f"port {port} is taken; choose another one with --port")
    # -P: no module of the current directory hides one of Python's. Streamlit reads .streamlit beside dashboard.py.
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(DASHBOARD_DIR / "dashboard.py")]
    options = ["--server.headless", "true", "--server.address", HOST, "--server.port", str(port), *more]
    print(f"starting the dashboard on port {port}", file=sys.stderr, flush=True)
    server = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, env={**os.environ, **variables})
    try:
        _wait_until_it_listens(server, port)
        yield server, _address(port)
    finally:
        server.terminate()
        server.wait(ENDS_S)


def _address(port: int) -> str:
    return f"http://{HOST}:{port}"


def _wait_until_it_listens(server: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the dashboard answers, before its address is stored; raises WorkerError."""
    end_s, direct = time.monotonic() + STARTS_S, build_opener(ProxyHandler({}))
    while time.monotonic() < end_s and server.poll() is None:
        try:
            direct.open(f"{_address(port)}/_stcore/health", timeout=ENDS_S).close()
        except (HTTPError, HTTPException):
            # Under another path, or with TLS.
            return
        except OSError:
            time.sleep(POLL_S)
        else:
            return
    raise WorkerError(f"the dashboard does not listen on port {port}; choose another one with --port")


def _free_port() -> int:
    """Return Streamlit's usual port if it is free, otherwise any free port; raises WorkerError."""
    if port := _listening_port(PORT) or _listening_port(0):
        return port
    raise WorkerError("no port is free; choose one with --port")


def _listening_port(port: int) -> int:
    """Return the port at which a dashboard can listen, any free one for 0; 0 if another process has it."""
    with contextlib.suppress(OSError), socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        return int(listening.getsockname()[1])
    return 0


MOST_TOKEN_BYTES = 1_000  #: the file of a worker's token
LOOK_S = 0.5


def add_work_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("--server", metavar="URL", required=True, help="address at which the server's workers connect")
    command.add_argument(
        "--token-file", metavar="FILE", type=Path, required=True, help="file with the token, the server's workers-token"
    )
    command.add_argument("--name", default="", metavar="NAME", help="name of this machine in the dashboard (its own)")
    command.add_argument(
        "--idle-limit", type=seconds, metavar="S", help="end after S seconds without a run; by default, never"
    )
    command.add_argument("--samples-only", action="store_true", help="run samples, and no code of visitors")


def work_command(arguments: argparse.Namespace) -> int:
    """Answer the server's calls until Ctrl-C, SIGTERM or the idle limit; live runs are interrupted."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    token = _token(arguments.token_file)
    host = Host(name=arguments.name, code_allowed=not arguments.samples_only)
    print(f"this is {host.name}, host {host.id}", file=sys.stderr, flush=True)
    if arguments.idle_limit is not None:
        threading.Thread(target=_end_when_idle, args=(host, arguments.idle_limit, ended), daemon=True).start()
    Puller(arguments.server, token, host, _say).run(ended)
    return OK


def _end_when_idle(host: Host, limit_s: float, ended: threading.Event) -> None:
    """Set `ended` once a host has had no run for `limit_s` seconds."""
    since_s = time.monotonic()
    while not ended.wait(LOOK_S):
        if host.is_busy():
            since_s = time.monotonic()
        elif time.monotonic() - since_s >= limit_s:
            _say(f"no run for {in_words(limit_s)}: this worker ends")
            ended.set()


def _token(path: Path) -> str:
    try:
        return read(path, MOST_TOKEN_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SettingError(f"the token in {path} cannot be read: {reason}") from None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def add_audit_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("--by", metavar="ADDRESS", default="", help="actions of one person")
    command.add_argument("--refused", action="store_true", help="only what was refused")


def audit_command(arguments: argparse.Namespace) -> int:
    listed = [
        event
        for event in audit_events(Store().home)
        if arguments.by in ("", event.by) and not (arguments.refused and event.outcome != "refused")
    ]
    if arguments.json:
        sys.stdout.write(as_json(listed).decode() + "\n")
        return OK
    for event in listed:
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(event.at_s))
        texts = (event.by, event.action, event.subject, event.outcome, event.reason)
        print("  ".join((at, *filter(None, (one_line(text, MOST_TEXT_CHARS) for text in texts)))))
    return OK
