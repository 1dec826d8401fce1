"""Command-line parser with suggestions of similar names, and the usage of one command in errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

USAGE = 2


class CommandParser(argparse.ArgumentParser):
    """Parser of a command and of its subcommands; an error exits with 2."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the parsed arguments; an unknown argument is an error of the command's own parser."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [name for name in unknown if name.startswith("-")]
            hint = suggested(options[0].partition("=")[0], self.option_names()) if options else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed, unknown

    @property
    def commands(self) -> dict[str, argparse.ArgumentParser]:
        """Return the parsers of the commands by their names."""
        added = next(action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return dict(added.choices)

    def option_names(self) -> list[str]:
        """Return the names of all options."""
        return [name for action in self._actions for name in action.option_strings]

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and the usage without options, and exit with 2."""
        shown = [action for action in self._actions if action.required or not action.option_strings]
        formatter = self._get_formatter()
        formatter.add_usage(f"%(prog)s{' [OPTION…]' if self.option_names() else ''} {self._arguments(shown)}", [], [])
        sys.stderr.write(f"{self.prog}: {message}\n{formatter.format_help()}`{self.prog} --help` explains them.\n")
        sys.exit(USAGE)

    def _arguments(self, actions: Iterable[argparse.Action]) -> str:
        """Return actions as argparse writes them in a usage."""
        formatter = self._get_formatter()
        formatter.add_usage(None, actions, [], prefix="")
        return " ".join(formatter.format_help().split()).removeprefix(self.prog).strip()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise ArgumentError, with the most similar choices, for a value that is none of an action's choices."""
        choices = [str(choice) for choice in action.choices or ()]
        if action.choices is None or value in action.choices:
            return
        what = "command" if isinstance(action, argparse._SubParsersAction) else "value"
        hint = suggested(str(value), choices) or f"; there are {', '.join(choices)}"
        raise argparse.ArgumentError(None if what == "command" else action, f"there is no {what} `{value}`{hint}")


def suggested(name: str, known: Sequence[str]) -> str:
    """Return `; did you mean …?` with the names that are most similar; empty without a similar name."""
    close = get_close_matches(name[:100], known, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""
