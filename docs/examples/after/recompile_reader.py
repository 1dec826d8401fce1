"""The same training loop with `compileboard.record()`; the run also has graphs, guards, kernels and times."""

import compileboard
import torch
from denoiser import RESOLUTIONS, Denoiser, at


def main() -> None:
    """Train at three resolutions, and print what was compiled again."""
    model = torch.compile(Denoiser(), dynamic=False)
    with compileboard.record("resolutions") as run:
        for step, size in enumerate(RESOLUTIONS):
            run.mark(step=step)
            model(at(size)).sum().backward()
    for recompile in run.recompiles:
        found = run.report.compilation(recompile.compilation)
        print(f"{', '.join(found.user_contexts)}: {found.frame}: {recompile.reason}")


if __name__ == "__main__":
    main()
