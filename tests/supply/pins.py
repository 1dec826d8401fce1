"""The files and groups that pin what is installed, and what the packages that are installed say they bring."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.places import ROOT

REQUIREMENTS = "requirements.txt"
# Groups of pyproject.toml.
DEVELOPMENT, NEIGHBOURS, RAY, LOGIN, ARCHIVE, MCP = "dev", "neighbours", "ray", "login", "archive", "mcp"
CONSTRAINTS, DEVELOPMENT_CONSTRAINTS = "constraints.txt", "constraints-dev.txt"
HASHES = "hashes.txt"
PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")
# Each CUDA build of torch brings packages of its own; its CPU build has none of them.
OF_A_BUILD = ("nvidia-", "cuda-")
HASH = re.compile(r" +\\\n +--hash=(\S+)")


def requirements(name: str) -> list[Requirement]:
    """The requirements of a file `name.txt`, or of a group of pyproject.toml."""
    if not name.endswith(".txt"):
        return [Requirement(line) for line in groups()[name]]
    text = HASH.sub("", (ROOT / name).read_text(encoding="utf-8"))
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [Requirement(line) for line in lines if line]


def groups() -> dict[str, list[str]]:
    """The groups of requirements in pyproject.toml."""
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"])


def pins(name: str) -> list[tuple[str, str]]:
    """Each package of a file or group with its version, in its order; ValueError for one that is not pinned by ==."""
    return [(canonicalize_name(item.name), _version(item)) for item in requirements(name)]


def brought(names: Iterable[str]) -> list[Requirement]:
    """All that packages require on Linux, with what that requires in turn, as their metadata say.

    A package that only another Python needs is not installed: it is in the list, what it would bring is not.
    """
    found: list[Requirement] = []
    ahead = [Requirement(name) for name in names]
    seen: set[tuple[str, frozenset[str]]] = set()
    while ahead:
        asked = ahead.pop()
        key = (canonicalize_name(asked.name), frozenset(asked.extras))
        if key not in seen:
            seen.add(key)
            required = list(_required(asked))
            found += required
            ahead += required
    return found


def is_of_a_build(name: str) -> bool:
    """Whether a package belongs to one build of torch."""
    return canonicalize_name(name).startswith(OF_A_BUILD)


def _required(package: Requirement) -> Iterator[Requirement]:
    try:
        lines = metadata.requires(package.name) or []
    except metadata.PackageNotFoundError:
        return
    for item in map(Requirement, lines):
        if not is_of_a_build(item.name) and _is_wanted(item, package.extras):
            yield item


def _is_wanted(item: Requirement, extras: Iterable[str]) -> bool:
    """Whether a requirement holds on one of the supported machines and Pythons, with one of the extras or without."""
    marker = item.marker
    return marker is None or any(
        marker.evaluate({**environment, "extra": extra}) for environment in _environments() for extra in ("", *extras)
    )


def _environments() -> Iterator[dict[str, str]]:
    linux = {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"}
    for version in PYTHONS:
        for machine in MACHINES:
            python = {"python_version": version, "python_full_version": f"{version}.0", "platform_machine": machine}
            yield {name: str(value) for name, value in {**default_environment(), **linux, **python}.items()}


def _version(item: Requirement) -> str:
    found = re.fullmatch(r"==([^*,]+)", str(item.specifier))
    if found is None:
        raise ValueError(f"{item} is not pinned")
    return found.group(1)
