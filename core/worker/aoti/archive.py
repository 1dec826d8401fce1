"""Reader of a `.pt2` package: a zip archive with untrusted file names, so none of its files is extracted."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from core.base.decoder import decoded
from core.base.errors import DecodeError, ProgramError
from core.report import PackagedFile, PackagedKind

MOST_FILES = 2_000
MOST_TEXT_BYTES = 2_000_000
MOST_TEXTS_BYTES = 16_000_000
MOST_NAME_CHARS = 400
MOST_METADATA = 200
MOST_VALUE_CHARS = 2_000
LANGUAGES = {".cpp": "cpp", ".h": "cpp", ".py": "python", ".json": "json", ".s": "asm", ".S": "asm", ".txt": "text"}
KINDS: dict[str, PackagedKind] = {
    ".wrapper.cpp": "wrapper",
    ".kernel.cpp": "kernels",
    ".cpp": "wrapper",
    ".so": "library",
    ".cubin": "binary",
    ".hsaco": "binary",
    ".spv": "binary",
    ".o": "object",
    ".S": "object",
    ".bin": "weights",
    ".json": "metadata",
}
# Errors that `zipfile` raises for a file that is damaged or not an archive.
DAMAGED = (OSError, zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError)
# Files that torch writes about the archive itself.
OF_THE_ARCHIVE = ("archive_format", "archive_version", "byteorder", "version", "serialization_id")


@dataclass(frozen=True, slots=True)
class ArchiveText:
    """A text in a package."""

    name: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Archive:
    """Contents of a package: its files, the number of further files, texts, and metadata."""

    files: tuple[PackagedFile, ...]
    left_out: int = 0
    texts: tuple[ArchiveText, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)


def open_archive(path: Path) -> Archive:
    """Return the contents of a package; raises ProgramError if the file is not a package."""
    try:
        with zipfile.ZipFile(path) as package:
            entries = [info for info in package.infolist() if not info.is_dir()]
            texts = tuple(_texts(package, entries[:MOST_FILES]))
    except DAMAGED as error:
        raise ProgramError(f"{path.name} is no package: {error}") from None
    files = tuple(PackagedFile(_name(info), kind_of(_name(info)), info.file_size, info.CRC) for info in entries)
    return Archive(files[:MOST_FILES], max(0, len(entries) - MOST_FILES), texts, _metadata(texts))


def kind_of(name: str) -> PackagedKind:
    """Return the kind of a file in a package, by its name."""
    last = PurePosixPath(name).name
    if last in OF_THE_ARCHIVE:
        return "metadata"
    if last.startswith(("weight_", "weights_", "tensor_")):
        return "weights"
    return next((kind for ending, kind in KINDS.items() if last.endswith(ending)), "other")


def _name(info: zipfile.ZipInfo) -> str:
    return info.filename[:MOST_NAME_CHARS]


def _texts(package: zipfile.ZipFile, files: list[zipfile.ZipInfo]) -> Iterator[ArchiveText]:
    """Yield the package's texts in order, up to a total size.

    A text that is too large is left out, not cut.
    """
    left = MOST_TEXTS_BYTES
    for info in files:
        name = _name(info)
        language = LANGUAGES.get(PurePosixPath(name).suffix, "text" if kind_of(name) == "metadata" else "")
        most = min(left, MOST_TEXT_BYTES)
        if not language or info.file_size > most:
            continue
        with package.open(info) as file:
            data = file.read(most + 1)
        if len(data) <= most:
            left -= len(data)
            yield ArchiveText(name, language, data.decode("utf-8", "replace"))


def _metadata(texts: tuple[ArchiveText, ...]) -> dict[str, str]:
    """Return the entries that AOTInductor wrote into files whose names end with `metadata.json`, by key."""
    metadata: dict[str, str] = {}
    for text in texts:
        if text.name.endswith("metadata.json"):
            metadata.update(_pairs(text.text))
    return dict(list(metadata.items())[:MOST_METADATA])


def _pairs(text: str) -> dict[str, str]:
    try:
        data = decoded(text)
    except DecodeError:
        return {}
    pairs = data.items() if isinstance(data, Mapping) else ()
    return {str(name)[:MOST_NAME_CHARS]: str(value)[:MOST_VALUE_CHARS] for name, value in pairs}
