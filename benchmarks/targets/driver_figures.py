"""python -m benchmarks.targets.driver_figures KERNELS.json: print the driver's figures of GPU kernels.

The file maps names to sources of Triton kernels in Inductor's form. Each config is loaded on the GPU. The
output is JSON: registers and local bytes of each config, by the driver and by the tools of cross-compilation.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def main() -> int:
    """Read the file, load the kernels, and print the figures."""
    stdout = os.dup(1)
    os.dup2(2, 1)
    os.environ["TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER"] = "0"
    os.environ["TORCHINDUCTOR_USE_STATIC_TRITON_LAUNCHER"] = "0"
    sources: dict[str, str] = json.loads(Path(sys.argv[1]).read_text())
    rows = [row for name, text in sources.items() for row in figures(name, text)]
    with os.fdopen(stdout, "w") as output:
        json.dump(rows, output)
    return 0


def figures(name: str, text: str) -> list[dict[str, Any]]:
    """Return the figures of every config of one kernel."""
    from torch._inductor.codecache import PyCodeCache

    from core.worker.cross_compilation.kernels import resources
    from core.worker.triton import compile_config

    module = PyCodeCache.load(text)
    autotuner: Any = next(
        value for value in vars(module).values() if hasattr(value, "configs") and hasattr(value, "inductor_meta")
    )
    rows = []
    for config in autotuner.configs:
        binary = compile_config(autotuner, config)
        binary._init_handles()
        used = resources(binary)
        driver, tools = [binary.n_regs, 4 * binary.n_spills], [used.registers, used.local_bytes]
        rows.append({"name": name, "config": str(config), "driver": driver, "tools": tools})
    return rows


if __name__ == "__main__":
    sys.exit(main())
