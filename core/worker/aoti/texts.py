"""Texts of a package as they are, in the log; and the files that stand beside the package, for those who build it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from torch._logging import trace_structured

from core.report import PackagePart
from core.runs.packages import EXPECTED, INPUTS, PACKAGE
from core.worker.aoti.archive import ArchiveText
from core.worker.aoti.build import CMAKE, NAME, SOURCE

README = "README.md"
MOST_TEXT_CHARS = 4_000_000
WORDS = f"""# A package of AOTInductor, run without Python

`{{package}}` was made by `torch._inductor.aoti_compile_and_package` with torch {{torch}} for {{device}}. Build the
program that runs it, and run it:

    cmake -B build -DCMAKE_PREFIX_PATH="$(python -c 'import torch; print(torch.utils.cmake_prefix_path)')"
    cmake --build build
    ./build/{NAME} {{package}} {INPUTS} --expect {EXPECTED} --bench 100{{more}}

`{INPUTS}` holds the inputs of a call and `{EXPECTED}` what the model returned in Python; the first lines of `main.cpp`
say how. `--out FILE` writes what the package returns. With `AOTI_RUNTIME_CHECK_INPUTS=1` in the environment the package
checks the sizes of what it is given.
"""


def emit_text(part: PackagePart, title: str, language: str, text: str) -> None:
    """Write a text into the log; one that is too long is left out."""
    if len(text) <= MOST_TEXT_CHARS:
        trace_structured(
            "artifact",
            metadata_fn=lambda: {
                "name": "aoti_text",
                "encoding": "string",
                "part": part,
                "title": title,
                "language": language,
            },
            payload_fn=lambda: text,
            suppress_context=True,
            expect_trace_id=False,
        )


def emit_texts(texts: Iterable[ArchiveText]) -> None:
    """Emit the texts of a package's files."""
    for text in texts:
        emit_text("file", text.name, text.language, text.text)


def write_sources(directory: Path, torch: str, device: str) -> None:
    """The program's sources and what to do with them, beside the package and in the log."""
    for path, language in ((SOURCE, "cpp"), (CMAKE, "cmake")):
        shutil.copyfile(path, directory / path.name)
        emit_text("runner", path.name, language, path.read_text(encoding="utf-8"))
    more = "" if device == "cpu" else f" --device {device}"
    words = WORDS.format(package=PACKAGE, torch=torch, device=device, more=more)
    (directory / README).write_text(words, encoding="utf-8")
    emit_text("runner", README, "markdown", words)
