"""`python -m core work`: execute the runs of a server on this machine, which connects to it."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from core.base.errors import SettingError
from core.base.files import read
from core.commands.output import OK, Commands
from core.runs.engine.cluster.host import Host
from core.runs.engine.cluster.workers import Puller

MOST_TOKEN_BYTES = 1_000


def add_command(commands: Commands) -> None:
    """Add the command `work`."""
    command = commands.add_parser("work", help="execute the runs of a server on this machine")
    command.set_defaults(function=_work)
    command.add_argument("--server", metavar="URL", required=True, help="address at which the server's workers connect")
    command.add_argument(
        "--token-file", metavar="FILE", type=Path, required=True, help="file with the token, the server's workers-token"
    )
    command.add_argument("--name", default="", metavar="NAME", help="name of this machine in the dashboard (its own)")
    command.add_argument("--samples-only", action="store_true", help="run samples, and no code of visitors")


def _work(arguments: argparse.Namespace) -> int:
    """Answer the server's calls until Ctrl-C or SIGTERM; the runs that are going then end as interrupted."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    token = _token(arguments.token_file)
    host = Host(name=arguments.name, code_allowed=not arguments.samples_only)
    print(f"this is {host.name}, host {host.id}", file=sys.stderr, flush=True)
    Puller(arguments.server, token, host, _say).run(ended)
    return OK


def _token(path: Path) -> str:
    try:
        return read(path, MOST_TOKEN_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SettingError(f"the token in {path} cannot be read: {reason}") from None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
