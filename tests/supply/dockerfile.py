"""What a Dockerfile says, instruction by instruction, and which files its context has: as much of both as ours use."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

CONTINUED = re.compile(r"\\\n")
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
PAIR = re.compile(r'(\w+)=("[^"]*"|\S*)')


class Machine(Protocol):
    """Where an image is built."""

    def begin(self, _base: str) -> Mapping[str, str]:
        """Start from a base image; gives its environment."""

    def run(self, command: Sequence[str], environment: Mapping[str, str], directory: str) -> None:
        """Carry a command out as root, and raise if it fails."""

    def copy(self, files: Mapping[str, str]) -> None:
        """Copy files of the context, each to its path in the image."""


@dataclass(slots=True)
class Image:
    """An image as its Dockerfile has it so far."""

    environment: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    directory: str = "/"
    user: str = "root"
    volume: str = ""
    port: str = ""
    health: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


def instructions(text: str) -> list[tuple[str, str]]:
    """Each instruction's word and what follows it, comments left out and lines joined."""
    lines = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    joined = (line.strip() for line in CONTINUED.sub("", lines).splitlines())
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined if line)]


def build(text: str, arguments: Mapping[str, str], context: Sequence[str], machine: Machine) -> Image:
    """Carry every instruction out."""
    image = Image()
    for word, rest in instructions(text):
        variables = {**image.arguments, **image.environment}
        said = rest if word == "RUN" else _filled(rest, variables)
        match word:
            case "ARG":
                name, _, default = said.partition("=")
                if name in arguments or default:
                    image.arguments[name] = arguments.get(name, default)
            case "FROM":
                if not said:
                    raise ValueError("FROM names no image")
                image = Image(dict(machine.begin(said)))
            case "ENV":
                image.environment |= {name: value.strip('"') for name, value in PAIR.findall(said)}
            case "RUN":
                machine.run(["/bin/sh", "-c", said], variables, image.directory)
            case "COPY":
                machine.copy(_copied(said.split(), context, image.directory))
            case "WORKDIR":
                image.directory = said
            case "USER":
                image.user = said
            case "VOLUME":
                image.volume = said
            case "EXPOSE":
                image.port = said
            case "HEALTHCHECK":
                image.health = tuple(json.loads(said.partition("CMD ")[2]))
            case "CMD":
                image.command = tuple(json.loads(said))
            case _:
                raise ValueError(f"{word} is not known here")
    return image


def context(root: Path) -> list[str]:
    """The files that an image may copy: all that .dockerignore leaves."""
    lines = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [(not line.startswith("!"), line.removeprefix("!")) for line in lines if line]
    return sorted(_left(root, "", rules))


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return VARIABLE.sub(lambda found: variables.get(found[1] or found[2], ""), text)


def _left(root: Path, folder: str, rules: list[tuple[bool, str]]) -> Iterator[str]:
    for entry in os.scandir(root / folder):
        path = f"{folder}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            inside = any(not ignores and f"{pattern}/".startswith(f"{path}/") for ignores, pattern in rules)
            if inside or not _is_ignored(path, rules):
                yield from _left(root, f"{path}/", rules)
        elif not _is_ignored(path, rules):
            yield path


def _is_ignored(path: str, rules: list[tuple[bool, str]]) -> bool:
    """The last rule that a path, or a folder that it is in, meets decides."""
    parts = path.split("/")
    above = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    met = [ignores for ignores, pattern in rules if any(_expression(pattern).fullmatch(name) for name in above)]
    return bool(met) and met[-1]


def _expression(pattern: str) -> re.Pattern[str]:
    escaped = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
    return re.compile(escaped)


def _copied(words: list[str], context: Sequence[str], directory: str) -> dict[str, str]:
    """Where each file goes that COPY names; a source that the context does not have is an error, as it is for
    Docker.
    """
    *sources, target = words
    folder = os.path.normpath(os.path.join(directory, target))
    files: dict[str, str] = {}
    for source in sources:
        found = [name for name in context if source in (".", name) or name.startswith(f"{source}/")]
        if not found:
            raise ValueError(f"COPY {source}: the context has no such file")
        files |= {name: f"{folder}/{name}" for name in found}
    return files
