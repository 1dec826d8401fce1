"""`python -m core completion`: a script that completes commands, options and their values in a shell."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping

from core.commands.main import COMMANDS, make_parser
from core.commands.output import OK

PROGRAM = "compileboard"
# Where commands are completed by words; `complete -o default` then completes files.
BASH = """_{program}() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words={commands}
    else
        case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
        *)
            case "${{COMP_WORDS[1]}}" in
{options}
            esac ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _{program} {program}
"""
ZSH = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"


def add_completion_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `completion`."""
    command.set_defaults(function=_print)
    command.add_argument("shell", choices=("bash", "zsh", "fish"), help="shell that reads the script")


def _print(arguments: argparse.Namespace) -> int:
    parsers = make_parser().commands
    if arguments.shell == "fish":
        print("\n".join(_fish_lines(parsers)))
    else:
        print((ZSH if arguments.shell == "zsh" else "") + _bash(parsers), end="")
    return OK


def _bash(parsers: Mapping[str, argparse.ArgumentParser]) -> str:
    """Return the script for bash, which zsh can read, too."""
    options = {
        name: " ".join(flag for action in parser._actions for flag in action.option_strings)
        for name, parser in parsers.items()
    }
    values = {
        f"{name} {flag}": " ".join(map(str, action.choices))
        for name, parser in parsers.items()
        for action in parser._actions
        for flag in action.option_strings
        if action.choices
    }
    return BASH.format(
        program=PROGRAM,
        commands=shlex.quote(" ".join(parsers)),
        values="\n".join(f"        {shlex.quote(key)}) words={shlex.quote(text)} ;;" for key, text in values.items()),
        options="\n".join(f"            {name}) words={shlex.quote(text)} ;;" for name, text in options.items()),
    )


def _fish_lines(parsers: Mapping[str, argparse.ArgumentParser]) -> Iterator[str]:
    """Yield the lines of the script for fish, which shows a description beside each word."""
    for command in COMMANDS:
        yield f"complete -c {PROGRAM} -n __fish_use_subcommand -f -a {command.name} -d {shlex.quote(command.help)}"
    for name, parser in parsers.items():
        for action in parser._actions:
            names = "".join(f" -l {flag[2:]}" for flag in action.option_strings if flag.startswith("--"))
            if not names:
                continue
            line = f"complete -c {PROGRAM} -n '__fish_seen_subcommand_from {name}'{names}"
            values = f" -f -a {shlex.quote(' '.join(map(str, action.choices)))}" if action.choices else ""
            yield f"{line}{'' if action.nargs == 0 else ' -r'}{values} -d {shlex.quote(action.help or '')}"
