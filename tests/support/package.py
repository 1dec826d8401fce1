"""The package as users get it: a wheel, and an environment in which it alone is installed."""

import importlib
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.homes import CACHE, link_cache
from tests.support.places import ROOT

# setuptools puts the packages that it brings on the path, where they would count as installed.
_PATH = list(sys.path)
setup = importlib.import_module("setup")
sys.path[:] = _PATH

NEEDED = (
    "core",
    "pages",
    ".streamlit",
    "docs/skill",
    "dashboard.py",
    "setup.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
LIMIT_S = 300
QUIETLY = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-index")


def built_wheel(folder: Path) -> Path:
    """Build a wheel from a copy of the project, without a network."""
    source = folder / "source"
    source.mkdir()
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    _done([sys.executable, "-m", "pip", "wheel", *QUIETLY, "--no-build-isolation", "-w", str(folder), str(source)])
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with a wheel, beside the packages of the one that the tests run in."""

    folder: Path

    @classmethod
    def of(cls, wheel: Path, folder: Path) -> "Installed":
        _done([sys.executable, "-m", "venv", "--without-pip", str(folder)])
        python = folder / "bin" / "python"
        (packages,) = (folder / "lib").glob("python*/site-packages")
        (packages / "tested.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
        _done([sys.executable, "-m", "pip", "--python", str(python), "install", *QUIETLY, str(wheel)])
        return cls(folder)

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of the script that is installed."""
        return [str(self.folder / "bin" / "compileboard"), *arguments]

    def python(self, *arguments: str) -> list[str]:
        """Return the command line of its Python."""
        return [str(self.folder / "bin" / "python"), *arguments]

    def output(self, command: list[str], home: Path, cwd: Path, *, code: int = 0) -> str:
        """Run a command from a folder, with a store of its own; return what it prints."""
        link_cache(home, CACHE)
        return _done(command, home, cwd, code)


def environment(home: Path) -> dict[str, str]:
    """Return variables with which nothing of the repository is found."""
    return {**os.environ, "COMPILEBOARD_HOME": str(home), "PYTHONPATH": ""}


def names_in(wheel: Path) -> set[str]:
    """Return the files of a wheel."""
    return set(zipfile.ZipFile(wheel).namelist())


def _done(command: list[str], home: Path | None = None, cwd: Path | None = None, code: int = 0) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment(home) if home else None,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == code, f"{done.returncode}: {done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
