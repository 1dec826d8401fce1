"""python -m tests.matrix [VERSION…]: the live tests with each supported torch, each in an environment of its own.

An environment is made once, as `.matrix/VERSION`, with the build of torch that this machine's index offers; what pytest
printed is kept beside it as `.matrix/VERSION.txt`. Prints a table, and fails if a test did.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.supply import pins
from tests.support.places import ROOT

HOME = ROOT / ".matrix"
VERSIONS = ("2.11.0", "2.13.0", "2.15.0")
# These come with torch, or are for work on the code alone.
LEFT_OUT = ("torch", "triton", "ruff", "mypy", "deno")
# Triton 3.6, which torch 2.11 brings, interprets kernels with an older NumPy alone.
BESIDE = {"2.11.0": ("numpy<2.4",)}
COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped)\b")
BUILD = "import torch, triton; print(torch.__version__, triton.__version__)"
HEAD = "| torch | Triton | passed | failed | errors | skipped | minutes |\n|---|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What pytest said of one version, by its own words, and the minutes that it took."""

    torch: str
    triton: str
    counts: dict[str, int]
    minutes: float

    @property
    def good(self) -> bool:
        """Whether tests passed, and none did not."""
        return bool(self.counts.get("passed")) and not self.counts.keys() & {"failed", "error", "errors"}

    @property
    def words(self) -> str:
        """The outcome as Markdown."""
        errors = self.counts.get("error", 0) + self.counts.get("errors", 0)
        numbers = (self.counts.get("passed", 0), self.counts.get("failed", 0), errors, self.counts.get("skipped", 0))
        return f"| {self.torch} | {self.triton} | {' | '.join(map(str, numbers))} | {self.minutes:.1f} |"


def requirements(version: str, *texts: str) -> list[str]:
    """What an environment needs beside torch, from requirements as text, with that torch before it."""
    lines = [line.partition("#")[0].strip() for text in texts for line in text.splitlines()]
    rest = [line for line in lines if line and re.split(r"[= ]", line)[0] not in LEFT_OUT]
    return [f"torch=={version}", *BESIDE.get(version, ()), *rest]


def counted(output: str) -> dict[str, int]:
    """The numbers of pytest's last line."""
    return {word: int(number) for number, word in COUNT.findall(output.strip().splitlines()[-1])} if output else {}


def environment(version: str) -> Path:
    """The Python of a version's environment, made again when other packages are needed; torch goes first: its build
    decides the rest.
    """
    folder = HOME / version
    python, done = folder / "bin" / "python", folder / "done"
    runtime, development = (ROOT / "requirements.txt").read_text(), "\n".join(pins.groups()["dev"])
    needed = requirements(version, runtime, development)
    if not done.exists() or done.read_text().splitlines() != needed:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        for part in (needed[:1], needed):
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *part], check=True)
        done.write_text("\n".join(needed))
    return python


def tested(version: str) -> Outcome:
    """Run the live tests with a version."""
    python, start = environment(version), time.monotonic()
    build = subprocess.run([str(python), "-c", BUILD], cwd=ROOT, capture_output=True, text=True, check=True)
    # A report of each test that failed, and a last line with the numbers.
    command = [
        str(python),
        "-m",
        "pytest",
        "-m",
        "torch",
        "-o",
        "addopts=--strict-markers --import-mode=importlib",
        "-p",
        "no:cacheprovider",
    ]
    with (HOME / f"{version}.txt").open("w+") as output:
        subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False)
        output.seek(0)
        counts = counted(output.read())
    torch, triton = build.stdout.split()
    return Outcome(torch, triton, counts, (time.monotonic() - start) / 60)


def main() -> int:
    """Test each version and print its line; the exit code says whether all is well."""
    print(HEAD, flush=True)
    good = True
    for version in sys.argv[1:] or VERSIONS:
        found = tested(version)
        print(found.words, flush=True)
        good = good and found.good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
