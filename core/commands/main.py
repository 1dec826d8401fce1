"""The command line: the same runs and reports as in the browser.

The main options of each command (`--help` lists all):

    python -m core samples [--json]
    python -m core run NAME | FILE.py[:NAME] | job.json [options] [--check] [--least-speedup X] [--json]
    python -m core bisect NAME | FILE.py[:NAME] | job.json [options] [--json]
    python -m core measure RUN [--check] [--least-speedup X] [--json]
    python -m core tour RUN | NAME | FILE.py[:NAME] | job.json [options]
    python -m core captures RUN | NAME | FILE.py[:NAME] | job.json [options]
    python -m core exercises [NAME [FILE.py]] [--json]
    python -m core dashboard [--port N] [--processes N] [--no-browser] [-- OPTION…]
    python -m core open LOG | DIR | ARCHIVE [--follow] [--port N] [--no-browser]
    python -m core report RUN | LOG [--rank N] [--check] [--least-speedup X] [--json]
    python -m core pipeline NAME | FILE.py[:NAME] | job.json [options] [--out FILE] [--json]
    python -m core aoti NAME | FILE.py[:NAME] | job.json [options] [--dim WHERE=MIN..MAX] [--out DIR] [--json]
    python -m core neighbours NAME | FILE.py[:NAME] | job.json [options] [--json]
    python -m core compare RUN | LOG RUN | LOG [--check] [--least-speedup X] [--json]
    python -m core check NAME | FILE.py[:NAME] | RUN | LOG [--budget FILE] [--baseline RUN | LOG | MODEL] [--repeat N]
    python -m core ranks RUN | DIRECTORY [--processes N] [--json]
    python -m core sweep NAME | FILE.py[:NAME] | job.json [--axis FIELD=VALUE,…] [--preset NAME] [options]
    python -m core sweep --resume ID
    python -m core sweeps [ID] [--json | --csv]
    python -m core runs [TERM…] [--not TERM] [--most N] [--json]
    python -m core mark RUN [--tag WORD] [--untag WORD] [--comment TEXT] [--pin | --unpin]
    python -m core prune [TERM…] [--not TERM] [--keep N] [--due] [--delete | --move]
    python -m core archive RUN… | TERM… --out FILE.tar.gz
    python -m core import FILE.tar.gz
    python -m core backends [--json]
    python -m core issue RUN [--out FILE.zip] [--scrub KINDS] [--scrub-preview]
    python -m core debug RUN [--out FILE.zip] [--scrub KINDS] [--scrub-preview]
    python -m core logs [RUN] [--name NAME] [--compilation ID] [--search TEXT]
    python -m core artifacts RUN | LOG [--kind KIND] [--compilation ID] [--search TEXT] [--all] [--show N] [--json]
    python -m core profile RUN [FILE]
    python -m core export RUN [RIGHT] [--html FILE] [--perfetto FILE] [--scrub KINDS] [--scrub-preview]
    python -m core doctor [--no-compile] [--json]
    python -m core options [WORD…] [--module inductor|dynamo] [--changed] [--json]
    python -m core landmarks [RUN]
    python -m core audit [--by ADDRESS] [--refused] [--json]
    python -m core seeds [ITEM…]
    python -m core work --server URL --token-file FILE [--name NAME] [--samples-only]

With --json the report alone goes to standard output; progress and messages go to standard error. Exit codes:
0 done, 1 the run or every cell of the sweep failed, or the sweep stopped, 2 the command or the job is
invalid, 3 the run, sweep or log does not exist, or the log is no torch trace, 4 a --check, a limit of a
budget or a check of an exercise failed, 5 slower than --least-speedup, 6 no node could execute it in time,
130 cancelled, 141 the reader closed the output. `report` also exits with 1 if the run ended without success,
`ranks` if the ranks differ, `doctor` if there is a problem, `seeds` if a text is missing.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence

from core.base.errors import CompileboardError, JobError, NodeWaitError, SettingError, StoreError, TraceError
from core.base.machine import PROGRAM
from core.base.run_id import RUN_ID
from core.commands import (
    archive,
    backends,
    compare,
    doctor,
    export,
    logs,
    open_log,
    products,
    report,
    run,
    runs,
    samples,
    seeds,
    sweep,
    tour,
    work,
)
from core.commands.output import CANCELLED, FAILED, MISSING, NO_NODE, USAGE, complain
from core.runs.remote import VARIABLE, bring_back, is_away
from core.runs.store import Run, Store

COMMANDS = (
    samples.add_command,
    run.add_command,
    run.add_bisect_command,
    run.add_measure_command,
    tour.add_command,
    tour.add_captures_command,
    tour.add_landmarks_command,
    samples.add_exercises_command,
    open_log.add_command,
    open_log.add_dashboard_command,
    report.add_command,
    products.add_pipeline_command,
    products.add_aoti_command,
    backends.add_neighbours_command,
    compare.add_command,
    report.add_check_command,
    compare.add_ranks_command,
    sweep.add_command,
    sweep.add_list_command,
    runs.add_command,
    runs.add_mark_command,
    runs.add_prune_command,
    archive.add_command,
    archive.add_import_command,
    backends.add_command,
    export.add_issue_command,
    logs.add_debug_command,
    logs.add_command,
    logs.add_artifacts_command,
    archive.add_profile_command,
    export.add_command,
    doctor.add_command,
    doctor.add_options_command,
    work.add_audit_command,
    seeds.add_command,
    work.add_command,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = make_parser().parse_args(argv)
    try:
        _bring_back(arguments)
        return int(arguments.function(arguments))
    except (JobError, SettingError) as error:
        return complain(str(error), USAGE)
    except NodeWaitError as error:
        return complain(str(error), NO_NODE)
    except (StoreError, TraceError) as error:
        return complain(str(error), MISSING)
    except CompileboardError as error:
        return complain(str(error), FAILED)
    except KeyboardInterrupt:
        return complain("cancelled", CANCELLED)


def _bring_back(arguments: argparse.Namespace) -> None:
    """Fetch the archived files of the runs that a command names; raises CompileboardError."""
    if not os.environ.get(VARIABLE) or arguments.function in runs.NOT_OPENED:
        return
    store = Store()
    for value in vars(arguments).values():
        for name in value if isinstance(value, list) else (value,):
            if isinstance(name, str) and RUN_ID.fullmatch(name) and is_away(run := Run(name, store.runs_dir / name)):
                print(f"fetching {name} from the archive", file=sys.stderr)
                bring_back(run)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(prog=shlex.join(PROGRAM), description="What torch.compile did to a model.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    return parser
