"""Build of the package: one import package `compileboard`, of `core/`, `pages/` and `dashboard.py`.

An environment must get no top-level `core` or `pages`, since users have folders of these names. So the build copies
both below `compileboard`, and rewrites what names them: the imports, and commands in texts. Names that are resolved at
run time come from `own_module` in `core/base/machine.py`. All else about the package is in `pyproject.toml`.
"""

from __future__ import annotations

import ast
import io
import re
import shutil
import tokenize
from collections.abc import Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PACKAGE = "compileboard"
OURS = ("core", "pages")
# Files with a place of their own below the package.
PLACED = {
    "core/library/face.py": "__init__.py",
    "core/library/plugin.py": "plugin.py",
    "core/__main__.py": "__main__.py",
    "dashboard.py": "dashboard.py",
    ".streamlit/config.toml": ".streamlit/config.toml",
    "docs/skill/SKILL.md": "docs/skill/SKILL.md",
}
# What only serves the making of the bundle, type checks and fuzzing.
LEFT_OUT = re.compile(r"\.(ts|lock|pyc)$|/deno\.json$|^core/accelerator/runtime/fuzz/")
# Commands and imports in texts, and what they are in an installed package.
TEXTS = (
    (re.compile(r"\bpython -m (core)\.(?=\w)"), f"python -m {PACKAGE}.core."),
    (re.compile(r"\bpython -m core\b"), f"python -m {PACKAGE}"),
    (re.compile(r"\bstreamlit run dashboard\.py\b"), f"python -m {PACKAGE} dashboard"),
    (re.compile(r"\bfrom core import\b"), f"from {PACKAGE} import"),
)
IN_TEXTS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


class BuildError(Exception):
    """Error for code that the build cannot rewrite."""


def files() -> dict[str, str]:
    """Return the files of the package by their places below it, relative to the repository."""
    below = (path for folder in OURS for path in sorted((ROOT / folder).rglob("*")) if path.is_file())
    names = (path.relative_to(ROOT).as_posix() for path in below)
    taken = [name for name in names if not LEFT_OUT.search(name)]
    placed = {target: source for source, target in PLACED.items()}
    return placed | {name: name for name in taken if name not in PLACED or name == "core/__main__.py"}


def rewritten(source: str) -> str:
    """Return a module as it is in the package; raises BuildError for an import that binds `core` or `pages`."""
    lines = source.encode().splitlines(keepends=True)
    for line, column in sorted(_imports(source), reverse=True):
        lines[line - 1] = lines[line - 1][:column] + f"{PACKAGE}.".encode() + lines[line - 1][column:]
    return _with_commands(b"".join(lines).decode())


def _imports(source: str) -> Iterator[tuple[int, int]]:
    """Yield the line and the column, in bytes, of each name of a module of ours in an import."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and _is_ours(node.module or ""):
            yield node.lineno, node.col_offset + len("from ")
        elif isinstance(node, ast.Import):
            for alias in filter(lambda alias: _is_ours(alias.name), node.names):
                if alias.asname is None:
                    raise BuildError(f"line {alias.lineno}: `import {alias.name}` needs `as`, since the build moves it")
                yield alias.lineno, alias.col_offset


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in OURS


def _with_commands(source: str) -> str:
    """Return a module with the commands in its texts as one types them where the package is installed."""
    lines = source.splitlines(keepends=True)
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type in IN_TEXTS]
    for token in reversed(tokens):
        (first, start), (last, end) = token.start, token.end
        text = "".join([*lines[first - 1 : last - 1], lines[last - 1][:end]])[start:]
        for pattern, new in TEXTS:
            text = pattern.sub(new, text)
        lines[first - 1 : last] = [lines[first - 1][:start] + text + lines[last - 1][end:]]
    return "".join(lines)


class BuildPackage(build_py):
    """The step of setuptools that copies modules, with ours moved and rewritten."""

    def run(self) -> None:
        """Write the package; what an earlier build left there is removed."""
        if self.editable_mode:
            raise BuildError("an editable install isn't possible, since the package is rewritten: use the repository")
        target = Path(self.build_lib) / PACKAGE
        shutil.rmtree(target, ignore_errors=True)
        for name, source in files().items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if source.endswith(".py"):
                (target / name).write_text(rewritten((ROOT / source).read_text("utf-8")), "utf-8")
            else:
                shutil.copyfile(ROOT / source, target / name)

    def get_source_files(self) -> list[str]:
        """Return what a source distribution needs to build the package."""
        return [*files().values(), "setup.py", "pyproject.toml"]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:  # noqa: ARG002
        """Return the files that are written."""
        return [str(Path(self.build_lib) / PACKAGE / name) for name in files()]


if __name__ == "__main__":
    setup(packages=[PACKAGE], package_dir={PACKAGE: "."}, cmdclass={"build_py": BuildPackage})
