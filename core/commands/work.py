"""`core work` runs a worker for a server's runs; `core audit` prints the changes made by people."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from pathlib import Path

from core.base.errors import SettingError
from core.base.files import one_line, read
from core.base.words import limit_s as in_words
from core.commands.output import OK, add_json_option, seconds
from core.report import as_json
from core.runs.engine.cluster.host import Host
from core.runs.engine.cluster.workers import Puller
from core.runs.people import MOST_TEXT_CHARS, audit_events
from core.runs.store import Store

MOST_TOKEN_BYTES = 1_000  #: the file of a worker's token
LOOK_S = 0.5


def add_work_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `work`."""
    command.set_defaults(function=_work)
    command.add_argument("--server", metavar="URL", required=True, help="address at which the server's workers connect")
    command.add_argument(
        "--token-file", metavar="FILE", type=Path, required=True, help="file with the token, the server's workers-token"
    )
    command.add_argument("--name", default="", metavar="NAME", help="name of this machine in the dashboard (its own)")
    command.add_argument(
        "--idle-limit", type=seconds, metavar="S", help="end after S seconds without a run; by default, never"
    )
    command.add_argument("--samples-only", action="store_true", help="run samples, and no code of visitors")


def _work(arguments: argparse.Namespace) -> int:
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
    """Add the options of `audit`."""
    command.set_defaults(function=_audit)
    command.add_argument("--by", metavar="ADDRESS", default="", help="actions of one person")
    command.add_argument("--refused", action="store_true", help="only what was refused")
    add_json_option(command)


def _audit(arguments: argparse.Namespace) -> int:
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
