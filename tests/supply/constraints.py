"""python -m tests.supply.constraints: write constraints.txt, constraints-dev.txt and hashes.txt again, from what pip
chooses today.

pip resolves in an empty environment of the oldest supported Python, so that what it chooses is good for the others too,
and installs nothing. Hashes are those of the wheels that the image may take: Linux, each supported Python, two kinds of
machine.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from tests.supply import pins
from tests.support.places import ROOT

RUNTIME_HEAD = """\
# Written by `make constraints`: all that requirements.txt brings. What one build of torch alone brings is left to that build.
"""  # noqa: E501
DEVELOPMENT_HEAD = "# Written by `make constraints`: all that `dev` of pyproject.toml brings beyond constraints.txt.\n"
HASHES_HEAD = """\
# Written by `make constraints`: requirements.txt and constraints.txt with the hashes of their wheels for Linux, for the image.
# torch is not here: its file is another one for each build.
"""  # noqa: E501
GLIBC_MINORS = range(17, 40)

Packages = dict[str, str]


def main() -> int:
    """Resolve, then write the three files."""
    python = shutil.which(f"python{pins.PYTHONS[0]}")
    if python is None:
        print(f"There is no python{pins.PYTHONS[0]}: the oldest supported Python chooses for all.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        pip = Pip(Path(folder) / "bin" / "python")
        chosen = dict(pins.pins(pins.REQUIREMENTS))
        runtime = pip.resolve("-r", pins.REQUIREMENTS)
        _write(pins.CONSTRAINTS, RUNTIME_HEAD, _lines(runtime, without=chosen))
        tools = dict(pins.pins(pins.DEVELOPMENT))
        lines = pins.groups()[pins.DEVELOPMENT]
        all_of_it = pip.resolve("-c", pins.CONSTRAINTS, "-r", pins.REQUIREMENTS, *lines)
        _write(pins.DEVELOPMENT_CONSTRAINTS, DEVELOPMENT_HEAD, _lines(all_of_it, without={**runtime, **tools}))
        _write(pins.HASHES, HASHES_HEAD, _hashed(pip, {**runtime, **chosen}))
    return 0


class Pip:
    """The pip of an environment, asked what it would install."""

    def __init__(self, python: Path) -> None:
        self.python = python

    def resolve(self, *wanted: str) -> Packages:
        """The packages that it would choose, with their versions, but those of one build of torch."""
        found = (item["metadata"] for item in self._report(*wanted))
        named = {canonicalize_name(item["name"]): item["version"] for item in found}
        return {name: version for name, version in named.items() if not pins.is_of_a_build(name)}

    def hashes(self, packages: Packages, version: str, machine: str) -> dict[str, str]:
        """The hash of each package's wheel for one Python and one kind of machine."""
        names = [f"{name}=={number}" for name, number in packages.items()]
        platforms = [f"--platform=manylinux_2_{minor}_{machine}" for minor in GLIBC_MINORS]
        where = ["--target", str(self.python.parent), "--python-version", version, *platforms]
        found = self._report("--no-deps", "--only-binary=:all:", *where, *names)
        return {
            canonicalize_name(item["metadata"]["name"]): item["download_info"]["archive_info"]["hashes"]["sha256"]
            for item in found
        }

    def _report(self, *arguments: str) -> list[dict[str, Any]]:
        pip = [str(self.python), "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
        done = subprocess.run([*pip, *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True)
        return list(json.loads(done.stdout)["install"])


def _lines(packages: Packages, without: Iterable[str]) -> list[str]:
    return [f"{name}=={version}" for name, version in sorted(packages.items()) if name not in set(without)]


def _hashed(pip: Pip, packages: Packages) -> list[str]:
    wanted = {name: version for name, version in sorted(packages.items()) if name != "torch"}
    hashes: dict[str, set[str]] = defaultdict(set)
    for version in pins.PYTHONS:
        for machine in pins.MACHINES:
            for name, digest in pip.hashes(wanted, version, machine).items():
                hashes[name].add(f"--hash=sha256:{digest}")
    return [" \\\n    ".join([f"{name}=={version}", *sorted(hashes[name])]) for name, version in wanted.items()]


def _write(name: str, head: str, lines: list[str]) -> None:
    (ROOT / name).write_text(head + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{name}: {len(lines)} packages")


if __name__ == "__main__":
    sys.exit(main())
