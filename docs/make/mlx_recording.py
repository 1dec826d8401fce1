"""python -m docs.make.mlx_recording: record torch and MLX side by side, for environments without MLX.

It needs `make extra EXTRA=neighbours`.
"""

from __future__ import annotations

import datetime
import platform
from importlib.metadata import version

import msgspec

from core.views.neighbours import RECORDING, MlxRecording
from core.worker.environment import device_name
from core.worker.neighbours.stage import ported_functions


def recording() -> MlxRecording:
    """Return the recording of this machine, today; without times."""
    return MlxRecording(
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        machine=f"{device_name('cpu')}, {platform.system()}",
        torch=version("torch"),
        mlx=version("mlx"),
        functions=ported_functions(measure=False),
    )


if __name__ == "__main__":
    RECORDING.write_bytes(msgspec.json.format(msgspec.json.encode(recording()), indent=1) + b"\n")
