"""python -m benchmarks.agents: tasks for coding agents, their checks, and figures of tools.

`list`, `prepare TASK DIRECTORY`, `check TASK DIRECTORY`, `run CLIENT-COMMAND --out DIR`, `table DIR`, `prove [TASK…]`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.agents import figures, proof, runner, work


def main() -> int:
    """Run a subcommand; return the exit code, 1 if something is not solved or not proven."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.agents", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="list the tasks")
    for name, text in (("prepare", "copy what a solver may see"), ("check", "check the model.py in a directory")):
        command = commands.add_parser(name, help=text)
        command.add_argument("task", choices=work.task_names(), metavar="TASK")
        command.add_argument("directory", type=Path, metavar="DIRECTORY")
    running = commands.add_parser("run", help="let a client solve tasks, then check and count")
    running.add_argument("client", help="command with {directory} and {task}, the path of task.md")
    running.add_argument("--out", type=Path, required=True, help="the directory for solutions and transcripts")
    running.add_argument("--without", action="store_true", help="the client has none of the tools")
    running.add_argument("--tries", type=int, default=1)
    running.add_argument("--seconds", type=float, default=600.0, help="the time limit of a task")
    running.add_argument("--tasks", nargs="*", default=[], metavar="TASK")
    table = commands.add_parser("table", help="count solved tasks, calls and characters of finished transcripts")
    table.add_argument("directory", type=Path, metavar="DIR", help="{with,without}/{try}/{TASK}/ below it")
    proving = commands.add_parser("prove", help="check originals, reference solutions and cheats")
    proving.add_argument("tasks", nargs="*", metavar="TASK")
    options = parser.parse_args()
    if options.command == "list":
        for name in work.task_names():
            print(f"{name:32} {work.title(name)}")
        return 0
    if options.command == "prepare":
        print(work.prepare(options.task, options.directory) / "task.md")
        return 0
    if options.command == "check":
        verdict = work.check(options.task, options.directory)
        print(f"{'solved' if verdict.solved else 'not solved'}: {verdict.reason or verdict.figures}")
        return int(not verdict.solved)
    if options.command == "prove":
        return int(not proof.prove(options.tasks or work.task_names()))
    if options.command == "run":
        tools = "without" if options.without else "with"
        names = options.tasks or work.task_names()
        runner.run_client(options.client, options.out, tools, options.tries, options.seconds, names)
    print(figures.write_table(options.out if options.command == "run" else options.directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
