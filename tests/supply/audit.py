"""python -m tests.supply.audit: look all that is pinned up among the known vulnerabilities, with pip-audit of an
environment of its own.

Exit codes: 0 none is known, 1 some are, 2 not all could be looked up, so nothing is said of the rest.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.supply import pins
from tests.support.places import ROOT

TOOL = ROOT / ".audit" / "bin" / "pip-audit"
PINNED = (
    pins.REQUIREMENTS,
    pins.CONSTRAINTS,
    pins.DEVELOPMENT,
    pins.DEVELOPMENT_CONSTRAINTS,
    pins.NEIGHBOURS,
    pins.RAY,
    pins.ARCHIVE,
)


@dataclass(frozen=True, slots=True)
class Audit:
    """What the advisory service said: a line each vulnerability, and a line each package that it does not know."""

    packages: int
    vulnerabilities: tuple[str, ...]
    skipped: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """What a script should know of it."""
        return 1 if self.vulnerabilities else 2 if self.skipped else 0

    def words(self) -> list[str]:
        """All lines, the sum last."""
        known, unknown = len(self.vulnerabilities), len(self.skipped)
        if unknown == self.packages:
            return [
                "Nothing was audited: the advisory service that can be reached from here knows none of the packages."
            ]
        total = f"{self.packages} packages: {known} known vulnerabilities, {unknown} not looked up."
        return [*self.vulnerabilities, *(f"not looked up: {line}" for line in self.skipped), total]


def read(answer: dict[str, Any]) -> Audit:
    """What pip-audit writes as JSON."""
    packages = answer["dependencies"]
    vulnerabilities = [_vulnerability(item, found) for item in packages for found in item.get("vulns", [])]
    skipped = [f"{item['name']} ({item['skip_reason']})" for item in packages if "skip_reason" in item]
    return Audit(len(packages), tuple(vulnerabilities), tuple(skipped))


def main(tool: Path = TOOL) -> int:
    """Ask, and print what was said."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        said = _ask(tool, answer)
        if not answer.exists() or not answer.stat().st_size:
            last = (said.strip().splitlines() or ["no word"])[-1]
            print(f"Nothing was audited: the advisory service did not answer ({last}).", file=sys.stderr)
            return 2
        found = read(json.loads(answer.read_text(encoding="utf-8")))
    print("\n".join(found.words()))
    return found.exit_code


def _ask(tool: Path, answer: Path) -> str:
    """Let pip-audit write its answer; gives what it says beside. It installs nothing and resolves nothing."""
    wanted = answer.with_name("pinned.txt")
    lines = (f"{name}=={version}\n" for file in PINNED for name, version in pins.pins(file))
    wanted.write_text("".join(lines), encoding="utf-8")
    options = ["--no-deps", "--disable-pip", "--progress-spinner=off", "--format=json"]
    command = [str(tool), *options, "--output", str(answer), "--requirement", str(wanted)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False).stderr


def _vulnerability(package: dict[str, Any], found: dict[str, Any]) -> str:
    names = ", ".join(found.get("aliases", []))
    mended = ", ".join(found.get("fix_versions", [])) or "no version"
    return f"{package['name']} {package['version']}: {found['id']}{names and f' ({names})'}, mended in {mended}"


if __name__ == "__main__":
    sys.exit(main())
