"""The project in a folder of its own, for tests that change it as a guide says, and see what it does then."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.homes import CACHE, link_cache
from tests.support.places import ROOT, TRACES

TOPS = ("core", "pages", "docs/make", "tests", "benchmarks")
LINKED = ("pages/static",)
LIMIT_S = 240


class Copy:
    """Its files are the project's, but for what a test puts into them."""

    def __init__(self, folder: Path, limit_s: float = LIMIT_S) -> None:
        self.folder, self.limit_s = folder, limit_s
        for top in TOPS:
            shutil.copytree(
                ROOT / top, folder / top, ignore=lambda at, names: _linked(Path(at), names), copy_function=_copied
            )
        shutil.copy(ROOT / "dashboard.py", folder)
        link_cache(folder / "home", CACHE)
        for name in LINKED:
            (folder / name).symlink_to(ROOT / name, target_is_directory=True)

    def write(self, name: str, text: str) -> None:
        """A new file."""
        path = self.folder / name
        assert not path.exists()
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def put(self, name: str, text: str, *, before: str) -> None:
        """Put something into a file, before what stands there once."""
        self.replace(name, before, text + before)

    def replace(self, name: str, old: str, new: str) -> None:
        """Put something into a file instead of what stands there once."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has no one place for it"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def add(self, name: str, text: str) -> None:
        """Put something at the end of a file."""
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{text}")

    def run(self, script: str) -> str:
        """Run a script there, with a home of its own; returns what it prints."""
        done = self._done("-c", script)
        assert done.returncode == 0, done.stderr or done.stdout
        return done.stdout

    def fails(self, script: str) -> str:
        """Run a script there that fails; returns what it prints."""
        done = self._done("-c", script)
        assert done.returncode != 0
        return done.stdout

    def module(self, *arguments: str) -> None:
        """Run a module there, such as pytest or the writer of the screens."""
        done = self._done("-m", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr

    def _done(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COMPILEBOARD_HOME": str(self.folder / "home")}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=self.limit_s,
            check=False,
        )


def _copied(source: str, target: str) -> None:
    """Copy a file; a recorded log, which no test changes, is only linked."""
    if Path(source).parent.parent == TRACES and not source.endswith(".md"):
        Path(target).symlink_to(source)
        return
    shutil.copy2(source, target)


def _linked(folder: Path, names: list[str]) -> set[str]:
    return {name for name in names if (folder / name).relative_to(ROOT).as_posix() in LINKED}
