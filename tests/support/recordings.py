"""Files of recordings, as the gallery ships them."""

import lzma
from collections.abc import Iterable
from pathlib import Path

import msgspec

from core import Recording


def write_recording(folder: Path, recording: Recording, log: Iterable[bytes]) -> Path:
    """Store a recording with its log; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{recording.name}.xz"
    with lzma.open(path, "wb", preset=9 | lzma.PRESET_EXTREME) as file:
        file.write(msgspec.json.encode(recording) + b"\n")
        file.writelines(log)
    return path
